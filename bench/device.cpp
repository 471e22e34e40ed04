// The kernel side beside its limits, measured in the same run: launches, graph replays, DataCopy
// and Add beside a plain loop over the same data, putmem in kernels beside memcpy into the same
// mapping, barriers in kernels.
//   shmem-run -n 2 bench_device {npes} {pe} {address}            PE 0 prints
//   shmem-run -n 2 bench_device {npes} {pe} {address} --quick    few repetitions, for use as a test
#include <acl/acl.h>
#include <kernel_operator.h>
#include <shmem.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr uint32_t kTile = 4096;  // floats of one DataCopy

double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

#define REQUIRE(call)                                                                \
  do {                                                                               \
    if (const int code = (call); code != 0) {                                        \
      const char* text = aclGetRecentErrMsg();                                       \
      std::fprintf(stderr, "%s: %d %s\n", #call, code, text != nullptr ? text : ""); \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (0)

}  // namespace

ACLSHMEM_GLOBAL_VECTOR void empty() {}

// As vector kernels are written: tiles through queues.
ACLSHMEM_GLOBAL_VECTOR void add_tiles(float* x, float* y, float* z, uint32_t count) {
  AscendC::GlobalTensor<float> gx;
  AscendC::GlobalTensor<float> gy;
  AscendC::GlobalTensor<float> gz;
  gx.SetGlobalBuffer(x, count);
  gy.SetGlobalBuffer(y, count);
  gz.SetGlobalBuffer(z, count);
  AscendC::TPipe pipe;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> in_x;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> in_y;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in_x, 1, kTile * sizeof(float));
  pipe.InitBuffer(in_y, 1, kTile * sizeof(float));
  pipe.InitBuffer(out, 1, kTile * sizeof(float));
  for (uint32_t at = 0; at < count; at += kTile) {
    AscendC::LocalTensor<float> lx = in_x.AllocTensor<float>();
    AscendC::LocalTensor<float> ly = in_y.AllocTensor<float>();
    AscendC::DataCopy(lx, gx[at], kTile);
    AscendC::DataCopy(ly, gy[at], kTile);
    in_x.EnQue(lx);
    in_y.EnQue(ly);
    lx = in_x.DeQue<float>();
    ly = in_y.DeQue<float>();
    AscendC::LocalTensor<float> lz = out.AllocTensor<float>();
    AscendC::Add(lz, lx, ly, static_cast<int32_t>(kTile));
    out.EnQue(lz);
    in_x.FreeTensor(lx);
    in_y.FreeTensor(ly);
    lz = out.DeQue<float>();
    AscendC::DataCopy(gz[at], lz, kTile);
    out.FreeTensor(lz);
  }
}

ACLSHMEM_GLOBAL_VECTOR void add_plain(float* x, float* y, float* z, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) z[i] = x[i] + y[i];
}

ACLSHMEM_GLOBAL_VECTOR void put_many(char* to, char* from, uint64_t bytes, int pe, int times) {
  for (int i = 0; i < times; ++i) aclshmem_putmem(to, from, bytes, pe);
}

ACLSHMEM_GLOBAL_VECTOR void memcpy_many(char* to, char* from, uint64_t bytes, int pe, int times) {
  void* target = aclshmem_ptr(to, pe);
  for (int i = 0; i < times; ++i) {
    std::memcpy(target, from, bytes);
    asm volatile("" ::: "memory");  // every copy happens
  }
}

ACLSHMEM_GLOBAL_VECTOR void barriers(int times) {
  for (int i = 0; i < times; ++i) aclshmemx_barrier_all_vec();
}

namespace {

struct Job {
  int pe;
  aclrtStream stream;
  bool quick;
  int rounds() const { return quick ? 5 : 31; }
};

// Median over the rounds of one call's time.
template <typename Body>
double time_us(const Job& job, const Body& body) {
  std::vector<double> times;
  body();  // pages, threads
  for (int round = 0; round < job.rounds(); ++round) {
    const double start = now_us();
    body();
    times.push_back(now_us() - start);
  }
  return median(times);
}

// Two bodies in turn, so that both see the same machine; medians.
template <typename One, typename Two>
std::pair<double, double> times_us(const Job& job, const One& one, const Two& two) {
  std::vector<double> first;
  std::vector<double> second;
  one();
  two();
  for (int round = 0; round < job.rounds(); ++round) {
    const double start = now_us();
    one();
    const double middle = now_us();
    two();
    first.push_back(middle - start);
    second.push_back(now_us() - middle);
  }
  return {median(first), median(second)};
}

void launches(const Job& job) {
  const int times = job.quick ? 10 : 200;
  const double launch = time_us(job, [&] {
    for (int i = 0; i < times; ++i) {
      empty<<<20, nullptr, job.stream>>>();
      REQUIRE(aclrtSynchronizeStream(job.stream));
    }
  });
  std::printf("launch and join of an empty kernel, 20 blocks  %8.2f us\n", launch / times);

  aclmdlRI graph = nullptr;
  REQUIRE(aclmdlRICaptureBegin(job.stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  for (int node = 0; node < 100; ++node) empty<<<1, nullptr, job.stream>>>();
  REQUIRE(aclmdlRICaptureEnd(job.stream, &graph));
  const auto [replay, direct] = times_us(
      job,
      [&] {
        REQUIRE(aclmdlRIExecuteAsync(graph, job.stream));
        REQUIRE(aclrtSynchronizeStream(job.stream));
      },
      [&] {
        for (int node = 0; node < 100; ++node) empty<<<1, nullptr, job.stream>>>();
        REQUIRE(aclrtSynchronizeStream(job.stream));
      });
  REQUIRE(aclmdlRIDestroy(graph));
  std::printf("replay of a graph of 100 kernels               %8.2f us   (100 launches %.2f us)\n",
              replay, direct);
}

void additions(const Job& job) {
  for (const uint32_t count : {uint32_t{1} << 14, uint32_t{1} << 18, uint32_t{1} << 22}) {
    std::vector<float> x(count, 1.0f);
    std::vector<float> y(count, 2.0f);
    std::vector<float> z(count);
    const int times = static_cast<int>((uint32_t{1} << 22) / count);
    const auto [tiles, plain] = times_us(
        job,
        [&] {
          for (int i = 0; i < times; ++i)
            add_tiles<<<1, nullptr, job.stream>>>(x.data(), y.data(), z.data(), count);
          REQUIRE(aclrtSynchronizeStream(job.stream));
        },
        [&] {
          for (int i = 0; i < times; ++i)
            add_plain<<<1, nullptr, job.stream>>>(x.data(), y.data(), z.data(), count);
          REQUIRE(aclrtSynchronizeStream(job.stream));
        });
    const double gigabytes = 3.0 * sizeof(float) * count * times / 1e9;
    std::printf("DataCopy + Add of %7u floats  %6.2f GB/s   plain loop %6.2f GB/s   ratio %.2f\n",
                count, gigabytes / tiles * 1e6, gigabytes / plain * 1e6, plain / tiles);
  }
}

void puts(const Job& job, char* memory, uint64_t most) {
  for (uint64_t bytes = 64; bytes <= most; bytes *= 16) {
    const int times =
        static_cast<int>(std::clamp<uint64_t>((job.quick ? most : 4 * most) / bytes, 1, 200'000));
    const auto [put, copy] = times_us(
        job,
        [&] {
          put_many<<<1, nullptr, job.stream>>>(memory, memory + most, bytes, 1, times);
          REQUIRE(aclrtSynchronizeStream(job.stream));
        },
        [&] {
          memcpy_many<<<1, nullptr, job.stream>>>(memory, memory + most, bytes, 1, times);
          REQUIRE(aclrtSynchronizeStream(job.stream));
        });
    const double gigabytes = static_cast<double>(bytes) * times / 1e9;
    std::printf("putmem in a kernel, %8llu bytes  %6.2f GB/s   memcpy %6.2f GB/s   ratio %.2f\n",
                static_cast<unsigned long long>(bytes), gigabytes / put * 1e6,
                gigabytes / copy * 1e6, copy / put);
  }
}

int run(int n_pes, int pe, const char* address, bool quick) {
  Job job{pe, nullptr, quick};
  REQUIRE(aclInit(nullptr));
  REQUIRE(aclrtSetDevice(pe));
  REQUIRE(aclrtCreateStream(&job.stream));
  aclshmemx_init_attr_t attributes;
  attributes.my_pe = pe;
  attributes.n_pes = n_pes;
  attributes.local_mem_size = 64UL << 20;
  std::strncpy(attributes.ip_port, address, sizeof attributes.ip_port - 1);
  REQUIRE(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes));
  const uint64_t most = quick ? 1 << 18 : 1 << 24;
  auto* memory = static_cast<char*>(aclshmem_calloc(2, most));
  if (memory == nullptr) return 1;
  if (pe == 0) {
    launches(job);
    additions(job);
    puts(job, memory, most);
  }
  aclshmem_barrier_all();
  for (const uint32_t blocks : {1u, 8u}) {
    const int times = quick ? 50 : 2000;
    const double all = time_us(job, [&] {
      barriers<<<blocks, nullptr, job.stream>>>(times);
      REQUIRE(aclrtSynchronizeStream(job.stream));
    });
    if (pe == 0) {
      std::printf("barrier_all_vec in a kernel, %d PEs of %u blocks  %8.2f us\n", n_pes, blocks,
                  all / times);
    }
  }
  aclshmem_free(memory);
  REQUIRE(aclshmem_finalize());
  REQUIRE(aclrtDestroyStream(job.stream));
  REQUIRE(aclrtResetDevice(pe));
  REQUIRE(aclFinalize());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc == 5 && std::string(argv[4]) == "--quick";
  if (argc != 4 && !quick) {
    std::fprintf(stderr, "usage: %s n_pes pe ip_port [--quick]\n", argv[0]);
    return 2;
  }
  const int n_pes = std::atoi(argv[1]);
  if (n_pes < 2) {
    std::fprintf(stderr, "%s: at least two PEs\n", argv[0]);
    return 2;
  }
  return run(n_pes, std::atoi(argv[2]), argv[3], quick);
}
