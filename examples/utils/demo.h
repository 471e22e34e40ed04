// What the examples share: the command line, start and end, the check of the result, the times.
#pragma once

#include <acl/acl.h>
#include <shmem.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace demo {

// n_pes pe_id ipport g_npus f_pe f_npu
struct Arguments {
  int n_pes = 0;        // PEs of the whole job
  int pe_id = 0;        // this PE
  std::string ip_port;  // address of PE 0: tcp://host:port
  int n_npus = 0;       // NPUs that PEs of this host use
  int first_pe = 0;     // first PE of this host
  int first_npu = 0;    // first NPU of this host

  int device() const { return pe_id % n_npus + first_npu; }
  int relative_pe() const { return pe_id - first_pe; }
};

inline bool parse_number(const char* text, const char* name, int low, int high, int* value) {
  char* end = nullptr;
  errno = 0;
  const long number = std::strtol(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || number < low || number > high) {
    std::fprintf(stderr, "%s: '%s' is not a number from %d to %d\n", name, text, low, high);
    return false;
  }
  *value = static_cast<int>(number);
  return true;
}

inline bool parse_arguments(int argc, char** argv, Arguments* out) {
  constexpr int kCount = 7;
  if (argc != kCount) {
    std::fprintf(stderr, "usage: %s n_pes pe_id ipport g_npus f_pe f_npu\n", argv[0]);
    return false;
  }
  if (!parse_number(argv[1], "n_pes", 1, ACLSHMEM_MAX_PES, &out->n_pes) ||
      !parse_number(argv[2], "pe_id", 0, out->n_pes - 1, &out->pe_id) ||
      !parse_number(argv[4], "g_npus", 1, ACLSHMEM_MAX_PES, &out->n_npus) ||
      !parse_number(argv[5], "f_pe", 0, out->pe_id, &out->first_pe) ||
      !parse_number(argv[6], "f_npu", 0, ACLSHMEM_MAX_PES - 1, &out->first_npu)) {
    return false;
  }
  out->ip_port = argv[3];
  if (out->ip_port.empty() || out->ip_port.size() >= ACLSHMEM_MAX_IP_PORT_LEN) {
    std::fprintf(stderr, "ipport: '%s' must have 1 to %d characters\n", argv[3],
                 ACLSHMEM_MAX_IP_PORT_LEN - 1);
    return false;
  }
  return true;
}

// The number of rounds from an environment variable, 3 when it is not set.
inline bool read_rounds(const char* variable, int* rounds) {
  *rounds = 3;
  const char* text = std::getenv(variable);
  return text == nullptr || parse_number(text, variable, 1, 100000, rounds);
}

// Says which call failed and why. True when the code is 0.
inline bool check(int code, const char* call) {
  if (code == 0) return true;
  const char* reason = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d%s%s\n", call, code, reason != nullptr ? ": " : "",
               reason != nullptr ? reason : "");
  return false;
}

inline double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Evaluates a call that returns 0 on success; leaves the enclosing bool function with false
// otherwise.
#define DEMO_CHECK(call)                           \
  do {                                             \
    if (!demo::check((call), #call)) return false; \
  } while (0)

// Takes the device of this PE, makes a stream, joins the job. engines: ACLSHMEM_DATA_OP_* bits that
// the job may use. Collective.
inline bool start(const Arguments& arguments, aclrtStream* stream,
                  int engines = ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_ROCE) {
  DEMO_CHECK(aclInit(nullptr));
  DEMO_CHECK(aclrtSetDevice(arguments.device()));
  DEMO_CHECK(aclrtCreateStream(stream));

  aclshmemx_init_attr_t attributes;
  attributes.my_pe = arguments.pe_id;
  attributes.n_pes = arguments.n_pes;
  attributes.local_mem_size = 64UL * 1024 * 1024;
  std::memcpy(attributes.ip_port, arguments.ip_port.c_str(), arguments.ip_port.size() + 1);
  attributes.option_attr.data_op_engine_type = static_cast<data_op_engine_type_t>(engines);
  DEMO_CHECK(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes));
  return true;
}

// Leaves the job and gives the device back. Collective.
inline bool finish(const Arguments& arguments, aclrtStream stream) {
  DEMO_CHECK(aclshmem_finalize());
  DEMO_CHECK(aclrtDestroyStream(stream));
  DEMO_CHECK(aclrtResetDevice(arguments.device()));
  DEMO_CHECK(aclFinalize());
  return true;
}

// A zeroed symmetric buffer; null and a message when there is no room. Collective.
inline uint8_t* symmetric(uint64_t bytes) {
  void* memory = aclshmem_calloc(1, bytes);
  if (memory == nullptr) {
    std::fprintf(stderr, "aclshmem_calloc of %llu bytes returned null\n",
                 static_cast<unsigned long long>(bytes));
  }
  return static_cast<uint8_t*>(memory);
}

inline int32_t base_value(int pe) { return 10 + pe; }

// After round r every element of the slice of PE p is (10 + p) * (3 + r). Prints the first
// difference.
inline bool verify(const int32_t* gathered, int n_pes, uint32_t elements, int round) {
  for (int pe = 0; pe < n_pes; ++pe) {
    const int32_t wanted = base_value(pe) * (3 + round);
    for (uint32_t i = 0; i < elements; ++i) {
      const int32_t got = gathered[static_cast<uint32_t>(pe) * elements + i];
      if (got == wanted) continue;
      std::fprintf(stderr, "round %d, slice of PE %d, element %u: got %d, wanted %d\n", round, pe,
                   i, got, wanted);
      return false;
    }
  }
  return true;
}

// The same for `count` elements of any type.
template <typename T>
T* symmetric_of(uint64_t count) {
  return reinterpret_cast<T*>(symmetric(count * sizeof(T)));
}

// Prints the verdict; the exit code of the program.
inline int report(const Arguments& arguments, bool correct) {
  if (!correct) {
    std::fprintf(stderr, "[FAILED] demo run failed in relative pe %d\n", arguments.relative_pe());
    return 1;
  }
  std::printf("[SUCCESS] demo run success in relative pe %d\n", arguments.relative_pe());
  return 0;
}

// Parses, runs, reports; the exit code of the program.
inline int main_of(int argc, char** argv, bool (*run)(const Arguments& arguments)) {
  Arguments arguments;
  if (!parse_arguments(argc, argv, &arguments)) return 1;
  return report(arguments, run(arguments));
}

// The same with a number of rounds from an environment variable.
inline int main_of(int argc, char** argv, const char* rounds_variable,
                   bool (*run)(const Arguments& arguments, int rounds)) {
  Arguments arguments;
  int rounds = 0;
  if (!parse_arguments(argc, argv, &arguments) || !read_rounds(rounds_variable, &rounds)) return 1;
  return report(arguments, run(arguments, rounds));
}

}  // namespace demo
