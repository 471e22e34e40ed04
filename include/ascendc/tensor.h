// LocalTensor (unified buffer) and GlobalTensor (global memory): typed views that own nothing.
// Copies are aliases. Indices and sizes are in elements unless a name says bytes.
#pragma once

#include "ascendc/core.h"

namespace AscendC {

using TBufHandle = uint8_t*;

// Where a local tensor lies. Programs fill it in by hand: every field may be written. bufferAddr is
// an offset into the unified buffer or a host pointer; dataLen is in bytes and 0 when unknown.
struct TBuffAddr {
  uint32_t dataLen = 0;
  uint64_t bufferAddr = 0;
  TBufHandle bufferHandle = nullptr;
  uint8_t logicPos = 0;
};

template <typename T>
class LocalTensor {
 public:
  using PrimType = T;

  LocalTensor() = default;
  explicit LocalTensor(TBuffAddr address) : address_(address) {}
  LocalTensor(TPosition position, uint64_t byte_address, uint32_t elements) {
    address_.logicPos = static_cast<uint8_t>(position);
    address_.bufferAddr = byte_address;
    address_.dataLen = static_cast<uint32_t>(elements * sizeof(T));
  }

  // UB address as an integer; cast it to __ubuf__ T* to use it.
  uint64_t GetPhyAddr() const { return address_.bufferAddr; }
  uint64_t GetPhyAddr(uint64_t offset) const { return address_.bufferAddr + offset * sizeof(T); }

  LocalTensor operator[](uint64_t offset) const {
    LocalTensor part = *this;
    const uint64_t bytes = offset * sizeof(T);
#ifdef SYMM_CHECKED
    if (address_.bufferAddr < symm::kernel::kUbAddressLimit &&
        (offset > symm::kernel::kUbSize || address_.bufferAddr + bytes > symm::kernel::kUbSize)) {
      symm::kernel::fail(
          "LocalTensor::operator[]: element %llu from byte %llu on is outside the "
          "unified buffer of %llu bytes",
          static_cast<unsigned long long>(offset),
          static_cast<unsigned long long>(address_.bufferAddr),
          static_cast<unsigned long long>(symm::kernel::kUbSize));
    }
#endif
    part.address_.bufferAddr += bytes;
    part.address_.dataLen =
        bytes < address_.dataLen ? static_cast<uint32_t>(address_.dataLen - bytes) : 0;
    return part;
  }

  template <typename I>
  T GetValue(I index) const {
    return *element(static_cast<uint64_t>(index), "LocalTensor::GetValue");
  }
  template <typename I, typename U>
  void SetValue(I index, U value) const {
    *element(static_cast<uint64_t>(index), "LocalTensor::SetValue") = static_cast<T>(value);
  }
  template <typename I>
  T& operator()(I index) const {
    return *element(static_cast<uint64_t>(index), "LocalTensor::operator()");
  }

  uint32_t GetSize() const { return static_cast<uint32_t>(address_.dataLen / sizeof(T)); }
  uint32_t GetLength() const { return address_.dataLen; }
  void SetSize(uint32_t elements) {
    address_.dataLen = static_cast<uint32_t>(elements * sizeof(T));
  }
  TPosition GetPosition() const { return static_cast<TPosition>(address_.logicPos); }

  template <typename U>
  LocalTensor<U> ReinterpretCast() const {
    LocalTensor<U> result(address_);
    result.SetUserTag(tag_);
    return result;
  }

  void SetAddr(const TBuffAddr& address) { address_ = address; }
  void SetAddrWithOffset(const LocalTensor& source, uint32_t offset) { *this = source[offset]; }
  template <typename U>
  void SetAddrWithOffset(const LocalTensor<U>& source, uint32_t offset) {
    address_ = source.address_;
    const uint64_t bytes = uint64_t{offset} * sizeof(U);
    address_.bufferAddr += bytes;
    address_.dataLen =
        bytes < address_.dataLen ? static_cast<uint32_t>(address_.dataLen - bytes) : 0;
  }
  void SetUserTag(int32_t tag) { tag_ = tag; }
  int32_t GetUserTag() const { return tag_; }

  TBuffAddr address_;

 private:
  T* element(uint64_t index, const char* call) const {
    constexpr uint64_t kMost = uint64_t{1}
                               << 40;  // elements; more than any buffer, and no overflow
    if (__builtin_expect(index >= kMost, 0)) index = kMost;
#ifdef SYMM_CHECKED
    if (address_.dataLen != 0 && index >= GetSize()) {
      symm::kernel::fail("%s: element %llu of a tensor of %u elements", call,
                         static_cast<unsigned long long>(index), GetSize());
    }
#endif
    return reinterpret_cast<T*>(
        symm::kernel::ub_element(address_.bufferAddr, index * sizeof(T), sizeof(T), call));
  }

  int32_t tag_ = 0;
};

template <typename T>
class GlobalTensor {
 public:
  using PrimType = T;

  // The tensor views `elements` elements from `buffer` on; without a size it is unbounded.
  void SetGlobalBuffer(__gm__ T* buffer, uint64_t elements) {
    address_ = buffer;
    size_ = elements;
  }
  void SetGlobalBuffer(__gm__ T* buffer) { SetGlobalBuffer(buffer, 0); }

  __gm__ T* GetPhyAddr() const { return address_; }
  __gm__ T* GetPhyAddr(uint64_t offset) const { return address_ + offset; }

  GlobalTensor operator[](uint64_t offset) const {
    GlobalTensor part = *this;
    part.address_ = address_ + offset;
    part.size_ = offset < size_ ? size_ - offset : 0;
    return part;
  }

  T GetValue(uint64_t index) const { return address_[index]; }
  void SetValue(uint64_t index, T value) const { address_[index] = value; }
  __gm__ T& operator()(uint64_t index) const { return address_[index]; }

  uint64_t GetSize() const { return size_; }
  template <typename U>
  GlobalTensor<U> ReinterpretCast() const {
    GlobalTensor<U> result;
    result.SetGlobalBuffer(reinterpret_cast<__gm__ U*>(address_), size_ * sizeof(T) / sizeof(U));
    return result;
  }
  // A hint for a cache that this device does not have.
  template <typename Mode>
  void SetL2CacheHint(Mode) {}

  __gm__ T* address_ = nullptr;

 private:
  uint64_t size_ = 0;
};

}  // namespace AscendC

namespace symm::kernel {

// Host pointer to the first `elements` of a local tensor, checked against the arena and the
// tensor's own size if known.
template <typename T>
T* local_data(const AscendC::LocalTensor<T>& tensor, uint64_t bytes, const char* call) {
  if (__builtin_expect(
          tensor.address_.dataLen != 0 && bytes > round_up(tensor.address_.dataLen, kUbBlock), 0)) {
    fail("%s: %llu bytes do not fit the local tensor of %u bytes", call,
         static_cast<unsigned long long>(bytes), tensor.address_.dataLen);
  }
  return reinterpret_cast<T*>(ub_range(tensor.address_.bufferAddr, bytes, call));
}

template <typename T>
T* global_data(const AscendC::GlobalTensor<T>& tensor, const char* call) {
  if (__builtin_expect(tensor.address_ == nullptr, 0)) {
    fail("%s: the global tensor has no memory; call SetGlobalBuffer first", call);
  }
  return tensor.address_;
}

}  // namespace symm::kernel
