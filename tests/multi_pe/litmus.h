// Litmus tests of what the memory model promises (docs/ordering.md), between PE 0 and PE 1. Each
// body runs on both PEs and returns how many forbidden outcomes its PE saw. Rounds are cells of a
// block that both PEs walk through, a barrier between blocks: the two run against each other
// without a handshake in each round.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "shmem.h"

namespace symm::test {

inline constexpr int kCells = 4096;

// One line each for data and flag, so that they travel apart.
struct alignas(64) Line {
  uint64_t words[8];
};

struct Arena {
  Line* data = static_cast<Line*>(aclshmem_align(64, kCells * sizeof(Line)));
  Line* flag = static_cast<Line*>(aclshmem_align(64, kCells * sizeof(Line)));
  Arena() {
    std::memset(static_cast<void*>(data), 0, kCells * sizeof(Line));
    std::memset(static_cast<void*>(flag), 0, kCells * sizeof(Line));
    aclshmem_barrier_all();
  }
  ~Arena() {
    aclshmem_free(flag);
    aclshmem_free(data);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
};

// block(number) handles kCells rounds on this PE.
template <typename Block>
int64_t run_blocks(int64_t rounds, Block block) {
  int64_t wrong = 0;
  for (int64_t number = 1; number * kCells <= rounds + kCells - 1; ++number) {
    wrong += block(static_cast<uint64_t>(number));
    aclshmem_barrier_all();
  }
  return wrong;
}

inline bool all_are(const Line& line, uint64_t value) {
  return std::all_of(line.words, line.words + 8, [=](uint64_t word) { return word == value; });
}

// Message passing: `send(arena, cell, value)` on PE 0 puts a line and raises a flag; `arrive` on PE
// 1 waits for it. The line must be there.
template <typename Send, typename Arrive>
int64_t message_passing(int64_t rounds, Send send, Arrive arrive) {
  Arena arena;
  return run_blocks(rounds, [&](uint64_t number) -> int64_t {
    int64_t wrong = 0;
    for (int cell = 0; cell < kCells; ++cell) {
      if (aclshmem_my_pe() == 0) {
        Line line;
        std::fill(line.words, line.words + 8, number * kCells + static_cast<uint64_t>(cell));
        send(arena, cell, line, number);
      } else {
        arrive(arena, cell, number);
        if (!all_are(arena.data[cell], number * kCells + static_cast<uint64_t>(cell))) ++wrong;
      }
    }
    return wrong;
  });
}

inline void wait_for_flag(Arena& arena, int cell, uint64_t number) {
  aclshmem_uint64_wait_until(arena.flag[cell].words, ACLSHMEM_CMP_GE, number);
}

// A1, A10, FAULTS F4: put, fence, put of a flag, wait.
inline int64_t put_fence_put(int64_t rounds) {
  return message_passing(
      rounds,
      [](Arena& arena, int cell, Line& line, uint64_t number) {
        aclshmem_putmem(&arena.data[cell], &line, sizeof(line), 1);
        aclshmem_fence();
        aclshmem_uint64_p(arena.flag[cell].words, number, 1);
      },
      wait_for_flag);
}

// FAULTS F6, A16: a copy and an atomic as the flag; odd cells add, even ones set.
inline int64_t put_fence_atomic(int64_t rounds) {
  return message_passing(
      rounds,
      [](Arena& arena, int cell, Line& line, uint64_t number) {
        aclshmem_uint64_put_nbi(arena.data[cell].words, line.words, 8, 1);
        aclshmem_fence();
        if (cell % 2 == 0) {
          aclshmem_uint64_atomic_set(arena.flag[cell].words, number, 1);
        } else {
          aclshmem_uint64_atomic_inc(arena.flag[cell].words, 1);
        }
      },
      wait_for_flag);
}

// The other way: atomics as data, a copy as the flag.
inline int64_t atomic_fence_put(int64_t rounds) {
  return message_passing(
      rounds,
      [](Arena& arena, int cell, Line& line, uint64_t number) {
        for (int i = 0; i < 8; ++i) {
          aclshmem_uint64_atomic_set(&arena.data[cell].words[i], line.words[0], 1);
        }
        aclshmem_fence();
        aclshmem_putmem(arena.flag[cell].words, &number, sizeof(number), 1);
      },
      wait_for_flag);
}

// A17: stores through aclshmem_ptr are part of it.
inline int64_t store_fence_put(int64_t rounds) {
  return message_passing(
      rounds,
      [](Arena& arena, int cell, Line& line, uint64_t number) {
        auto* there = static_cast<Line*>(aclshmem_ptr(&arena.data[cell], 1));
        std::memcpy(there, &line, sizeof(line));
        aclshmem_fence();
        aclshmem_uint64_p(arena.flag[cell].words, number, 1);
      },
      wait_for_flag);
}

// FAULTS F2, B11: put with signal; the data of the same call.
inline int64_t put_signal(int64_t rounds) {
  return message_passing(
      rounds,
      [](Arena& arena, int cell, Line& line, uint64_t number) {
        aclshmemx_putmem_signal64(&arena.data[cell], &line, sizeof(line), arena.flag[cell].words,
                                  number, ACLSHMEM_SIGNAL_SET, 1);
      },
      [](Arena& arena, int cell, uint64_t number) {
        aclshmemx_signal64_wait_until(arena.flag[cell].words, ACLSHMEM_CMP_GE, number);
      });
}

// Tests instead of waits: they acquire too.
inline int64_t put_fence_put_test(int64_t rounds) {
  return message_passing(
      rounds,
      [](Arena& arena, int cell, Line& line, uint64_t number) {
        aclshmem_putmem(&arena.data[cell], &line, sizeof(line), 1);
        aclshmem_fence();
        aclshmem_uint64_p(arena.flag[cell].words, number, 1);
      },
      [](Arena& arena, int cell, uint64_t number) {
        int there = 0;
        aclshmem_uint64_test(arena.flag[cell].words, ACLSHMEM_CMP_GE, number, &there);
        if (there == 0) wait_for_flag(arena, cell, number);
      });
}

// FAULTS F1, A15: eight puts that count up one signal; all eight are there when it says eight.
inline int64_t counting_signal(int64_t rounds) {
  Arena arena;
  return run_blocks(rounds, [&](uint64_t number) -> int64_t {
    int64_t wrong = 0;
    for (int cell = 0; cell + 8 <= kCells; cell += 8) {
      uint64_t* signal = arena.flag[cell].words;
      if (aclshmem_my_pe() == 0) {
        Line lines[8];
        for (int i = 0; i < 8; ++i) {
          std::fill(lines[i].words, lines[i].words + 8, number + static_cast<uint64_t>(i));
          aclshmemx_putmem_signal64_nbi(&arena.data[cell + i], &lines[i], sizeof(Line), signal, 1,
                                        ACLSHMEM_SIGNAL_ADD, 1);
        }
        aclshmem_quiet();
      } else {
        aclshmemx_signal64_wait_until(signal, ACLSHMEM_CMP_GE, number * 8);
        for (int i = 0; i < 8; ++i) {
          if (!all_are(arena.data[cell + i], number + static_cast<uint64_t>(i))) ++wrong;
        }
      }
    }
    return wrong;
  });
}

// Store buffering: each puts its own word, completes it, and gets the other's. That both get the
// old value is forbidden: the later of the two gets comes after the completion of the other's put.
inline int64_t store_buffering(int64_t rounds) {
  Arena arena;
  const int me = aclshmem_my_pe();
  auto* seen = static_cast<uint64_t*>(aclshmem_calloc(2 * kCells, sizeof(uint64_t)));
  const int64_t wrong = run_blocks(rounds, [&](uint64_t number) -> int64_t {
    // x lives on PE 0 (data), y on PE 1 (flag).
    Line* mine = me == 0 ? arena.data : arena.flag;
    Line* other = me == 0 ? arena.flag : arena.data;
    for (int cell = 0; cell < kCells; ++cell) {
      aclshmem_uint64_p(mine[cell].words, number, me);
      aclshmem_quiet();
      const uint64_t value = aclshmem_uint64_g(other[cell].words, 1 - me);
      aclshmem_uint64_p(&seen[me * kCells + cell], value, 0);
    }
    aclshmem_barrier_all();
    int64_t both = 0;
    for (int cell = 0; me == 0 && cell < kCells; ++cell) {
      if (seen[cell] < number && seen[kCells + cell] < number) ++both;
    }
    return both;
  });
  aclshmem_free(seen);
  return wrong;
}

// C5: nothing is lost and every old value is seen once.
inline int64_t counter(int64_t rounds) {
  auto* word = static_cast<uint64_t*>(aclshmem_calloc(1, sizeof(uint64_t)));
  int64_t wrong = 0;
  uint64_t last = 0;
  for (int64_t i = 0; i < rounds; ++i) {
    const uint64_t old = aclshmem_uint64_atomic_fetch_inc(word, 0);
    if (i > 0 && old <= last) ++wrong;
    last = old;
  }
  aclshmem_barrier_all();
  if (aclshmem_uint64_atomic_fetch(word, 0) != 2 * static_cast<uint64_t>(rounds)) ++wrong;
  aclshmem_free(word);
  return wrong;
}

// FAULTS F8: what was put to oneself is there.
inline int64_t self(int64_t rounds) {
  Arena arena;
  const int me = aclshmem_my_pe();
  int64_t wrong = 0;
  for (int64_t i = 1; i <= rounds; ++i) {
    Line line;
    std::fill(line.words, line.words + 8, static_cast<uint64_t>(i));
    Line& target = arena.data[i % kCells];
    if (i % 2 == 0) {
      aclshmem_putmem(&target, &line, sizeof(line), me);
    } else {
      aclshmem_putmem_nbi(&target, &line, sizeof(line), me);
      if (i % 64 == 1) aclshmem_quiet();
    }
    if (!all_are(target, static_cast<uint64_t>(i))) ++wrong;
  }
  return wrong;
}

struct Litmus {
  const char* name;
  int64_t (*run)(int64_t rounds);
};

inline constexpr Litmus kLitmus[] = {
    {"FaultF4_PutFencePut", put_fence_put},
    {"FaultF6_PutFenceAtomic", put_fence_atomic},
    {"AtomicFencePut", atomic_fence_put},
    {"StoreFencePut", store_fence_put},
    {"FaultF2_PutSignal", put_signal},
    {"PutFencePutTest", put_fence_put_test},
    {"FaultF1_CountingSignal", counting_signal},
    {"StoreBuffering", store_buffering},
    {"Counter", counter},
    {"FaultF8_Self", self},
};

}  // namespace symm::test
