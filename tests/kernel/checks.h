// What the generated test checks per kind of function. Every check runs inside a kernel, on all
// cores of all PEs at once, each core in its own window of the heap; PE p works with its right
// neighbour. Completion functions are checked at the source: after them the data must be in the
// neighbour's memory, while the engines of the test are slow.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "device/shmem_device.h"
#include "device_simt/shmem_device_simt.h"

namespace symm::test {

struct Case {
  const char* label;
  void (*run)();
};

// For messages; set by the host before it launches the kernels of a case.
inline const char* current_case = "";

struct Wide {
  uint64_t low, high;
};

// Offsets in the window of a core.
constexpr uint64_t kWindow = 4096;
constexpr uint64_t kSignalAt = 0;
constexpr uint64_t kSourceAt = 1024;
constexpr uint64_t kTargetAt = 2048;
constexpr size_t kCounts[] = {0, 1, 2, 5, 33};
// Elements before the data, so that it begins at several alignments; one is enough for many cores.
inline size_t last_shift() { return AscendC::GetBlockNum() > 3 ? 1 : 2; }

template <typename T>
T* heap(uint64_t offset) {
  const uint64_t window = static_cast<uint64_t>(AscendC::GetBlockIdx()) * kWindow;
  return reinterpret_cast<T*>(static_cast<char*>(aclshmemi_get_state()->heap_base) + window +
                              offset);
}
// Memory that all cores share, behind the windows.
template <typename T>
T* common() {
  return reinterpret_cast<T*>(static_cast<char*>(aclshmemi_get_state()->heap_base) + 64 * kWindow);
}
template <typename T>
volatile T* scratch() {
  return symm::ub_cast<T>(4096);
}
template <typename T>
AscendC::LocalTensor<T> local(volatile T* pointer, uint32_t elements) {
  AscendC::LocalTensor<T> tensor;
  tensor.address_.logicPos = static_cast<uint8_t>(AscendC::TPosition::VECIN);
  tensor.address_.bufferAddr = reinterpret_cast<uint64_t>(pointer);
  tensor.address_.dataLen = static_cast<uint32_t>(elements * sizeof(T));
  return tensor;
}
template <typename T>
AscendC::GlobalTensor<T> global(T* pointer) {
  AscendC::GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(pointer);
  return tensor;
}

template <typename T>
T value_of(int number) {
  if constexpr (std::is_same_v<T, Wide>) {
    return {static_cast<uint64_t>(number), static_cast<uint64_t>(number) * 3};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(number);
  } else {
    return static_cast<T>(static_cast<float>(number));
  }
}
// Element i of PE pe; 1..100, so that every type holds it exactly.
template <typename T>
T sample(int pe, size_t i) {
  return value_of<T>(static_cast<int>((static_cast<size_t>(pe) * 31 + i * 7) % 100) + 1);
}
template <typename T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// The four PEs' numbers a check needs.
struct Ring {
  int me = aclshmem_my_pe();
  int n = aclshmem_n_pes();
  int right = (me + 1) % n;
  int left = (me + n - 1) % n;
};

inline void require(bool good, const char* what, size_t n = 0, size_t i = 0) {
  if (!good) {
    ADD_FAILURE() << current_case << ": PE " << aclshmem_my_pe() << ", core "
                  << AscendC::GetBlockIdx() << ": " << what << ", n " << n << ", i " << i;
  }
}
inline void meet() { aclshmemx_barrier_all_vec(); }

// Prepares source samples and a target full of zeros, both with room around.
template <typename T>
void prepare(T* source, T* target, size_t n, int me) {
  std::memset(static_cast<void*>(target - 1), 0, (n + 2) * sizeof(T));
  for (size_t i = 0; i < n; ++i) source[i] = sample<T>(me, i);
  meet();
}
template <typename T>
void compare(const T* target, size_t n, int from, const char* what) {
  for (size_t i = 0; i < n; ++i) require(same(target[i], sample<T>(from, i)), what, n, i);
  const T zero = value_of<T>(0);
  require(same(target[-1], zero) && same(target[n], zero), "wrote outside", n, 0);
}
template <typename T>
const T* at_right(const T* target, const Ring& ring) {
  return static_cast<const T*>(aclshmem_ptr(const_cast<T*>(target), ring.right));
}

using Done = void (*)(int pe);

template <typename T>
void check_put(void (*call)(T*, T*, size_t, int), Done done) {
  const Ring ring;
  for (size_t n : kCounts) {
    for (size_t shift = 1; shift <= last_shift(); ++shift) {
      T* source = heap<T>(kSourceAt) + shift;
      T* target = heap<T>(kTargetAt) + shift;
      prepare(source, target, n, ring.me);
      call(target, source, n, ring.right);
      done(ring.right);
      compare(at_right(target, ring), n, ring.me, "not complete after the quiet");
      meet();
      compare(target, n, ring.left, "wrong data");
      meet();
    }
  }
}

template <typename T>
void check_get(void (*call)(T*, T*, size_t, int), Done done) {
  const Ring ring;
  for (size_t n : kCounts) {
    for (size_t shift = 1; shift <= last_shift(); ++shift) {
      T* source = heap<T>(kSourceAt) + shift;
      T* target = heap<T>(kTargetAt) + shift;
      prepare(source, target, n, ring.me);
      call(target, source, n, ring.right);
      done(ring.right);
      compare(target, n, ring.right, "wrong data or not complete after the quiet");
      meet();
    }
  }
}

// With two PEs there is no valid relay, and nothing moves.
template <typename T>
void check_relay_put(void (*call)(T*, T*, size_t, int, int), Done done) {
  const Ring ring;
  T* source = heap<T>(kSourceAt);
  T* target = heap<T>(kTargetAt) + 1;
  prepare(source, target, 5, ring.me);
  call(target, source, 5, ring.right, ring.left);
  done(ring.right);
  meet();
  const bool moved = ring.n > 2;
  for (size_t i = 0; i < 5; ++i) {
    require(same(target[i], moved ? sample<T>(ring.left, i) : value_of<T>(0)), "wrong data", 5, i);
  }
  meet();
}
template <typename T>
void check_relay_get(void (*call)(T*, T*, size_t, int, int), Done done) {
  const Ring ring;
  T* source = heap<T>(kSourceAt);
  T* target = heap<T>(kTargetAt) + 1;
  prepare(source, target, 5, ring.me);
  call(target, source, 5, ring.right, ring.left);
  done(ring.right);
  const bool moved = ring.n > 2;
  for (size_t i = 0; i < 5; ++i) {
    require(same(target[i], moved ? sample<T>(ring.right, i) : value_of<T>(0)), "wrong data", 5, i);
  }
  meet();
}

// Row shapes: rows, length, source and target pitch.
constexpr non_contiguous_copy_param kRows[] = {
    {1, 4, 4, 4}, {3, 2, 5, 4}, {4, 3, 3, 7}, {0, 3, 3, 3}, {2, 0, 3, 3}};
constexpr size_t kRowSpan = 40;

template <typename T>
void compare_rows(const T* target, const non_contiguous_copy_param& p, int from, const char* what) {
  for (size_t i = 0; i < kRowSpan; ++i) {
    const size_t row = i / p.dst_ld;
    const size_t column = i % p.dst_ld;
    const bool inside = row < p.repeat && column < p.length;
    const T wanted = inside ? sample<T>(from, row * p.src_ld + column) : value_of<T>(0);
    require(same(target[i], wanted), what, p.repeat, i);
  }
}
template <typename T>
void check_put_rows(void (*call)(T*, T*, const non_contiguous_copy_param&, int), Done done) {
  const Ring ring;
  T* source = heap<T>(kSourceAt);
  T* target = heap<T>(kTargetAt) + 1;
  for (const auto& p : kRows) {
    prepare(source, target, kRowSpan, ring.me);
    call(target, source, p, ring.right);
    done(ring.right);
    compare_rows(at_right(target, ring), p, ring.me, "not complete after the quiet");
    meet();
    compare_rows(target, p, ring.left, "wrong data");
    meet();
  }
}
template <typename T>
void check_get_rows(void (*call)(T*, T*, const non_contiguous_copy_param&, int), Done done) {
  const Ring ring;
  T* source = heap<T>(kSourceAt);
  T* target = heap<T>(kTargetAt) + 1;
  for (const auto& p : kRows) {
    prepare(source, target, kRowSpan, ring.me);
    call(target, source, p, ring.right);
    done(ring.right);
    compare_rows(target, p, ring.right, "wrong data");
    meet();
  }
}

template <typename T>
void compare_strided(const T* target, ptrdiff_t dst, ptrdiff_t sst, size_t n, int from) {
  for (size_t i = 0; i < kRowSpan; ++i) {
    const size_t step = static_cast<size_t>(dst);
    const bool inside = i % step == 0 && i / step < n;
    const T wanted = inside ? sample<T>(from, i / step * static_cast<size_t>(sst)) : value_of<T>(0);
    require(same(target[i], wanted), "wrong data", n, i);
  }
}
struct Stride {
  ptrdiff_t dst, sst;
  size_t n;
};
constexpr Stride kStrides[] = {{1, 1, 7}, {2, 3, 5}, {5, 1, 6}, {3, 3, 1}, {2, 2, 0}};
template <typename T>
void check_iput(void (*call)(T*, T*, ptrdiff_t, ptrdiff_t, size_t, int), Done) {
  const Ring ring;
  T* source = heap<T>(kSourceAt);
  T* target = heap<T>(kTargetAt) + 1;
  for (const Stride& s : kStrides) {
    prepare(source, target, kRowSpan, ring.me);
    call(target, source, s.dst, s.sst, s.n, ring.right);
    meet();
    compare_strided(target, s.dst, s.sst, s.n, ring.left);
    meet();
  }
}
template <typename T>
void check_iget(void (*call)(T*, T*, ptrdiff_t, ptrdiff_t, size_t, int), Done) {
  const Ring ring;
  T* source = heap<T>(kSourceAt);
  T* target = heap<T>(kTargetAt) + 1;
  for (const Stride& s : kStrides) {
    prepare(source, target, kRowSpan, ring.me);
    call(target, source, s.dst, s.sst, s.n, ring.right);
    compare_strided(target, s.dst, s.sst, s.n, ring.right);
    meet();
  }
}

template <typename T>
void check_p(void (*call)(T*, T, int), Done done) {
  const Ring ring;
  T* target = heap<T>(kTargetAt) + 1;
  prepare(heap<T>(kSourceAt), target, 3, ring.me);
  call(target + 1, sample<T>(ring.me, 1), ring.right);
  done(ring.right);
  require(same(at_right(target, ring)[1], sample<T>(ring.me, 1)), "not complete after the quiet");
  meet();
  require(same(target[1], sample<T>(ring.left, 1)), "wrong value");
  require(same(target[0], value_of<T>(0)) && same(target[2], value_of<T>(0)), "wrote outside");
  meet();
}
template <typename T>
void check_g(T (*call)(T*, int), Done) {
  const Ring ring;
  T* source = heap<T>(kSourceAt);
  prepare(source, heap<T>(kTargetAt) + 1, 9, ring.me);
  for (size_t i = 0; i < 9; ++i)
    require(same(call(source + i, ring.right), sample<T>(ring.right, i)), "wrong value");
  meet();
}

// The receiver waits for the signal only, then the data must be there.
template <typename Call>
void check_signal(size_t rounds, const Call& round) {
  const Ring ring;
  int32_t* sig = heap<int32_t>(kSignalAt);
  for (int op : {ACLSHMEM_SIGNAL_SET, ACLSHMEM_SIGNAL_ADD}) {
    *sig = 0;
    meet();
    for (size_t k = 1; k <= rounds; ++k) {
      const int32_t wanted = static_cast<int32_t>(k);
      round(ring, k - 1, sig, op == ACLSHMEM_SIGNAL_SET ? wanted : 1, op);
      require(*sig == wanted, "wrong signal", k, 0);
      meet();
    }
  }
}
template <typename T>
void check_put_signal(void (*call)(T*, T*, size_t, int32_t*, int32_t, int, int), Done) {
  check_signal(std::size(kCounts),
               [call](const Ring& ring, size_t k, int32_t* sig, int32_t value, int op) {
                 const size_t n = kCounts[k];
                 T* source = heap<T>(kSourceAt);
                 T* target = heap<T>(kTargetAt) + 1;
                 prepare(source, target, n, ring.me);
                 call(target, source, n, sig, value, op, ring.right);
                 aclshmem_signal_wait_until(sig, ACLSHMEM_CMP_GE, static_cast<int32_t>(k) + 1);
                 compare(target, n, ring.left, "signal before data");
               });
}
template <typename T>
void check_put_rows_signal(void (*call)(T*, T*, const non_contiguous_copy_param&, int32_t*, int32_t,
                                        int, int),
                           Done) {
  check_signal(std::size(kRows),
               [call](const Ring& ring, size_t k, int32_t* sig, int32_t value, int op) {
                 T* source = heap<T>(kSourceAt);
                 T* target = heap<T>(kTargetAt) + 1;
                 prepare(source, target, kRowSpan, ring.me);
                 call(target, source, kRows[k], sig, value, op, ring.right);
                 aclshmem_signal_wait_until(sig, ACLSHMEM_CMP_GE, static_cast<int32_t>(k) + 1);
                 compare_rows(target, kRows[k], ring.left, "signal before data");
               });
}
template <typename T>
void check_put_signal64(void (*call)(T*, T*, size_t, uint64_t*, uint64_t, int), Done) {
  const Ring ring;
  uint64_t* sig = heap<uint64_t>(kSignalAt);
  T* source = heap<T>(kSourceAt);
  T* target = heap<T>(kTargetAt) + 1;
  *sig = 0;
  for (size_t n : kCounts) {
    prepare(source, target, n, ring.me);
    const uint64_t value = (uint64_t{1} << 40) + n;
    call(target, source, n, sig, value, ring.right);
    aclshmem_uint64_wait_until(sig, ACLSHMEM_CMP_EQ, value);
    compare(target, n, ring.left, "signal before data");
    meet();
  }
}

template <typename T>
T* fill_ub(size_t n, int me) {
  T* data = symm_dev::plain(symm::ub_cast<T>(32));
  for (size_t i = 0; i < n; ++i) data[i] = sample<T>(me, i);
  return data;
}
template <typename T>
void check_ub_put(void (*call)(T*, volatile T*, size_t, int), Done done) {
  const Ring ring;
  T* target = heap<T>(kTargetAt) + 1;
  for (size_t n : kCounts) {
    prepare(heap<T>(kSourceAt), target, n, ring.me);
    call(target, fill_ub<T>(n, ring.me), n, ring.right);
    done(ring.right);
    compare(at_right(target, ring), n, ring.me, "not complete after the quiet");
    meet();
    compare(target, n, ring.left, "wrong data");
    meet();
  }
}
template <typename T>
void check_ub_get(void (*call)(volatile T*, T*, size_t, int), Done done) {
  const Ring ring;
  T* source = heap<T>(kSourceAt);
  T* data = fill_ub<T>(1, ring.me) + 1;
  for (size_t n : kCounts) {
    prepare(source, data, n, ring.me);
    call(data, source, n, ring.right);
    done(ring.right);
    compare(data, n, ring.right, "wrong data");
    meet();
  }
}
template <typename T>
void check_ub_put_rows(void (*call)(T*, volatile T*, const non_contiguous_copy_param&, int),
                       Done done) {
  const Ring ring;
  T* target = heap<T>(kTargetAt) + 1;
  for (const auto& p : kRows) {
    prepare(heap<T>(kSourceAt), target, kRowSpan, ring.me);
    call(target, fill_ub<T>(kRowSpan, ring.me), p, ring.right);
    done(ring.right);
    meet();
    compare_rows(target, p, ring.left, "wrong data");
    meet();
  }
}
template <typename T>
void check_ub_get_rows(void (*call)(volatile T*, T*, const non_contiguous_copy_param&, int),
                       Done done) {
  const Ring ring;
  T* source = heap<T>(kSourceAt);
  T* data = fill_ub<T>(1, ring.me) + 1;
  for (const auto& p : kRows) {
    prepare(source, data, kRowSpan, ring.me);
    call(data, source, p, ring.right);
    done(ring.right);
    compare_rows(data, p, ring.right, "wrong data");
    meet();
  }
}

}  // namespace symm::test

#include "tests/kernel/checks_amo.h"
#include "tests/kernel/checks_p2p.h"
#include "tests/kernel/checks_simt.h"
