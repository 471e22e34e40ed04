#include "aclgraph_signal_kernel.h"

#include <kernel_operator.h>
#include <shmem.h>

namespace {

constexpr uint32_t kSliceBytes = kElementsPerPe * sizeof(int32_t);
constexpr uint32_t kRdmaScratchBytes = 128;

}  // namespace

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void add_kernel(GM_ADDR out,
                                                                               GM_ADDR a,
                                                                               GM_ADDR b) {
  AscendC::TPipe pipe;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> a_queue;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> b_queue;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> out_queue;
  pipe.InitBuffer(a_queue, 1, kSliceBytes);
  pipe.InitBuffer(b_queue, 1, kSliceBytes);
  pipe.InitBuffer(out_queue, 1, kSliceBytes);

  const uint64_t offset = AscendC::GetBlockIdx() * kElementsPerPe;
  AscendC::GlobalTensor<int32_t> a_global;
  AscendC::GlobalTensor<int32_t> b_global;
  AscendC::GlobalTensor<int32_t> out_global;
  a_global.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(a) + offset, kElementsPerPe);
  b_global.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(b) + offset, kElementsPerPe);
  out_global.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(out) + offset, kElementsPerPe);

  AscendC::LocalTensor<int32_t> a_in = a_queue.AllocTensor<int32_t>();
  AscendC::LocalTensor<int32_t> b_in = b_queue.AllocTensor<int32_t>();
  AscendC::DataCopy(a_in, a_global, kElementsPerPe);
  AscendC::DataCopy(b_in, b_global, kElementsPerPe);
  a_queue.EnQue(a_in);
  b_queue.EnQue(b_in);

  AscendC::LocalTensor<int32_t> a_local = a_queue.DeQue<int32_t>();
  AscendC::LocalTensor<int32_t> b_local = b_queue.DeQue<int32_t>();
  AscendC::LocalTensor<int32_t> sum = out_queue.AllocTensor<int32_t>();
  AscendC::Add(sum, a_local, b_local, static_cast<int32_t>(kElementsPerPe));
  out_queue.EnQue(sum);
  a_queue.FreeTensor(a_local);
  b_queue.FreeTensor(b_local);

  AscendC::LocalTensor<int32_t> result = out_queue.DeQue<int32_t>();
  AscendC::DataCopy(out_global, result, kElementsPerPe);
  out_queue.FreeTensor(result);
}

// Synchronises by signals alone. Both signals carry the number of the allgather, which every PE
// counts in its own device memory, so a replay never sees the signals of the replay before. A PE
// enters epoch e + 1 only when it has every slice of epoch e, and a slice is sent only after its
// receiver was seen ready: so nobody overwrites a signal that is still waited for, equality is the
// right comparison, and the counter may wrap around.
extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void allgather_kernel(
    GM_ADDR gathered, GM_ADDR own, GM_ADDR ready, GM_ADDR arrived, GM_ADDR epoch_counter) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> scratch_buffer;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> own_queue;
  pipe.InitBuffer(scratch_buffer, kRdmaScratchBytes);
  pipe.InitBuffer(own_queue, 1, kSliceBytes);
  AscendC::LocalTensor<int32_t> scratch = scratch_buffer.Get<int32_t>();
  auto scratch_address = reinterpret_cast<__ubuf__ int32_t*>(scratch.GetPhyAddr());

  const int my_pe = aclshmem_my_pe();
  const int n_pes = aclshmem_n_pes();
  auto ready_of = reinterpret_cast<__gm__ int32_t*>(ready);
  auto arrived_of = reinterpret_cast<__gm__ int32_t*>(arrived);
  AscendC::GlobalTensor<int32_t> source;
  AscendC::GlobalTensor<int32_t> target;
  source.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(own), kElementsPerPe);
  target.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(gathered) + my_pe * kElementsPerPe,
                         kElementsPerPe);

  AscendC::GlobalTensor<uint32_t> counter;
  counter.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t*>(epoch_counter), 1);
  counter.SetValue(0, counter.GetValue(0) + 1);
  const int32_t epoch = static_cast<int32_t>(counter.GetValue(0));

  for (int pe = 0; pe < n_pes; ++pe) {
    if (pe != my_pe) aclshmemx_signal_op(ready_of + my_pe, epoch, ACLSHMEM_SIGNAL_SET, pe);
  }
  for (int pe = 0; pe < n_pes; ++pe) {
    if (pe == my_pe) continue;
    aclshmem_signal_wait_until(ready_of + pe, ACLSHMEM_CMP_EQ, epoch);
    aclshmemx_roce_put_nbi(target, source, scratch, kElementsPerPe, pe, EVENT_ID0);
  }
  // The own slice moves while the puts are on their way.
  AscendC::LocalTensor<int32_t> slice = own_queue.AllocTensor<int32_t>();
  AscendC::DataCopy(slice, source, kElementsPerPe);
  own_queue.EnQue(slice);
  slice = own_queue.DeQue<int32_t>();
  AscendC::DataCopy(target, slice, kElementsPerPe);
  own_queue.FreeTensor(slice);

  for (int pe = 0; pe < n_pes; ++pe) {
    if (pe == my_pe) continue;
    // The signal must not overtake the data.
    aclshmemx_roce_quiet(static_cast<uint32_t>(pe), scratch_address, EVENT_ID0);
    aclshmemx_signal_op(arrived_of + my_pe, epoch, ACLSHMEM_SIGNAL_SET, pe);
  }
  for (int pe = 0; pe < n_pes; ++pe) {
    if (pe != my_pe) aclshmem_signal_wait_until(arrived_of + pe, ACLSHMEM_CMP_EQ, epoch);
  }
}

void launch_add(uint32_t blocks, void* stream, uint8_t* out, uint8_t* a, uint8_t* b) {
  add_kernel<<<blocks, nullptr, stream>>>(out, a, b);
}

void launch_allgather(void* stream, uint8_t* gathered, uint8_t* own,
                      const AllgatherSignals& signals) {
  allgather_kernel<<<1, nullptr, stream>>>(gathered, own, signals.ready, signals.arrived,
                                           signals.epoch);
}
