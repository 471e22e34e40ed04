// DataCopy and DataCopyPad between global memory (GM) and the unified buffer (UB). Blocking: the
// data is there when the call returns. UB to GM honours the core's atomic mode (atomic.h). Units
// are stated per function; GM needs only the alignment of the element, UB addresses are multiples
// of 32 bytes on hardware (checked with SYMM_CHECKED).
#pragma once

#include "ascendc/atomic.h"

namespace AscendC {

// All four in units of 32 bytes except blockCount; a gap runs from the end of a block to the start
// of the next.
struct DataCopyParams {
  uint16_t blockCount = 1;
  uint16_t blockLen = 0;
  union {
    uint16_t srcGap = 0;
    uint16_t srcStride;
  };
  union {
    uint16_t dstGap = 0;
    uint16_t dstStride;
  };

  constexpr DataCopyParams() {}
  constexpr DataCopyParams(uint16_t count, uint16_t length, uint16_t source_gap,
                           uint16_t destination_gap)
      : blockCount(count), blockLen(length), srcGap(source_gap), dstGap(destination_gap) {}
};

// blockLen in bytes. Strides are gaps: bytes on the GM side, units of 32 bytes on the UB side.
struct DataCopyExtParams {
#if __NPU_ARCH__ == 3510
  using Stride = int64_t;
#else
  using Stride = uint32_t;
#endif
  uint16_t blockCount = 1;
  uint32_t blockLen = 0;
  Stride srcStride = 0;
  Stride dstStride = 0;
  uint32_t rsv = 0;

  constexpr DataCopyExtParams() {}
  constexpr DataCopyExtParams(uint16_t count, uint32_t length, Stride source_stride,
                              Stride destination_stride, uint32_t reserved)
      : blockCount(count),
        blockLen(length),
        srcStride(source_stride),
        dstStride(destination_stride),
        rsv(reserved) {}
};

// Paddings in elements, at most 32 bytes each.
template <typename T>
struct DataCopyPadExtParams {
  bool isPad = false;
  uint8_t leftPadding = 0;
  uint8_t rightPadding = 0;
  T padValue = T(0);

  constexpr DataCopyPadExtParams() {}
  template <typename V>
  constexpr DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, V value)
      : isPad(pad), leftPadding(left), rightPadding(right), padValue(static_cast<T>(value)) {}
};

// The older form: the value is raw bits.
struct DataCopyPadParams {
  bool isPad = false;
  uint8_t leftPadding = 0;
  uint8_t rightPadding = 0;
  uint64_t paddingValue = 0;

  constexpr DataCopyPadParams() {}
  constexpr DataCopyPadParams(bool pad, uint8_t left, uint8_t right, uint64_t value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
};

}  // namespace AscendC

namespace symm::kernel {

// Blocks of `bytes` with the given distances between their starts, in bytes.
struct Blocks {
  uint64_t count;
  uint64_t bytes;
  int64_t source_step;
  int64_t target_step;
};

// First byte past the last block, from the first one; for range checks. Steps may be negative only
// on the GM side.
constexpr uint64_t extent(uint64_t count, uint64_t bytes, int64_t step) {
  return count == 0 ? 0 : (count - 1) * static_cast<uint64_t>(step) + bytes;
}

template <typename T>
void store_blocks(T* target, const T* source, const Blocks& blocks) {
  for (uint64_t i = 0; i < blocks.count; ++i) {
    const int64_t n = static_cast<int64_t>(i);
    store_to_global(
        reinterpret_cast<T*>(reinterpret_cast<uint8_t*>(target) + n * blocks.target_step),
        reinterpret_cast<const T*>(reinterpret_cast<const uint8_t*>(source) +
                                   n * blocks.source_step),
        blocks.bytes);
  }
}

inline void check_alignment(const void* address, const char* call) {
#ifdef SYMM_CHECKED
  if (reinterpret_cast<uintptr_t>(address) % kUbBlock != 0) {
    fail("%s: UB address %p is not a multiple of 32 bytes", call, address);
  }
#else
  (void)address, (void)call;
#endif
}

template <typename T>
void copy_in(const AscendC::LocalTensor<T>& target, const AscendC::GlobalTensor<T>& source,
             const Blocks& blocks, const char* call) {
  if (blocks.count == 0 || blocks.bytes == 0) return;
  T* to = local_data(target, extent(blocks.count, blocks.bytes, blocks.target_step), call);
  const T* from = global_data(source, call);
  check_alignment(to, call);
  for (uint64_t i = 0; i < blocks.count; ++i) {
    const int64_t n = static_cast<int64_t>(i);
    std::memcpy(reinterpret_cast<uint8_t*>(to) + n * blocks.target_step,
                reinterpret_cast<const uint8_t*>(from) + n * blocks.source_step, blocks.bytes);
  }
}

template <typename T>
void copy_out(const AscendC::GlobalTensor<T>& target, const AscendC::LocalTensor<T>& source,
              const Blocks& blocks, const char* call) {
  if (blocks.count == 0 || blocks.bytes == 0) return;
  const T* from = local_data(source, extent(blocks.count, blocks.bytes, blocks.source_step), call);
  check_alignment(from, call);
  store_blocks(global_data(target, call), from, blocks);
}

template <typename T>
void copy_within(const AscendC::LocalTensor<T>& target, const AscendC::LocalTensor<T>& source,
                 const Blocks& blocks, const char* call) {
  if (blocks.count == 0 || blocks.bytes == 0) return;
  T* to = local_data(target, extent(blocks.count, blocks.bytes, blocks.target_step), call);
  const T* from = local_data(source, extent(blocks.count, blocks.bytes, blocks.source_step), call);
  check_alignment(to, call);
  check_alignment(from, call);
  for (uint64_t i = 0; i < blocks.count; ++i) {
    const int64_t n = static_cast<int64_t>(i);
    std::memmove(reinterpret_cast<uint8_t*>(to) + n * blocks.target_step,
                 reinterpret_cast<const uint8_t*>(from) + n * blocks.source_step, blocks.bytes);
  }
}

template <typename T>
constexpr Blocks count_blocks(uint64_t count) {
  const uint64_t bytes = count * sizeof(T) / kUbBlock * kUbBlock;
  return {1, bytes, 0, 0};
}
inline Blocks unit_blocks(const AscendC::DataCopyParams& p) {
  const uint64_t unit = kUbBlock;
  return {p.blockCount, p.blockLen * unit,
          static_cast<int64_t>((uint64_t{p.blockLen} + p.srcGap) * unit),
          static_cast<int64_t>((uint64_t{p.blockLen} + p.dstGap) * unit)};
}

inline void check_block_length(uint64_t bytes, uint64_t element, const char* call) {
  if (bytes > 2097151) {
    fail("%s: blockLen is %llu bytes, at most 2097151 are allowed", call,
         static_cast<unsigned long long>(bytes));
  }
  if (bytes % element != 0) {
    fail("%s: blockLen of %llu bytes is not a multiple of the element size %llu", call,
         static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(element));
  }
}

// GM to UB with padding: each block takes left + blockLen + right, rounded up to 32 bytes, in UB.
template <typename T, typename Bits>
void copy_in_padded(const AscendC::LocalTensor<T>& target, const AscendC::GlobalTensor<T>& source,
                    const AscendC::DataCopyExtParams& p, uint64_t left, uint64_t right, Bits fill,
                    const char* call) {
  check_block_length(p.blockLen, sizeof(T), call);
  if (p.blockCount == 0 || p.blockLen == 0) return;
  if (left * sizeof(T) > kUbBlock || right * sizeof(T) > kUbBlock) {
    fail("%s: paddings of %llu and %llu elements, at most 32 bytes each are allowed", call,
         static_cast<unsigned long long>(left), static_cast<unsigned long long>(right));
  }
  const uint64_t bytes = left * sizeof(T) + p.blockLen + right * sizeof(T);
  const uint64_t step = round_up(bytes, kUbBlock) + static_cast<uint64_t>(p.dstStride) * kUbBlock;
  T* to = local_data(target, extent(p.blockCount, bytes, static_cast<int64_t>(step)), call);
  const T* from = global_data(source, call);
  check_alignment(to, call);
  for (uint64_t i = 0; i < p.blockCount; ++i) {
    uint8_t* block = reinterpret_cast<uint8_t*>(to) + i * step;
    const int64_t distance =
        static_cast<int64_t>(i) * (static_cast<int64_t>(p.blockLen) + p.srcStride);
    for (uint64_t k = 0; k < left; ++k) std::memcpy(block + k * sizeof(T), &fill, sizeof(T));
    std::memcpy(block + left * sizeof(T), reinterpret_cast<const uint8_t*>(from) + distance,
                p.blockLen);
    uint8_t* tail = block + left * sizeof(T) + p.blockLen;
    for (uint64_t k = 0; k < right; ++k) std::memcpy(tail + k * sizeof(T), &fill, sizeof(T));
  }
}

}  // namespace symm::kernel

namespace AscendC {

// GM to UB. blockLen bytes per block, any multiple of the element; blocks start at multiples of 32
// bytes in UB. Without padding, what lies between the end of a block and the next multiple of 32
// bytes is unspecified.
template <typename T>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                        const DataCopyExtParams& params, const DataCopyPadExtParams<T>& padding) {
  symm::kernel::copy_in_padded(dst, src, params, padding.isPad ? padding.leftPadding : 0,
                               padding.isPad ? padding.rightPadding : 0, padding.padValue,
                               "DataCopyPad");
}
// The padding value may be of another type than the elements.
template <typename T, typename P>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                        const DataCopyExtParams& params, const DataCopyPadExtParams<P>& padding) {
  DataCopyPad(dst, src, params,
              DataCopyPadExtParams<T>(padding.isPad, padding.leftPadding, padding.rightPadding,
                                      padding.padValue));
}
template <typename T>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                        const DataCopyExtParams& params) {
  symm::kernel::copy_in_padded(dst, src, params, 0, 0, T(0), "DataCopyPad");
}
template <typename T>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                        const DataCopyParams& params, const DataCopyPadParams& padding) {
  const DataCopyExtParams extended(params.blockCount, params.blockLen, params.srcStride,
                                   params.dstStride, 0);
  symm::kernel::copy_in_padded(dst, src, extended, padding.isPad ? padding.leftPadding : 0,
                               padding.isPad ? padding.rightPadding : 0, padding.paddingValue,
                               "DataCopyPad");
}

// UB to GM: exactly blockLen bytes per block are written.
template <typename T>
inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                        const DataCopyExtParams& params) {
  symm::kernel::check_block_length(params.blockLen, sizeof(T), "DataCopyPad");
  const uint64_t unit = symm::kernel::kUbBlock;
  const uint64_t padded = symm::kernel::round_up(params.blockLen, unit);
  const symm::kernel::Blocks blocks{
      params.blockCount, params.blockLen,
      static_cast<int64_t>(padded + static_cast<uint64_t>(params.srcStride) * unit),
      static_cast<int64_t>(params.blockLen) + static_cast<int64_t>(params.dstStride)};
  symm::kernel::copy_out(dst, src, blocks, "DataCopyPad");
}
template <typename T>
inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                        const DataCopyParams& params) {
  DataCopyPad(
      dst, src,
      DataCopyExtParams(params.blockCount, params.blockLen, params.srcStride, params.dstStride, 0));
}

// `count` elements; the length in bytes is rounded down to a multiple of 32.
template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, uint32_t count) {
  symm::kernel::copy_in(dst, src, symm::kernel::count_blocks<T>(count), "DataCopy");
}
template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, uint32_t count) {
  symm::kernel::copy_out(dst, src, symm::kernel::count_blocks<T>(count), "DataCopy");
}
template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint32_t count) {
  symm::kernel::copy_within(dst, src, symm::kernel::count_blocks<T>(count), "DataCopy");
}

// Lengths and gaps in units of 32 bytes on both sides.
template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                     const DataCopyParams& params) {
  symm::kernel::copy_in(dst, src, symm::kernel::unit_blocks(params), "DataCopy");
}
template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                     const DataCopyParams& params) {
  symm::kernel::copy_out(dst, src, symm::kernel::unit_blocks(params), "DataCopy");
}
template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                     const DataCopyParams& params) {
  symm::kernel::copy_within(dst, src, symm::kernel::unit_blocks(params), "DataCopy");
}

}  // namespace AscendC
