#include "transport/dma/engine.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "base/config.h"
#include "base/log.h"
#include "base/trace.h"
#include "host_device/shmem_common_types.h"
#include "os/wait.h"
#include "transport/dma/execute.h"

namespace symm::dma {
namespace {

// How long a worker sleeps when nobody rings. Only a safety net: every push rings the doorbell.
constexpr uint32_t kIdleUs = 100'000;
// When a helper holds the queue we wanted, look again after this time, in case it left before it
// saw the last push.
constexpr uint64_t kBusyNs = 50'000;

uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// A queue with what only its drainer touches.
struct Queue : symm_queue_pair {
  std::unique_ptr<symm_descriptor[]> storage;
  uint64_t end = 0;  // when the last paced descriptor left the queue
  uint64_t due = 0;  // when the next one completes; 0: not yet decided
  int trace_row = -1;
  uint64_t traced = 0;  // end of the last span
};

// The result of one look at a queue.
struct Drained {
  int count = 0;
  uint64_t again = 0;  // look again at this time; 0: the queue is empty
};

}  // namespace

struct Engine::Body {
  EngineOptions options;
  symm_engine shared{};
  std::unique_ptr<symm_queue_pair*[]> pairs;
  std::unique_ptr<uint64_t[]> ready;
  std::mutex mutex;  // guards queues and threads while they grow
  std::vector<std::unique_ptr<Queue>> queues;
  std::vector<std::thread> threads;
  std::atomic<bool> stopping{false};
  // End of the last transfer on the link that all queues share. relaxed: a pace, not a message.
  std::atomic<uint64_t> link_end{0};

  int words() const { return (options.n_queues + 63) / 64; }
  symm_queue_pair* connect(int index);
  Drained drain(Queue& queue);
  bool is_due(Queue& queue, const symm_descriptor& slot, uint64_t* again);
  void complete(Queue& queue, symm_descriptor& slot, uint64_t ticket);
  void trace_one(Queue& queue, const symm_descriptor& slot, uint64_t begin);
  void work();
  bool any_ready() const;
  void forget(Queue& queue, uint64_t ticket);
};

struct EngineAccess {
  static Engine::Body& body(symm_engine* engine) {
    return *static_cast<Engine::Body*>(engine->owner);
  }
};

EngineOptions EngineOptions::from_config(uint32_t kind, int n_queues) {
  EngineOptions options;
  options.kind = kind;
  options.n_queues = n_queues;
  options.depth = std::bit_ceil(static_cast<uint32_t>(config::integer("SHMEM_ENGINE_DEPTH")));
  options.workers = static_cast<uint32_t>(config::integer("SHMEM_ENGINE_WORKERS"));
  options.delay_us = static_cast<uint64_t>(config::integer("SHMEM_ENGINE_DELAY_US"));
  options.latency_us = static_cast<uint64_t>(config::integer("SHMEM_ENGINE_LATENCY_US"));
  options.bytes_per_s = config::size("SHMEM_ENGINE_BANDWIDTH");
  return options;
}

Engine::Engine(std::unique_ptr<Body> body) : body_(std::move(body)) {}

symm_engine* Engine::shared() { return &body_->shared; }

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options, symm_wait_domain* wait) {
  if (options.n_queues < 1)
    return SYMM_ERROR(kInvalidValue, "engine with {} queues", options.n_queues);
  if (!std::has_single_bit(options.depth) || options.depth < 2) {
    return SYMM_ERROR(kInvalidValue, "engine queue depth {} is no power of two above 1",
                      options.depth);
  }
  auto body = std::make_unique<Body>();
  body->options = std::move(options);
  const int n = body->options.n_queues;
  body->pairs = std::make_unique<symm_queue_pair*[]>(static_cast<size_t>(n));
  body->ready = std::make_unique<uint64_t[]>(static_cast<size_t>(body->words()));
  symm_engine& shared = body->shared;
  shared.pairs = body->pairs.get();
  shared.n_queues = n;
  shared.kind = body->options.kind;
  shared.ready = body->ready.get();
  shared.wait = wait;
  const EngineOptions& o = body->options;
  shared.paced = (o.delay_us != 0 || o.latency_us != 0 || o.bytes_per_s != 0) ? 1 : 0;
  shared.owner = body.get();
  return std::unique_ptr<Engine>(new Engine(std::move(body)));
}

Engine::~Engine() {
  body_->stopping.store(true, std::memory_order_release);  // pairs with the acquire in work()
  os::notify(body_->shared.doorbell);
  for (std::thread& thread : body_->threads) thread.join();
}

Status Engine::quiesce() {
  struct Target {
    symm_engine* engine;
    int index;
    uint64_t ticket;
  };
  for (int i = 0; i < body_->options.n_queues; ++i) {
    symm_queue_pair* pair = symm_engine_pair(&body_->shared, i);
    if (pair == nullptr) continue;
    // acquire: count everything whose push happened before this call
    Target target{&body_->shared, i, __atomic_load_n(&pair->head, __ATOMIC_ACQUIRE)};
    if (symm_engine_is_done(pair, target.ticket)) continue;
    symm_wait wait{};
    wait.poll = [](void* argument) -> int {
      auto* t = static_cast<Target*>(argument);
      symm_engine_help(t->engine, t->index);
      return symm_engine_is_done(symm_engine_pair(t->engine, t->index), t->ticket);
    };
    wait.argument = &target;
    wait.domain = body_->shared.wait;
    wait.call = "completion of queued transfers";
    wait.team = -1;
    wait.peer = body_->options.kind == ACLSHMEM_TRANSPORT_SDMA ? -1 : i;
    wait.wanted = static_cast<int64_t>(target.ticket);
    wait.compare = -1;
    wait.kind = SYMM_WAIT_KIND_QUEUE;
    SYMM_TRY(os::wait(wait));
  }
  return {};
}

symm_queue_pair* Engine::Body::connect(int index) {
  if (index < 0 || index >= options.n_queues) return nullptr;
  std::lock_guard lock(mutex);
  if (symm_queue_pair* existing = symm_engine_pair(&shared, index)) return existing;
  if (options.reachable && !options.reachable(index)) return nullptr;
  auto queue = std::unique_ptr<Queue>(new Queue{});
  queue->storage = std::make_unique<symm_descriptor[]>(options.depth);
  for (uint32_t i = 0; i < options.depth; ++i) queue->storage[i].turn = i;
  queue->slots = queue->storage.get();
  queue->mask = options.depth - 1;
  queue->index = index;
  while (threads.size() < options.workers) threads.emplace_back([this] { work(); });
  queues.push_back(std::move(queue));
  symm_queue_pair* pair = queues.back().get();
  // release: the queue's fields are visible to whoever finds the pointer
  __atomic_store_n(&pairs[index], pair, __ATOMIC_RELEASE);
  return pair;
}

// Decides when the descriptor at the front of a paced queue completes, once, and whether that time
// has come. Transfers of one queue follow each other; all queues share one link; the latency comes
// on top and overlaps.
bool Engine::Body::is_due(Queue& queue, const symm_descriptor& slot, uint64_t* again) {
  if (queue.due == 0) {
    uint64_t end = std::max(slot.posted, queue.end) + options.delay_us * 1000;
    const bool moves = slot.kind == SYMM_DESC_COPY;
    if (options.bytes_per_s != 0 && moves) {
      const auto takes = static_cast<uint64_t>(static_cast<double>(slot.bytes) * 1e9 /
                                               static_cast<double>(options.bytes_per_s));
      uint64_t link = link_end.load(std::memory_order_relaxed);
      uint64_t mine;
      do {
        mine = std::max(link, end) + takes;
      } while (!link_end.compare_exchange_weak(link, mine, std::memory_order_relaxed));
      end = mine;
    }
    queue.end = end;
    queue.due = end + options.latency_us * 1000;
  }
  if (now_ns() < queue.due) {
    *again = queue.due;
    return false;
  }
  queue.due = 0;
  return true;
}

// A paced descriptor shows from the time it was posted or the one before it was done.
void Engine::Body::trace_one(Queue& queue, const symm_descriptor& slot, uint64_t begin) {
  const bool channel = options.kind == ACLSHMEM_TRANSPORT_SDMA;
  if (queue.trace_row < 0) {
    const char* engine = options.kind == ACLSHMEM_TRANSPORT_ROCE ? "RDMA"
                         : channel                               ? "SDMA"
                                                                 : "UDMA";
    queue.trace_row =
        trace::row(fmt::format("{} {} {}", engine, channel ? "core" : "to PE", queue.index));
  }
  if (slot.posted != 0) begin = std::max(slot.posted, queue.traced);
  queue.traced = trace::now_ns();
  trace::Details details;
  if (!channel) details.peer = queue.index;
  if (slot.kind == SYMM_DESC_COPY) details.bytes = static_cast<int64_t>(slot.bytes);
  trace::add(queue.trace_row, "transfer", name_of(slot.kind), begin, queue.traced, details);
}

void Engine::Body::complete(Queue& queue, symm_descriptor& slot, uint64_t ticket) {
  const uint64_t begin = trace::on() ? trace::now_ns() : 0;
  const bool executed = execute(slot);
  if (begin != 0) [[unlikely]]
    trace_one(queue, slot, begin);
  if (!executed) {
    SYMM_LOG(kError, "engine {}: descriptor of kind {} and width {} cannot be executed",
             options.kind, slot.kind, slot.width);
  }
  symm_event_count* events = slot.events;
  // release: the slot is free for a producer of the next round, which reads turn with acquire
  __atomic_store_n(&slot.turn, ticket + options.depth, __ATOMIC_RELEASE);
  // release: a quiet that sees the count also sees what the descriptor wrote
  __atomic_store_n(&queue.done, ticket + 1, __ATOMIC_RELEASE);
  if (events != nullptr) os::notify(*events);
  if (shared.wait != nullptr && shared.wait->events != nullptr && shared.wait->events != events) {
    os::notify(*shared.wait->events);
  }
}

Drained Engine::Body::drain(Queue& queue) {
  Drained result;
  uint32_t idle = 0;
  // acquire: what the previous drainer did, and its private pacing fields
  if (!__atomic_compare_exchange_n(&queue.draining, &idle, 1, false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED)) {
    result.again = now_ns() + kBusyNs;
    return result;
  }
  // relaxed: only the drainer writes done, and the lock ordered us behind it
  uint64_t ticket = __atomic_load_n(&queue.done, __ATOMIC_RELAXED);
  for (;; ++ticket, ++result.count) {
    symm_descriptor& slot = queue.slots[ticket & queue.mask];
    // acquire: the producer's fields
    if (__atomic_load_n(&slot.turn, __ATOMIC_ACQUIRE) != ticket + 1) break;
    if (shared.paced != 0 && !is_due(queue, slot, &result.again)) break;
    complete(queue, slot, ticket);
  }
  // release: to the next drainer
  __atomic_store_n(&queue.draining, 0, __ATOMIC_RELEASE);
  return result;
}

void Engine::Body::forget(Queue& queue, uint64_t ticket) {
  uint32_t idle = 0;
  // acquire, release: as in drain(); the holder leaves after at most the filled slots
  while (!__atomic_compare_exchange_n(&queue.draining, &idle, 1, false, __ATOMIC_ACQUIRE,
                                      __ATOMIC_RELAXED)) {
    idle = 0;
    std::this_thread::yield();
  }
  symm_descriptor& slot = queue.slots[ticket & queue.mask];
  if (__atomic_load_n(&slot.turn, __ATOMIC_ACQUIRE) == ticket + 1) slot.result = nullptr;
  __atomic_store_n(&queue.draining, 0, __ATOMIC_RELEASE);
}

bool Engine::Body::any_ready() const {
  for (int i = 0; i < words(); ++i) {
    // seq_cst: looked at after registering as a sleeper, against the producer's "set bit, look for
    // sleepers"
    if (__atomic_load_n(&ready[i], __ATOMIC_SEQ_CST) != 0) return true;
  }
  return stopping.load(std::memory_order_seq_cst);
}

void Engine::Body::work() {
  struct Later {
    int index;
    uint64_t at;
  };
  std::vector<Later> later;
  os::Sleeper sleeper(&shared.doorbell);
  std::vector<int> look;
  while (!stopping.load(std::memory_order_acquire)) {
    look.clear();
    for (int word = 0; word < words(); ++word) {
      if (__atomic_load_n(&ready[word], __ATOMIC_RELAXED) == 0) continue;
      // acq_rel: clearing comes before our look at the slots, so a push that finds the bit still
      // set is seen by us and a later one sets it again
      uint64_t bits = __atomic_exchange_n(&ready[word], 0, __ATOMIC_ACQ_REL);
      for (; bits != 0; bits &= bits - 1) look.push_back(word * 64 + std::countr_zero(bits));
    }
    const uint64_t start = now_ns();
    std::erase_if(later, [&](const Later& l) {
      if (l.at > start) return false;
      look.push_back(l.index);
      return true;
    });
    for (int index : look) {
      auto* queue = static_cast<Queue*>(symm_engine_pair(&shared, index));
      const Drained drained = drain(*queue);
      if (drained.again == 0) continue;
      std::erase_if(later, [&](const Later& l) { return l.index == index; });
      later.push_back({index, drained.again});
    }
    if (!look.empty()) continue;
    uint64_t limit_us = kIdleUs;
    for (const Later& l : later) limit_us = std::min(limit_us, (l.at - start) / 1000 + 1);
    const uint32_t seen = sleeper.prepare();
    if (any_ready()) {
      sleeper.cancel();
    } else {
      sleeper.sleep(seen, static_cast<uint32_t>(limit_us));
    }
  }
}

}  // namespace symm::dma

extern "C" {

__attribute__((visibility("default"))) symm_queue_pair* symm_engine_connect(symm_engine* engine,
                                                                            int index) {
  try {
    return symm::dma::EngineAccess::body(engine).connect(index);
  } catch (const std::exception& error) {  // no memory or no thread
    SYMM_LOG(kError, "engine queue {} cannot be made: {}", index, error.what());
    return nullptr;
  }
}

__attribute__((visibility("default"))) int symm_engine_help(symm_engine* engine, int index) {
  auto* queue = static_cast<symm::dma::Queue*>(symm_engine_pair(engine, index));
  return queue == nullptr ? 0 : symm::dma::EngineAccess::body(engine).drain(*queue).count;
}

__attribute__((visibility("default"))) void symm_engine_forget(symm_engine* engine, int index,
                                                               uint64_t ticket) {
  auto* queue = static_cast<symm::dma::Queue*>(symm_engine_pair(engine, index));
  if (queue != nullptr) symm::dma::EngineAccess::body(engine).forget(*queue, ticket);
}
}
