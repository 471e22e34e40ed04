// A table of rows that is spread over the PEs, looked up by SIMT lanes: lane i fetches the row that
// request i names, from the PE that holds it. Then each core sends its rows to the next PE with all
// lanes together.
#include "../utils/demo.h"

namespace {

constexpr int32_t kRowsPerPe = 64;
constexpr int32_t kWidth = 16;      // floats of a row
constexpr int32_t kRequests = 500;  // not a multiple of the lanes: the last core has idle ones
constexpr uint32_t kBlocks = 3;
constexpr uint32_t kLanes = 32 * 2 * 4;

float value_of(int32_t row, int32_t column) { return static_cast<float>(row * 100 + column); }
int32_t request_of(int pe, int32_t i, int32_t rows) { return (i * 37 + pe * 11) % rows; }

}  // namespace

__simt_callee__ inline uint32_t lane_number() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// Row r is row r % kRowsPerPe of PE r / kRowsPerPe.
__simt_vf__ __launch_bounds__(kLanes) inline void fetch_rows(__gm__ float* found,
                                                             __gm__ float* table,
                                                             __gm__ int32_t* requests) {
  const int32_t all = static_cast<int32_t>(gridDim.x * kLanes);
  for (int32_t i = static_cast<int32_t>(blockIdx.x * kLanes + lane_number()); i < kRequests;
       i += all) {
    const int32_t row = requests[i];
    simt::aclshmem_float_get(found + i * kWidth, table + row % kRowsPerPe * kWidth, kWidth,
                             row / kRowsPerPe);
  }
}

// All lanes of a core move one range together.
__simt_vf__ __launch_bounds__(kLanes) inline void pass_on(__gm__ float* inbox,
                                                          __gm__ float* found) {
  const int32_t share =
      (kRequests + static_cast<int32_t>(gridDim.x) - 1) / static_cast<int32_t>(gridDim.x);
  const int32_t from = static_cast<int32_t>(blockIdx.x) * share;
  const int32_t count = from + share > kRequests ? kRequests - from : share;
  const int next = (simt::aclshmem_my_pe() + 1) % simt::aclshmem_n_pes();
  simt::aclshmemx_float_put_block(inbox + from * kWidth, found + from * kWidth,
                                  static_cast<size_t>(count * kWidth), next);
}

ACLSHMEM_GLOBAL_VECTOR void lookup(__gm__ float* inbox, __gm__ float* found, __gm__ float* table,
                                   __gm__ int32_t* requests) {
  asc_vf_call<fetch_rows>(dim3(32, 2, 4), found, table, requests);
  aclshmem_barrier_all();  // pass_on sends rows that other cores fetched
  asc_vf_call<pass_on>(dim3(32, 2, 4), inbox, found);
  aclshmem_barrier_all();
}

namespace {

bool correct(const demo::Arguments& arguments, const char* what, const float* rows, int pe) {
  for (int32_t i = 0; i < kRequests; ++i) {
    const int32_t row = request_of(pe, i, kRowsPerPe * arguments.n_pes);
    for (int32_t column = 0; column < kWidth; ++column) {
      const float got = rows[i * kWidth + column];
      if (got == value_of(row, column)) continue;
      std::fprintf(stderr, "%s, request %d, column %d: got %g, wanted %g\n", what, i, column, got,
                   value_of(row, column));
      return false;
    }
  }
  return true;
}

bool run(const demo::Arguments& arguments) {
  aclrtStream stream = nullptr;
  if (!demo::start(arguments, &stream)) return false;
  auto* table = demo::symmetric_of<float>(kRowsPerPe * kWidth);
  auto* found = demo::symmetric_of<float>(kRequests * kWidth);
  auto* inbox = demo::symmetric_of<float>(kRequests * kWidth);
  auto* requests = demo::symmetric_of<int32_t>(kRequests);
  if (table == nullptr || found == nullptr || inbox == nullptr || requests == nullptr) return false;

  std::vector<float> rows(kRowsPerPe * kWidth);
  for (int32_t i = 0; i < kRowsPerPe * kWidth; ++i) {
    rows[static_cast<size_t>(i)] = value_of(arguments.pe_id * kRowsPerPe + i / kWidth, i % kWidth);
  }
  std::vector<int32_t> wanted(kRequests);
  for (int32_t i = 0; i < kRequests; ++i) {
    wanted[static_cast<size_t>(i)] = request_of(arguments.pe_id, i, kRowsPerPe * arguments.n_pes);
  }
  const size_t table_bytes = rows.size() * sizeof(float);
  const size_t request_bytes = wanted.size() * sizeof(int32_t);
  DEMO_CHECK(aclrtMemcpy(table, table_bytes, rows.data(), table_bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  DEMO_CHECK(aclrtMemcpy(requests, request_bytes, wanted.data(), request_bytes,
                         ACL_MEMCPY_HOST_TO_DEVICE));
  aclshmem_barrier_all();  // nobody reads a table that is not filled

  lookup<<<kBlocks, nullptr, stream>>>(inbox, found, table, requests);
  DEMO_CHECK(aclrtSynchronizeStream(stream));

  std::vector<float> host(kRequests * kWidth);
  const size_t bytes = host.size() * sizeof(float);
  DEMO_CHECK(aclrtMemcpy(host.data(), bytes, found, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  bool good = correct(arguments, "rows found", host.data(), arguments.pe_id);
  DEMO_CHECK(aclrtMemcpy(host.data(), bytes, inbox, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  const int previous = (arguments.pe_id + arguments.n_pes - 1) % arguments.n_pes;
  good = correct(arguments, "rows received", host.data(), previous) && good;

  for (void* memory : {static_cast<void*>(requests), static_cast<void*>(inbox),
                       static_cast<void*>(found), static_cast<void*>(table)}) {
    aclshmem_free(memory);
  }
  return demo::finish(arguments, stream) && good;
}

}  // namespace

int main(int argc, char** argv) { return demo::main_of(argc, argv, run); }
