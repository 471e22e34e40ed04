#include "bootstrap/rendezvous.h"

#include <algorithm>
#include <vector>

#include "bootstrap/edge.h"

namespace symm::bootstrap {
namespace {

// What a PE brings; only that of PE 0 is looked at.
struct Offer {
  int32_t code = 0;
  char text[252] = "";
  UniqueIdBytes id = {};
};

Offer make_offer(const symm_bootstrap_table& store, const symm_tls_options& tls) {
  Offer offer;
  if (store.unique_id == nullptr) {
    offer.code = static_cast<int32_t>(Code::kInternal);
    copy_text("this bootstrap makes no unique ids", offer.text, sizeof(offer.text));
    return offer;
  }
  offer.code = store.unique_id(offer.id.data(), &tls, offer.text, sizeof(offer.text));
  return offer;
}

}  // namespace

Result<UniqueIdBytes> share_unique_id(const Exchange& exchange, const symm_bootstrap_table& store,
                                      const symm_tls_options& tls, int pe, int n_pes) {
  Offer mine = pe == 0 ? make_offer(store, tls) : Offer{};
  std::vector<Offer> all(static_cast<size_t>(n_pes));
  SYMM_TRY(exchange(&mine, sizeof(mine), all.data()));
  Offer& first = all.front();
  if (first.code == 0) return first.id;
  first.text[sizeof(first.text) - 1] = '\0';
  return Status(static_cast<Code>(first.code),
                fmt::format("PE 0 cannot make a unique id: {}", first.text), __FILE__, __LINE__);
}

Result<void*> open_store_through(const Exchange& exchange, const symm_bootstrap_table& store,
                                 const symm_bootstrap_config& config) {
  SYMM_ASSIGN(UniqueIdBytes id,
              share_unique_id(exchange, store, config.tls, config.pe, config.n_pes));
  symm_bootstrap_config next = config;
  next.mode = kUniqueIdMode;
  next.address = nullptr;
  next.comm_args = id.data();
  next.listen_fd = -1;
  char error[512] = "";
  void* handle = nullptr;
  int code = store.open(&next, &handle, error, sizeof(error));
  if (code == 0) return handle;
  return Status(static_cast<Code>(code), fmt::format("{}: {}", store.name, error), __FILE__,
                __LINE__);
}

}  // namespace symm::bootstrap
