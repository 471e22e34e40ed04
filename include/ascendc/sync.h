// Block numbers, flags, barriers and fences. Copies and vector operations of this device are done
// when their call returns, so the order between pipes needs no waiting; flags keep the compiler
// from moving accesses, and their pairing is checked when the kernel is compiled with SYMM_CHECKED.
#pragma once

#include "ascendc/tensor.h"

namespace symm::kernel {

inline void set_event(int event, int64_t id, const char* call) {
  compiler_barrier();
#ifdef SYMM_CHECKED
  if (id < 0 || id > 7) fail("%s: event id %lld is not in 0..7", call, static_cast<long long>(id));
  uint8_t& set = language(call).flags[event];
  if (set & (1u << id)) {
    fail("%s: flag %lld of event %d is set already and was not waited for", call,
         static_cast<long long>(id), event);
  }
  set = static_cast<uint8_t>(set | (1u << id));
#else
  (void)event, (void)id, (void)call;
#endif
}

inline void wait_event(int event, int64_t id, const char* call) {
  compiler_barrier();
#ifdef SYMM_CHECKED
  if (id < 0 || id > 7) fail("%s: event id %lld is not in 0..7", call, static_cast<long long>(id));
  uint8_t& set = language(call).flags[event];
  if (!(set & (1u << id))) {
    fail("%s: flag %lld of event %d was never set; the hardware would wait forever", call,
         static_cast<long long>(id), event);
  }
  set = static_cast<uint8_t>(set & ~(1u << id));
#else
  (void)event, (void)id, (void)call;
#endif
}

// The pairs of pipes share the table with HardEvent: HardEvent values are below 42, raw pairs are
// folded above it.
constexpr int pipe_pair(pipe_t source, pipe_t target) { return 42 + (source * 11 + target) % 22; }

}  // namespace symm::kernel

namespace AscendC {

// Number of this core: block * ratio + sub-block.
inline int64_t GetBlockIdx() {
  const symm_core* core = symm::kernel::core("GetBlockIdx");
  return core->block * core->ratio + core->sub_block;
}
// The first launch argument, whatever the ratio.
inline int64_t GetBlockNum() { return symm::kernel::core("GetBlockNum")->block_num; }
inline int64_t GetSubBlockIdx() { return symm::kernel::core("GetSubBlockIdx")->sub_block; }
// Vector cores per block.
inline int64_t GetSubBlockNum() { return symm::kernel::core("GetSubBlockNum")->ratio; }
inline int64_t GetTaskRation() { return symm::kernel::core("GetTaskRation")->ratio; }
inline int64_t GetTaskRatio() { return GetTaskRation(); }

template <HardEvent event>
inline void SetFlag(int64_t id) {
  symm::kernel::set_event(static_cast<int>(event), id, "SetFlag");
}
template <HardEvent event>
inline void WaitFlag(int64_t id) {
  symm::kernel::wait_event(static_cast<int>(event), id, "WaitFlag");
}

template <pipe_t pipe>
inline void PipeBarrier() {
  symm::kernel::compiler_barrier();
}

// Barrier over all vector cores of the launch, and a full memory fence. Every core must call it.
// Cube cores do not run here, so <false>, which also means them, is the same barrier.
template <bool vector_only = true>
inline void SyncAll() {
  symm::kernel::core("SyncAll");
  symm_rt_sync_all();
}
// The soft form brings its own work space; it is not needed here.
template <bool vector_only = true>
inline void SyncAll(const GlobalTensor<int32_t>&, const LocalTensor<int32_t>&, int32_t = 0) {
  SyncAll<vector_only>();
}

// Memory of this device is coherent: a fence, and a chance for the other cores in case the caller
// polls.
template <typename T, CacheLine, DcciDst = DcciDst::CACHELINE_ALL>
inline void DataCacheCleanAndInvalid(const GlobalTensor<T>&) {
  symm_rt_yield();
}
template <typename T, CacheLine, DcciDst = DcciDst::CACHELINE_ALL>
inline void DataCacheCleanAndInvalid(const LocalTensor<T>&) {
  symm_rt_yield();
}

template <MemDsbT = MemDsbT::ALL>
inline void DataSyncBarrier() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void SetSyncBaseAddr(uint64_t) {}

}  // namespace AscendC

inline void set_flag(pipe_t source, pipe_t target, int64_t id) {
  symm::kernel::set_event(symm::kernel::pipe_pair(source, target), id, "set_flag");
}
inline void wait_flag(pipe_t source, pipe_t target, int64_t id) {
  symm::kernel::wait_event(symm::kernel::pipe_pair(source, target), id, "wait_flag");
}
inline void pipe_barrier(pipe_t) { symm::kernel::compiler_barrier(); }
inline void dsb_all() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

inline int64_t get_block_idx() { return AscendC::GetBlockIdx(); }
inline int64_t get_block_num() { return AscendC::GetBlockNum(); }
inline int64_t get_subblockid() { return AscendC::GetSubBlockIdx(); }
inline int64_t get_subblockdim() { return AscendC::GetSubBlockNum(); }

// Ends the kernel with an error.
[[noreturn]] inline void trap() { symm::kernel::fail("trap() was called by the kernel"); }
