#include "core/instance.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ascendc/core_abi.h"
#include "base/config.h"
#include "base/log.h"
#include "base/trace.h"
#include "core/attributes.h"
#include "core/current.h"
#include "core/sync.h"
#include "os/cpu.h"
#include "os/identity.h"
#include "os/shared_memory.h"
#include "os/wait.h"

namespace symm {
namespace {

uint64_t milliseconds(double seconds) { return static_cast<uint64_t>(seconds * 1000); }

symm_bootstrap_config bootstrap_config(const InstanceOptions& options) {
  symm_bootstrap_config config{};
  config.size = sizeof(config);
  config.mode = options.mode;
  config.pe = options.pe;
  config.n_pes = options.n_pes;
  config.address = options.address.empty() ? nullptr : options.address.c_str();
  config.comm_args = options.comm_args;
  config.connect_timeout_s = options.connect_timeout_s;
  config.operation_timeout_s = options.operation_timeout_s;
  config.listen_fd = options.listen_fd;
  config.instance = options.id;
  config.tls = options.tls;
  return config;
}

void describe_wait(const symm_wait* wait, char* text, size_t size) {
  static_cast<const Instance*>(wait->domain->owner)->describe(*wait, text, size);
}

void explain_failure(const symm_wait_domain* domain, char* text, size_t size) {
  const std::string why = static_cast<Instance*>(domain->owner)->health().why();
  std::snprintf(text, size, "%s", why.c_str());
}

// Choices among words; a word that is none of them must not count as the default.
Status check_word(const char* name, std::initializer_list<const char*> words) {
  const std::string value = config::text(name);
  std::string all;
  for (const char* word : words) {
    if (value == word) return {};
    all += all.empty() ? word : std::string(", ") + word;
  }
  return SYMM_ERROR(kInvalidValue, "{}: '{}' is not one of {}", name, value, all);
}

}  // namespace

Result<std::unique_ptr<Instance>> Instance::open(const InstanceOptions& options) {
  Status environment = config::check_environment();
  if (environment.ok()) environment = check_word("SHMEM_OVERCOMMIT", {"refuse", "warn", "allow"});
  if (environment.ok()) environment = check_word("SHMEM_LEAK_REPORT", {"off", "warn", "error"});
  if (!environment.ok()) {
    refuse(options, environment);
    return environment;
  }
  std::unique_ptr<Instance> self(new Instance(options));
  SYMM_TRY(self->connect());
  SYMM_TRY(self->agree_on_attributes());
  SYMM_TRY(self->map_peers());
  Status local = self->make_routes();
  if (local.ok()) local = self->make_memory();
  if (local.ok()) local = self->open_engines();
  if (local.ok()) local = self->start_trace();
  if (local.ok()) self->publish();
  SYMM_TRY(self->control_->agree(std::move(local), "end of init"));
  self->status_ = ACLSHMEM_STATUS_IS_INITIALIZED;
  self->print_info();
  return self;
}

void Instance::refuse(const InstanceOptions& options, const Status& why) {
  if (options.bootstrap == nullptr) return;
  ControlPlane::refuse(options.bootstrap, bootstrap_config(options), why);
}

Status Instance::connect() {
  symm_bootstrap_config config = bootstrap_config(options_);
  config.on_event = &Instance::on_event;
  config.user = this;
  SYMM_ASSIGN(control_, ControlPlane::open(options_.bootstrap, config));
  pe_ = config.pe;
  n_pes_ = config.n_pes;
  log::set_pe(pe_);
  watch_exit_of(this);
  return {};
}

Status Instance::agree_on_attributes() {
  SYMM_ASSIGN(const std::vector<Attributes> all,
              control_->allgather(Attributes::of(options_, pe_, n_pes_), "comparing attributes"));
  SYMM_TRY(compare(all));
  salt_ = all[0].salt;
  return {};
}

Status Instance::map_peers() {
  PeerMemory::Request request;
  request.pe = pe_;
  request.n_pes = n_pes_;
  request.heap_bytes = options_.heap_bytes + ACLSHMEM_EXTRA_SIZE;
  request.control_bytes = kControlBytes;
  request.salt = salt_;
  request.timeout_s = options_.operation_timeout_s;
  request.check = [this] { return health_.check(); };
  SYMM_ASSIGN(memory_, PeerMemory::open(*control_, request));
  status_ = ACLSHMEM_STATUS_SHM_CREATED;
  return {};
}

Status Instance::make_routes() {
  heap_base_ = memory_->view(pe_).heap;
  heap_limit_ = memory_->layout().heap_bytes - kInternalBytes;
  routes_.resize(static_cast<size_t>(n_pes_));
  uint8_t engines = 0;
  if ((options_.engines & ACLSHMEM_DATA_OP_MTE) != 0) engines |= ACLSHMEM_TRANSPORT_MTE;
  if ((options_.engines & ACLSHMEM_DATA_OP_SDMA) != 0) engines |= ACLSHMEM_TRANSPORT_SDMA;
  if ((options_.engines & ACLSHMEM_DATA_OP_ROCE) != 0) engines |= ACLSHMEM_TRANSPORT_ROCE;
  if ((options_.engines & ACLSHMEM_DATA_OP_UDMA) != 0) engines |= ACLSHMEM_TRANSPORT_UDMA;
  for (int pe = 0; pe < n_pes_; ++pe) {
    const PeerMemory::View& view = memory_->view(pe);
    if (view.heap == nullptr) {
      return SYMM_ERROR(kNotSupported,
                        "PE {} runs on another host than PE {} and no transport between hosts is "
                        "available",
                        pe, pe_);
    }
    Route& route = routes_[static_cast<size_t>(pe)];
    route.heap = view.heap;
    route.control = control_page(view.control);
    route.sync = team_syncs(view.control);
    route.engines = engines;
    route.same_process = view.same_process;
  }
  // A PE always reaches itself by load and store.
  routes_[static_cast<size_t>(pe_)].engines |= ACLSHMEM_TRANSPORT_MTE;
  choose_checks();
  // release: the plug-in's thread may look at the routes from now on
  mapped_.store(true, std::memory_order_release);
  return {};
}

void Instance::choose_checks() {
  check_level_ =
      options_.check >= 0 ? options_.check : static_cast<int>(config::integer("SHMEM_CHECK"));
  fast_ = {heap_base_, heap_limit_, heap_limit_ - FastPath::kFastBytes, routes_.data(),
           static_cast<uint32_t>(n_pes_)};
  if (check_level_ == 0) fast_.limit = fast_.last = UINT64_MAX;
  if (check_level_ == 2) fast_.n_pes = 0;
}

Status Instance::make_memory() {
  symm_control_page& page = *routes_[static_cast<size_t>(pe_)].control;
  page.pid = os::identity().pid;
  page.pe = pe_;
  if (config::flag("SHMEM_PREFAULT")) {
    const size_t huge = os::collapse_to_huge_pages(heap_base_, heap_bytes());
    SYMM_LOG(kInfo, "{} of {} bytes of the heap are in huge pages", huge, heap_bytes());
  }
  AgreementBarrier* barrier = this;
  heap_ = std::make_unique<SymmetricHeap>(heap_base_, heap_limit_, DEVICE_SIDE, barrier);
  spaces_ = std::make_unique<Spaces>(*this, barrier, salt_);
  epochs_.assign(kTeamSlots, 0);
  SYMM_TRY(teams_.open(*this));
  domain_.events = &page.events;
  domain_.failure = health_.word();
  domain_.may_spin = memory_->local_pes() <= os::usable_processors() ? 1 : 0;
  domain_.report_after_ms =
      static_cast<uint32_t>(milliseconds(config::seconds("SHMEM_WAIT_REPORT")));
  domain_.timeout_ms = static_cast<uint32_t>(milliseconds(config::seconds("SHMEM_WAIT_TIMEOUT")));
  domain_.pe = pe_;
  domain_.describe = describe_wait;
  domain_.why = explain_failure;
  domain_.owner = this;
  health_.set_events(&page.events);
  symm_rt_set_local_pes(memory_->local_pes());
  return {};
}

// RDMA and UDMA are there when the program asked for them: calls that need a missing one end with
// its name. SDMA reaches every PE of the host unasked, like MTE; asking for it makes the generic
// calls choose it.
Status Instance::open_engines() {
  auto open = [&](uint32_t kind, int queues) {
    return dma::Engine::open(dma::EngineOptions::from_config(kind, queues), &domain_);
  };
  SYMM_ASSIGN(sdma_, open(ACLSHMEM_TRANSPORT_SDMA, SYMM_SDMA_CHANNELS));
  if ((options_.engines & ACLSHMEM_DATA_OP_ROCE) != 0) {
    SYMM_ASSIGN(rdma_, open(ACLSHMEM_TRANSPORT_ROCE, n_pes_));
  }
  if ((options_.engines & ACLSHMEM_DATA_OP_UDMA) != 0) {
    SYMM_ASSIGN(udma_, open(ACLSHMEM_TRANSPORT_UDMA, n_pes_));
  }
  return {};
}

Status Instance::start_trace() {
  SYMM_TRY(trace::start(pe_, options_.id == 0));
  traced_ = true;
  return {};
}

void Instance::publish() {
  stream_.open(pe_);
  const auto shared = [](const std::unique_ptr<dma::Engine>& engine) {
    return engine != nullptr ? engine->shared() : nullptr;
  };
  device_.fill(*this, shared(rdma_), shared(sdma_), shared(udma_));
  device_.set_notifies(stream_.notifies());
}

void Instance::print_info() {
  if (pe_ != 0 || !config::flag("SHMEM_INFO")) return;
  std::string engines = "MTE";
  const uint8_t bits = route(n_pes_ - 1).engines;
  if ((bits & ACLSHMEM_TRANSPORT_ROCE) != 0) engines += ", ROCE";
  if ((bits & ACLSHMEM_TRANSPORT_SDMA) != 0) engines += ", SDMA";
  if ((bits & ACLSHMEM_TRANSPORT_UDMA) != 0) engines += ", UDMA";
  std::fprintf(stderr,
               "[shmem info] instance %llu: %d PEs, %d on this host; %s; data: shared "
               "memory to %d PEs, engines %s; heap %llu bytes per PE\n",
               static_cast<unsigned long long>(options_.id), n_pes_, memory_->local_pes(),
               control_->info().c_str(), memory_->local_pes(), engines.c_str(),
               static_cast<unsigned long long>(options_.heap_bytes));
}

void Instance::on_event(void* user, int event, int pe, const char* text) {
  auto* self = static_cast<Instance*>(user);
  switch (event) {
    case SYMM_EVENT_PEER_LOST:
    case SYMM_EVENT_STORE_LOST:
      // The one that ended may have been told the end of the job before this PE was.
      if (auto status = self->announced_exit()) return self->end_job(*status);
      self->health_.lose(Code::kPeerLost, pe, text);
      break;
    case SYMM_EVENT_GLOBAL_EXIT:
      self->end_job(pe);
      break;
    default:
      SYMM_LOG(kWarn, "bootstrap event {} is unknown: {}", event, text);
  }
}

std::optional<int> Instance::announced_exit() const {
  // acquire: the routes are complete once the flag is set
  if (!mapped_.load(std::memory_order_acquire)) return std::nullopt;
  for (const Route& route : routes_) {
    if (__atomic_load_n(&route.control->departed, __ATOMIC_ACQUIRE) == SYMM_DEPARTED_GLOBAL_EXIT) {
      return route.control->exit_status;
    }
  }
  return std::nullopt;
}

void Instance::announce_exit(int status) {
  if (!mapped_.load(std::memory_order_acquire)) return;
  route(pe_).control->exit_status = status;
  depart(SYMM_DEPARTED_GLOBAL_EXIT);
}

void Instance::end_job(int status) {
  announce_exit(status);
  if (options_.on_global_exit != nullptr) {
    options_.on_global_exit(status);
  } else {
    end_process(status);
  }
}

void Instance::end_process(int status) const {
  std::fflush(nullptr);
  if (options_.before_exit != nullptr) options_.before_exit(status);
  std::_Exit(status);
}

}  // namespace symm
