// What a function of the host interface must do: one check for each shape of call. Collective:
// every PE runs the same checks in the same order, each aims at its right neighbour.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/job.h"

namespace conformance {

struct Wide {
  uint64_t low = 0;
  uint64_t high = 0;
  Wide() = default;
  explicit Wide(int v) : low(static_cast<uint64_t>(v)), high(~low) {}
  bool operator==(const Wide& o) const { return low == o.low && high == o.high; }
};

inline int me() { return place().pe; }
inline int n_pes() { return place().n_pes; }
inline int right() { return (me() + 1) % n_pes(); }
inline int left() { return (me() + n_pes() - 1) % n_pes(); }

inline void drain() {
  EXPECT_EQ(aclrtSynchronizeStream(g_state_host.default_stream), 0);
  aclshmem_barrier_all();
}

// Errors that a call of the test caused on purpose are forgotten by it.
inline void forget_error() { aclshmemx_last_error(nullptr, 0, true); }
inline void expect_no_error() {
  char text[512] = "";
  EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), true), 0) << text;
}

// Element i of PE pe; small enough for every type and never 0.
template <typename T>
T element(int pe, size_t i) {
  return static_cast<T>(1 + (pe * 13 + static_cast<int>(i) * 5) % 100);
}

constexpr size_t kRoom = 64;

// A symmetric array of zeros, freed by all PEs at its end.
template <typename T>
class Area {
 public:
  explicit Area(size_t count = kRoom) : data_(static_cast<T*>(aclshmem_calloc(count, sizeof(T)))) {
    EXPECT_NE(data_, nullptr);
  }
  ~Area() { aclshmem_free(data_); }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;
  T* data() { return data_; }
  T& operator[](size_t i) { return data_[i]; }

 private:
  T* data_;
};

template <typename T, typename Call>
void check_put(Call call) {
  for (size_t n : {size_t{0}, size_t{1}, size_t{37}}) {
    Area<T> target;
    std::vector<T> mine(kRoom);
    for (size_t i = 0; i < kRoom; ++i) mine[i] = element<T>(me(), i);
    call(target.data() + 1, mine.data(), n, right());
    drain();
    for (size_t i = 0; i + 1 < kRoom; ++i) {
      const T wanted = i < n ? element<T>(left(), i) : T();
      EXPECT_TRUE(target[i + 1] == wanted) << i << " of " << n;
    }
    EXPECT_TRUE(target[0] == T());
    aclshmem_barrier_all();
  }
}

template <typename T, typename Call>
void check_get(Call call) {
  Area<T> source;
  for (size_t i = 0; i < kRoom; ++i) source[i] = element<T>(me(), i);
  aclshmem_barrier_all();
  for (size_t n : {size_t{0}, size_t{1}, size_t{37}}) {
    std::vector<T> got(kRoom);
    call(got.data(), source.data() + 1, n, right());
    drain();
    for (size_t i = 0; i < kRoom; ++i) {
      EXPECT_TRUE(got[i] == (i < n ? element<T>(right(), i + 1) : T())) << i << " of " << n;
    }
  }
}

constexpr ptrdiff_t kTargetStride = 3;
constexpr ptrdiff_t kSourceStride = 2;
constexpr size_t kStrided = 11;

template <typename T>
void expect_strided(T* got, int from) {
  for (size_t i = 0; i < kRoom; ++i) {
    const bool hit = i % kTargetStride == 0 && i / kTargetStride < kStrided;
    EXPECT_TRUE(got[i] == (hit ? element<T>(from, i / kTargetStride * kSourceStride) : T())) << i;
  }
}

template <typename T, typename Call>
void check_iput(Call call) {
  Area<T> target;
  std::vector<T> mine(kRoom);
  for (size_t i = 0; i < kRoom; ++i) mine[i] = element<T>(me(), i);
  call(target.data(), mine.data(), kTargetStride, kSourceStride, kStrided, right());
  drain();
  expect_strided(target.data(), left());
  aclshmem_barrier_all();
}

template <typename T, typename Call>
void check_iget(Call call) {
  Area<T> source;
  for (size_t i = 0; i < kRoom; ++i) source[i] = element<T>(me(), i);
  aclshmem_barrier_all();
  std::vector<T> got(kRoom);
  call(got.data(), source.data(), kTargetStride, kSourceStride, kStrided, right());
  drain();
  expect_strided(got.data(), right());
}

template <typename T, typename Call>
void check_p(Call call) {
  Area<T> target;
  call(target.data() + 3, element<T>(me(), 9), right());
  drain();
  EXPECT_TRUE(target[3] == element<T>(left(), 9));
  EXPECT_TRUE(target[2] == T() && target[4] == T());
  aclshmem_barrier_all();
}

template <typename T, typename Call>
void check_g(Call call) {
  Area<T> source;
  source[5] = element<T>(me(), 4);
  aclshmem_barrier_all();
  EXPECT_TRUE(call(source.data() + 5, right()) == element<T>(right(), 4));
  aclshmem_barrier_all();
}

template <typename T, typename Call>
void check_put_signal(Call call) {
  Area<T> target;
  Area<int32_t> signal(1);
  std::vector<T> mine(kRoom);
  for (size_t i = 0; i < kRoom; ++i) mine[i] = element<T>(me(), i);
  call(target.data(), mine.data(), 37, signal.data(), 5, ACLSHMEM_SIGNAL_SET, right());
  aclshmem_signal_wait_until(signal.data(), ACLSHMEM_CMP_EQ, 5);
  for (size_t i = 0; i < kRoom; ++i) {
    EXPECT_TRUE(target[i] == (i < 37 ? element<T>(left(), i) : T())) << i;
  }
  aclshmem_barrier_all();  // the next signal would hide this one
  // No data is a signal all the same.
  call(target.data(), mine.data(), 0, signal.data(), 3, ACLSHMEM_SIGNAL_ADD, right());
  aclshmem_signal_wait_until(signal.data(), ACLSHMEM_CMP_EQ, 8);
  drain();
}

// The left neighbour stores the value that this PE waits for.
template <typename T>
void send(T* where, T value) {
  aclshmem_putmem(where, &value, sizeof(value), right());
}

template <typename T, typename Call>
void check_wait(Call call) {
  Area<T> word(1);
  send(word.data(), element<T>(1, 1));
  call(word.data(), element<T>(1, 1));
  EXPECT_TRUE(word[0] == element<T>(1, 1));
  aclshmem_barrier_all();
}

template <typename T, typename Call>
void check_wait_all(Call call) {
  constexpr size_t kCount = 6;
  Area<T> words(kCount);
  std::vector<T> values(kCount, element<T>(1, 1));
  const int status[kCount] = {0, 0, 1, 0, 0, 1};  // 1: left out
  call(words.data(), 0, nullptr, values[0], values.data());
  for (size_t i = 0; i < kCount; ++i) {
    if (status[i] == 0) send(words.data() + i, values[0]);
  }
  call(words.data(), kCount, status, values[0], values.data());
  for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(words[i] == values[0], status[i] == 0);
  aclshmem_barrier_all();
}

template <typename T, typename Call>
void check_any(Call call) {
  constexpr size_t kCount = 6;
  Area<T> words(kCount);
  std::vector<T> values(kCount, element<T>(1, 1));
  const int none[kCount] = {1, 1, 1, 1, 1, 1};
  size_t out = 7;
  call(words.data(), kCount, none, values[0], values.data(), &out);
  EXPECT_EQ(out, SIZE_MAX);
  out = 7;
  call(words.data(), 0, nullptr, values[0], values.data(), &out);
  EXPECT_EQ(out, SIZE_MAX);
  send(words.data() + 4, values[0]);
  aclshmem_barrier_all();
  call(words.data(), kCount, nullptr, values[0], values.data(), &out);
  EXPECT_EQ(out, 4u);
  aclshmem_barrier_all();
}

template <typename T, typename Call>
void check_some(Call call) {
  constexpr size_t kCount = 6;
  Area<T> words(kCount);
  std::vector<T> values(kCount, element<T>(1, 1));
  const int none[kCount] = {1, 1, 1, 1, 1, 1};
  const int status[kCount] = {0, 1, 0, 0, 0, 0};
  size_t indices[kCount] = {99, 99, 99, 99, 99, 99};
  size_t out = 7;
  call(words.data(), kCount, indices, none, values[0], values.data(), &out);
  EXPECT_EQ(out, 0u);
  for (size_t i : {1, 2, 5}) send(words.data() + i, values[0]);
  aclshmem_barrier_all();
  call(words.data(), kCount, indices, status, values[0], values.data(), &out);
  ASSERT_EQ(out, 2u);
  EXPECT_EQ((std::set<size_t>{indices[0], indices[1]}), (std::set<size_t>{2, 5}));
  EXPECT_EQ(indices[2], 99u);
  aclshmem_barrier_all();
}

template <typename T, typename Call>
void check_test(Call call) {
  Area<T> word(1);
  int out = 7;
  call(word.data(), element<T>(1, 1), &out);
  EXPECT_EQ(out, 0);
  aclshmem_barrier_all();
  send(word.data(), element<T>(1, 1));
  aclshmem_barrier_all();
  call(word.data(), element<T>(1, 1), &out);
  EXPECT_EQ(out, 1);
  aclshmem_barrier_all();
}

template <typename T, typename Call>
void check_test_all(Call call) {
  constexpr size_t kCount = 3;
  Area<T> words(kCount);
  std::vector<T> values(kCount, element<T>(1, 1));
  const int status[kCount] = {0, 1, 0};
  int out = 7;
  call(words.data(), kCount, status, values.data(), &out);
  EXPECT_EQ(out, 0);
  call(words.data(), 0, nullptr, values.data(), &out);
  EXPECT_EQ(out, 1);
  aclshmem_barrier_all();
  send(words.data(), values[0]);
  send(words.data() + 2, values[0]);
  aclshmem_barrier_all();
  call(words.data(), kCount, status, values.data(), &out);
  EXPECT_EQ(out, 1);
  aclshmem_barrier_all();
}

// Words that live as long as the job, for functions that are checked by one expression.
int32_t* word();
int32_t* signal_word();
int32_t* number(int32_t value);
// Stores a number at the right neighbour / whether the left one's has come, before any PE goes on.
void store(int value);
bool seen(int value);
// A block of 4096 symmetric bytes at a multiple of `alignment` that all PEs can use; frees it.
bool block(void* memory, size_t alignment);
bool host_block(void* memory);
bool frees(void (*call)());

template <typename F>
bool uid_args(F f) {
  aclshmemx_uniqueid_t uid{};
  aclshmemx_init_attr_t a;
  return f(1, 3, 1 << 21, &uid, &a) == 0 && a.my_pe == 1 && a.n_pes == 3 &&
         a.local_mem_size == 1 << 21 && a.comm_args == &uid;
}

template <typename F>
bool version(F f) {
  int major = 0, minor = 0;
  f(&major, &minor);
  return major == 1 && minor == 1;
}

template <typename F>
bool name(F f) {
  char text[ACLSHMEM_MAX_NAME_LEN] = "";
  f(text);
  return std::string(text) == "ACLSHMEM v1.1.1";
}

template <typename F>
bool team_config(F f) {
  aclshmem_team_config_t config{};
  return f(ACLSHMEM_TEAM_WORLD, &config) == 0 && f(-1, &config) == -1 &&
         f(ACLSHMEM_TEAM_WORLD, nullptr) == 1;
}

template <typename F>
bool profile(F f) {
  aclshmem_prof_pe_t* profile = nullptr;
  f(&profile, false);
  return profile == nullptr;  // this PE does not record
}

template <typename F>
bool split_strided(F f) {
  aclshmem_team_t team = ACLSHMEM_TEAM_INVALID;
  if (f(ACLSHMEM_TEAM_WORLD, n_pes() - 1, -1, n_pes(), &team) != 0) return false;
  const bool right_place = aclshmem_team_my_pe(team) == n_pes() - 1 - me();
  aclshmem_barrier(team);
  aclshmem_team_destroy(team);
  return right_place;
}

template <typename F>
bool split_2d(F f) {
  aclshmem_team_t x = ACLSHMEM_TEAM_INVALID, y = ACLSHMEM_TEAM_INVALID;
  if (f(ACLSHMEM_TEAM_WORLD, 2, &x, &y) != 0) return false;
  const bool places = aclshmem_team_my_pe(x) == me() % 2 && aclshmem_team_my_pe(y) == me() / 2;
  aclshmem_team_destroy(x);
  aclshmem_team_destroy(y);
  return places;
}

}  // namespace conformance
