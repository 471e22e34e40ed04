#include "rdma_aclgraph_kernel.h"

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

// Only writes to the peers, so it needs a barrier on both sides: the first tells that every PE has
// reached this allgather and its gathered[] may be overwritten, the second completes the puts and
// tells that every slice has arrived.
extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void allgather_kernel(
    GM_ADDR gathered, GM_ADDR own) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> scratch_buffer;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> own_queue;
  pipe.InitBuffer(scratch_buffer, kRdmaScratchBytes);
  pipe.InitBuffer(own_queue, 1, kSliceBytes);
  AscendC::LocalTensor<int32_t> scratch = scratch_buffer.Get<int32_t>();

  const int my_pe = aclshmem_my_pe();
  const int n_pes = aclshmem_n_pes();
  AscendC::GlobalTensor<int32_t> source;
  AscendC::GlobalTensor<int32_t> target;
  source.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(own), kElementsPerPe);
  target.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(gathered) + my_pe * kElementsPerPe,
                         kElementsPerPe);

  aclshmemx_roce_barrier_all();
  for (int pe = 0; pe < n_pes; ++pe) {
    if (pe != my_pe) {
      aclshmemx_roce_put_nbi(target, source, scratch, kElementsPerPe, pe, EVENT_ID0);
    }
  }
  // The own slice moves while the puts are on their way.
  AscendC::LocalTensor<int32_t> slice = own_queue.AllocTensor<int32_t>();
  AscendC::DataCopy(slice, source, kElementsPerPe);
  own_queue.EnQue(slice);
  slice = own_queue.DeQue<int32_t>();
  AscendC::DataCopy(target, slice, kElementsPerPe);
  own_queue.FreeTensor(slice);
  aclshmemx_roce_barrier_all();
}

void launch_add(uint32_t blocks, void* stream, uint8_t* out, uint8_t* a, uint8_t* b) {
  add_kernel<<<blocks, nullptr, stream>>>(out, a, b);
}

void launch_allgather(void* stream, uint8_t* gathered, uint8_t* own) {
  allgather_kernel<<<1, nullptr, stream>>>(gathered, own);
}
