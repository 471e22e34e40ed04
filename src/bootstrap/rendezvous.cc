#include "bootstrap/rendezvous.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "bootstrap/edge.h"

namespace symm::bootstrap {
namespace {

// The public header that defines these belongs to the layers above.
constexpr uint32_t kUniqueIdMode = 1U << 3;
constexpr size_t kUniqueIdBytes = 136;

// What a PE brings; only that of PE 0 is looked at.
struct Offer {
  int32_t code = 0;
  char text[252] = "";
  uint8_t id[kUniqueIdBytes] = {};
};

Offer make_offer(const symm_bootstrap_table& store, const symm_bootstrap_config& config) {
  Offer offer;
  if (config.pe != 0) return offer;
  if (store.unique_id == nullptr) {
    offer.code = static_cast<int32_t>(Code::kInternal);
    copy_text("this bootstrap makes no unique ids", offer.text, sizeof(offer.text));
    return offer;
  }
  offer.code = store.unique_id(offer.id, &config.tls, offer.text, sizeof(offer.text));
  return offer;
}

}  // namespace

Result<void*> open_store_through(const Exchange& exchange, const symm_bootstrap_table& store,
                                 const symm_bootstrap_config& config) {
  Offer mine = make_offer(store, config);
  std::vector<Offer> all(static_cast<size_t>(config.n_pes));
  SYMM_TRY(exchange(&mine, sizeof(mine), all.data()));
  Offer& first = all.front();
  if (first.code != 0) {
    first.text[sizeof(first.text) - 1] = '\0';
    return Status(static_cast<Code>(first.code),
                  fmt::format("PE 0 cannot make a unique id: {}", first.text), __FILE__, __LINE__);
  }
  symm_bootstrap_config next = config;
  next.mode = kUniqueIdMode;
  next.address = nullptr;
  next.comm_args = first.id;
  next.listen_fd = -1;
  char error[512] = "";
  void* handle = nullptr;
  int code = store.open(&next, &handle, error, sizeof(error));
  if (code != 0) {
    return Status(static_cast<Code>(code), fmt::format("{}: {}", store.name, error), __FILE__,
                  __LINE__);
  }
  return handle;
}

}  // namespace symm::bootstrap
