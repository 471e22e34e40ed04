// Checks of waits and tests; part of checks.h. The left neighbour writes what a wait needs.
#pragma once

#include "tests/kernel/checks.h"

namespace symm::test {

struct Comparison {
  int cmp;
  int before, wanted, after;  // `before` does not satisfy, `after` does
};
constexpr Comparison kComparisons[] = {
    {ACLSHMEM_CMP_EQ, 5, 9, 9}, {ACLSHMEM_CMP_NE, 5, 5, 9}, {ACLSHMEM_CMP_GT, 5, 8, 9},
    {ACLSHMEM_CMP_GE, 5, 9, 9}, {ACLSHMEM_CMP_LT, 5, 5, 3}, {ACLSHMEM_CMP_LE, 5, 4, 3},
};

template <typename T>
void write_right(T* cell, int number, const Ring& ring) {
  symm_dev::put_element(cell, value_of<T>(number), ring.right, "test");
}

template <typename T>
void check_wait(void (*call)(T*, int, T), Done) {
  const Ring ring;
  T* cell = heap<T>(kTargetAt);
  for (const Comparison& c : kComparisons) {
    *cell = value_of<T>(c.before);
    meet();
    write_right(cell, c.after, ring);
    call(cell, c.cmp, value_of<T>(c.wanted));
    require(same(*cell, value_of<T>(c.after)), "returned too early");
    call(cell, c.cmp, value_of<T>(c.wanted));  // holds already: returns at once
    call(cell, 6, value_of<T>(99));            // no such comparison: returns at once
    meet();
  }
}

template <typename T>
void check_wait_ne(void (*call)(T*, T), Done) {
  const Ring ring;
  T* cell = heap<T>(kTargetAt);
  *cell = value_of<T>(5);
  meet();
  write_right(cell, 9, ring);
  call(cell, value_of<T>(5));
  require(same(*cell, value_of<T>(9)), "returned too early");
  meet();
}

constexpr size_t kElements = 5;
constexpr int kStatus[kElements] = {0, 1, 0, 0, 7};  // elements 1 and 4 do not take part
constexpr int kNone[kElements] = {1, 1, 1, 1, 1};

// Element i starts at 0 and is wanted to be at least 10 (scalar) or 10 + i (vector).
template <typename T>
struct Elements {
  T* cells = heap<T>(kTargetAt);
  T wanted[kElements];

  Elements() {
    for (size_t i = 0; i < kElements; ++i) {
      cells[i] = value_of<T>(0);
      wanted[i] = value_of<T>(static_cast<int>(10 + i));
    }
    meet();
  }
  void satisfy(size_t i, const Ring& ring) {
    write_right(cells + i, static_cast<int>(10 + i), ring);
  }
  T low() const { return wanted[0]; }
};

constexpr int kGe = ACLSHMEM_CMP_GE;

template <typename T>
void check_wait_all(void (*call)(T*, size_t, const int*, int, T, T*), Done) {
  const Ring ring;
  {
    Elements<T> e;
    for (size_t i : {0, 2, 3}) e.satisfy(i, ring);
    call(e.cells, kElements, kStatus, kGe, e.low(), e.wanted);
    for (size_t i : {0, 2, 3}) require(same(e.cells[i], e.wanted[i]), "returned too early", 0, i);
    meet();
  }
  Elements<T> e;
  for (size_t i = 0; i < kElements; ++i) e.satisfy(i, ring);
  call(e.cells, kElements, nullptr, kGe, e.low(), e.wanted);
  for (size_t i = 0; i < kElements; ++i)
    require(same(e.cells[i], e.wanted[i]), "returned too early", 1, i);
  call(e.cells, 0, nullptr, ACLSHMEM_CMP_LT, value_of<T>(0), e.wanted);
  call(e.cells, kElements, kNone, ACLSHMEM_CMP_EQ, value_of<T>(99), e.wanted);
  meet();
}

template <typename T>
void check_wait_any(size_t (*call)(T*, size_t, const int*, int, T, T*), Done) {
  const Ring ring;
  {
    Elements<T> e;
    e.satisfy(1, ring);  // left out
    e.satisfy(3, ring);
    require(call(e.cells, kElements, kStatus, kGe, e.low(), e.wanted) == 3, "wrong index");
    require(call(e.cells, 0, nullptr, kGe, e.low(), e.wanted) == SIZE_MAX, "empty set");
    require(call(e.cells, kElements, kNone, kGe, e.low(), e.wanted) == SIZE_MAX, "all left out");
    meet();
  }
  // Repeated calls reach every element that holds.
  Elements<T> e;
  for (size_t i = 0; i < kElements; ++i) e.satisfy(i, ring);
  meet();
  unsigned seen = 0;
  for (int k = 0; k < 20; ++k)
    seen |= 1u << call(e.cells, kElements, nullptr, kGe, e.low(), e.wanted);
  require(seen == 31, "some element is never returned", seen);
  meet();
}

template <typename T>
void check_wait_some(size_t (*call)(T*, size_t, size_t*, const int*, int, T, T*), Done) {
  const Ring ring;
  size_t indices[kElements] = {50, 50, 50, 50, 50};
  Elements<T> e;
  for (size_t i : {1, 2, 3}) e.satisfy(i, ring);
  size_t found = call(e.cells, kElements, indices, kStatus, kGe, e.low(), e.wanted);
  require(found >= 1 && found <= 2, "wrong count", found);
  for (size_t k = 0; k < found; ++k)
    require(indices[k] == 2 || indices[k] == 3, "wrong index", found, indices[k]);
  meet();
  found = call(e.cells, kElements, indices, kStatus, kGe, e.low(), e.wanted);
  require(found == 2 && indices[0] + indices[1] == 5, "wrong set", found);
  require(indices[2] == 50 && indices[4] == 50, "wrote beyond the count");
  require(call(e.cells, 0, indices, nullptr, kGe, e.low(), e.wanted) == 0, "empty set");
  require(call(e.cells, kElements, indices, kNone, kGe, e.low(), e.wanted) == 0, "all left out");
  meet();
}

template <typename T>
void check_test(int (*call)(T*, int, T), Done) {
  T* cell = heap<T>(kTargetAt);
  for (const Comparison& c : kComparisons) {
    *cell = value_of<T>(c.before);
    require(call(cell, c.cmp, value_of<T>(c.wanted)) == 0, "holds too early");
    *cell = value_of<T>(c.after);
    require(call(cell, c.cmp, value_of<T>(c.wanted)) == 1, "does not hold");
    require(call(cell, 17, value_of<T>(c.after)) == 0, "unknown comparison holds");
  }
  meet();
}

template <typename T>
void check_test_any(size_t (*call)(T*, size_t, const int*, int, T, T*), Done) {
  Elements<T> e;
  require(call(e.cells, kElements, nullptr, kGe, e.low(), e.wanted) == SIZE_MAX,
          "nothing holds yet");
  e.cells[2] = e.wanted[2];
  e.cells[4] = e.wanted[4];
  require(call(e.cells, kElements, kStatus, kGe, e.low(), e.wanted) == 2, "wrong index");
  unsigned seen = 0;
  for (int k = 0; k < 20; ++k)
    seen |= 1u << call(e.cells, kElements, nullptr, kGe, e.low(), e.wanted);
  require(seen == 20, "some element is never returned", seen);
  require(call(e.cells, 0, nullptr, kGe, e.low(), e.wanted) == SIZE_MAX, "empty set");
  require(call(e.cells, kElements, nullptr, -1, e.low(), e.wanted) == SIZE_MAX,
          "unknown comparison");
  meet();
}

template <typename T>
void check_test_some(size_t (*call)(T*, size_t, size_t*, const int*, int, T, T*), Done) {
  size_t indices[kElements] = {50, 50, 50, 50, 50};
  Elements<T> e;
  require(call(e.cells, kElements, indices, nullptr, kGe, e.low(), e.wanted) == 0,
          "nothing holds yet");
  for (size_t i : {1, 2, 3}) e.cells[i] = e.wanted[i];
  require(call(e.cells, kElements, indices, kStatus, kGe, e.low(), e.wanted) == 2, "wrong count");
  require(indices[0] + indices[1] == 5 && indices[2] == 50, "wrong set");
  require(call(e.cells, 0, indices, nullptr, kGe, e.low(), e.wanted) == 0, "empty set");
  meet();
}

template <typename T>
void check_test_all(int (*call)(T*, size_t, const int*, int, T, T*), Done) {
  Elements<T> e;
  for (size_t i : {0, 2, 3}) e.cells[i] = e.wanted[i];
  require(call(e.cells, kElements, kStatus, kGe, e.low(), e.wanted) == 1,
          "all that take part hold");
  require(call(e.cells, kElements, nullptr, kGe, e.low(), e.wanted) == 0, "two do not hold");
  require(call(e.cells, 0, nullptr, kGe, e.low(), e.wanted) == 1, "empty set");
  require(call(e.cells, kElements, kNone, kGe, e.low(), e.wanted) == 1, "all left out");
  meet();
}

}  // namespace symm::test
