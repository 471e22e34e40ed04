// The limits: what the memory does behind one function call, in a shared library as ours is.
#pragma once

#include <cstddef>
#include <cstdint>

void raw_store(int64_t* to, int64_t value);
int64_t raw_load(const int64_t* from);
void raw_add(int64_t* to, int64_t value);
int64_t raw_fetch_add(int64_t* to, int64_t value);
int64_t raw_swap(int64_t* to, int64_t value);
int64_t raw_compare_swap(int64_t* to, int64_t cond, int64_t value);
// Stores past the caches; sizes in multiples of 64 bytes.
void raw_streamed_copy(void* to, const void* from, size_t bytes);
