// TPipe hands out the unified buffer from offset 0 on; TBuf and TQue are buffers and queues made
// from it. Everything is local to one core. Misuse that hangs or corrupts on hardware ends the
// kernel with a message here.
#pragma once

#include "ascendc/tensor.h"

namespace AscendC {

inline constexpr uint32_t kMaxBuffers = 64;  // per pipe

// A buffer that TPipe::InitBuffer filled in. `position` only matters to the hardware.
template <TPosition position = TPosition::LCM>
class TBuf {
 public:
  // View of the whole buffer, or of its first `elements`.
  template <typename T>
  LocalTensor<T> Get() {
    return view<T>(0, bytes_, "TBuf::Get");
  }
  template <typename T>
  LocalTensor<T> Get(uint32_t elements) {
    return view<T>(0, uint64_t{elements} * sizeof(T), "TBuf::Get");
  }
  // `elements` elements from byte offset `offset` on.
  template <typename T>
  LocalTensor<T> GetWithOffset(uint32_t elements, uint32_t offset) {
    return view<T>(offset, uint64_t{elements} * sizeof(T), "TBuf::GetWithOffset");
  }
  uint32_t GetBufferSize() const { return bytes_; }

 private:
  friend class TPipe;

  template <typename T>
  LocalTensor<T> view(uint64_t offset, uint64_t bytes, const char* call) {
    if (bytes_ == 0)
      symm::kernel::fail("%s: the buffer was not made; call TPipe::InitBuffer first", call);
    if (offset + bytes > bytes_) {
      symm::kernel::fail("%s: bytes %llu to %llu are outside the buffer of %u bytes", call,
                         static_cast<unsigned long long>(offset),
                         static_cast<unsigned long long>(offset + bytes), bytes_);
    }
    TBuffAddr address;
    address.bufferAddr = start_ + offset;
    address.dataLen = static_cast<uint32_t>(bytes);
    address.logicPos = static_cast<uint8_t>(position);
    return LocalTensor<T>(address);
  }

  uint64_t start_ = 0;
  uint32_t bytes_ = 0;
};

// A ring of buffers between two stages of a kernel. A buffer is idle, then allocated, then (EnQue)
// queued, then (DeQue) taken, then freed. One core runs all stages, so nothing ever waits: what
// would wait is an error.
template <TPosition source, TPosition destination, int32_t depth, auto mask = 0>
class TQueBind {
 public:
  template <typename T>
  LocalTensor<T> AllocTensor() {
    check_made("TQue::AllocTensor");
    for (uint32_t tries = 0; tries < count_; ++tries) {
      const uint32_t slot = next_;
      next_ = (next_ + 1) % count_;
      if (used_ & bit(slot)) continue;
      used_ |= bit(slot);
      return tensor<T>(slot, source);
    }
    symm::kernel::fail(
        "TQue::AllocTensor: all %u buffers of the queue are in use; free one first or give "
        "InitBuffer a larger number",
        count_);
  }
  template <typename T>
  void AllocTensor(LocalTensor<T>& tensor) {
    tensor = AllocTensor<T>();
  }

  template <typename T>
  void FreeTensor(const LocalTensor<T>& tensor) {
    const uint32_t slot = slot_of(tensor.address_.bufferAddr, "TQue::FreeTensor");
    if (!(used_ & bit(slot)))
      symm::kernel::fail("TQue::FreeTensor: buffer %u is free already", slot);
    if (queued_ & bit(slot)) {
      symm::kernel::fail(
          "TQue::FreeTensor: buffer %u is still in the queue; take it out with DeQue first", slot);
    }
    used_ &= ~bit(slot);
  }

  template <typename T>
  bool EnQue(const LocalTensor<T>& tensor) {
    const uint32_t slot = slot_of(tensor.address_.bufferAddr, "TQue::EnQue");
    if (!(used_ & bit(slot))) symm::kernel::fail("TQue::EnQue: buffer %u was not allocated", slot);
    if (queued_ & bit(slot))
      symm::kernel::fail("TQue::EnQue: buffer %u is in the queue already", slot);
    if (length_ >= capacity()) {
      symm::kernel::fail(
          "TQue::EnQue: the queue is full, its depth is %d; the hardware would wait forever",
          depth);
    }
    queued_ |= bit(slot);
    order_[(first_ + length_) % kMaxBuffers] = static_cast<uint8_t>(slot);
    ++length_;
    symm::kernel::compiler_barrier();
    return true;
  }
  template <TPosition, TPosition, typename T>
  bool EnQue(const LocalTensor<T>& tensor) {
    return EnQue(tensor);
  }

  template <typename T>
  LocalTensor<T> DeQue() {
    check_made("TQue::DeQue");
    if (length_ == 0)
      symm::kernel::fail("TQue::DeQue: the queue is empty; the hardware would wait forever");
    const uint32_t slot = order_[first_];
    first_ = (first_ + 1) % kMaxBuffers;
    --length_;
    queued_ &= ~bit(slot);
    symm::kernel::compiler_barrier();
    return tensor<T>(slot, destination);
  }
  template <typename T>
  void DeQue(LocalTensor<T>& tensor) {
    tensor = DeQue<T>();
  }
  template <TPosition, TPosition, typename T>
  LocalTensor<T> DeQue() {
    return DeQue<T>();
  }

  bool VacantInQue() const { return length_ < capacity(); }
  bool HasTensorInQue() const { return length_ != 0; }
  int32_t GetTensorCountInQue() const { return static_cast<int32_t>(length_); }
  bool HasIdleBuffer() const { return used_ != (count_ == 64 ? ~uint64_t{0} : bit(count_) - 1); }
  void FreeAllEvent() {}

 private:
  friend class TPipe;

  static constexpr uint64_t bit(uint32_t slot) { return uint64_t{1} << slot; }
  static constexpr uint32_t capacity() { return depth > 0 ? static_cast<uint32_t>(depth) : 1; }

  void check_made(const char* call) const {
    if (count_ == 0)
      symm::kernel::fail("%s: the queue has no buffers; call TPipe::InitBuffer first", call);
  }

  template <typename T>
  LocalTensor<T> tensor(uint32_t slot, TPosition position) const {
    TBuffAddr address;
    address.bufferAddr = start_ + uint64_t{slot} * bytes_;
    address.dataLen = bytes_;
    address.logicPos = static_cast<uint8_t>(position);
    return LocalTensor<T>(address);
  }

  uint32_t slot_of(uint64_t address, const char* call) const {
    check_made(call);
    if (address < start_ || address >= start_ + uint64_t{bytes_} * count_) {
      symm::kernel::fail("%s: the tensor at %#llx is not a buffer of this queue", call,
                         static_cast<unsigned long long>(address));
    }
    return static_cast<uint32_t>((address - start_) / bytes_);
  }

  uint64_t start_ = 0;
  uint32_t bytes_ = 0;
  uint32_t count_ = 0;
  uint32_t next_ = 0;
  uint32_t first_ = 0;
  uint32_t length_ = 0;
  uint64_t used_ = 0;
  uint64_t queued_ = 0;
  uint8_t order_[kMaxBuffers] = {};
};

template <TPosition position, int32_t depth, auto mask = 0>
using TQue = TQueBind<position, position, depth, mask>;

// Starts at offset 0 of the unified buffer; a second pipe starts there again.
class TPipe {
 public:
  TPipe() { Init(); }
  ~TPipe() { Destroy(); }
  TPipe(const TPipe&) = delete;
  TPipe& operator=(const TPipe&) = delete;

  void Init() {
    used_ = 0;
    buffers_ = 0;
    symm_core* core = symm::kernel::core("TPipe");
    core->ub_used = 0;
    symm::kernel::language("TPipe").pipe = this;
    live_ = true;
  }

  // Releases all buffers.
  void Destroy() {
    if (!live_) return;
    live_ = false;
    Reset();
    symm_core* core = symm_rt_core();
    if (core == nullptr) return;
    auto& language = *reinterpret_cast<symm::kernel::CoreLanguage*>(core->language);
    if (language.pipe == this) language.pipe = nullptr;
  }

  void Reset() {
    used_ = 0;
    buffers_ = 0;
    symm_core* core = symm_rt_core();
    if (core != nullptr) core->ub_used = 0;
  }

  // `number` buffers of `bytes` each, rounded up to 32.
  template <TPosition source, TPosition destination, int32_t depth, auto mask>
  bool InitBuffer(TQueBind<source, destination, depth, mask>& queue, uint8_t number,
                  uint32_t bytes) {
    if (number == 0) symm::kernel::fail("TPipe::InitBuffer: a queue needs at least one buffer");
    queue = {};
    queue.bytes_ = static_cast<uint32_t>(symm::kernel::round_up(bytes, symm::kernel::kUbBlock));
    queue.start_ = take(queue.bytes_, number);
    queue.count_ = number;
    return true;
  }
  template <TPosition position>
  bool InitBuffer(TBuf<position>& buffer, uint32_t bytes) {
    buffer.bytes_ = static_cast<uint32_t>(symm::kernel::round_up(bytes, symm::kernel::kUbBlock));
    buffer.start_ = take(buffer.bytes_, 1);
    return true;
  }

  // Ids 0..7 of one event, for SetFlag and WaitFlag.
  template <HardEvent event>
  TEventID AllocEventID() {
    uint8_t& taken =
        symm::kernel::language("TPipe::AllocEventID").event_ids[static_cast<int>(event)];
    for (int id = 0; id < 8; ++id) {
      if (taken & (1u << id)) continue;
      taken = static_cast<uint8_t>(taken | (1u << id));
      return static_cast<TEventID>(id);
    }
    symm::kernel::fail("TPipe::AllocEventID: all 8 ids of event %d are taken; release one",
                       static_cast<int>(event));
  }
  template <HardEvent event>
  void ReleaseEventID(TEventID id) {
    uint8_t& taken =
        symm::kernel::language("TPipe::ReleaseEventID").event_ids[static_cast<int>(event)];
    taken = static_cast<uint8_t>(taken & ~(1u << id));
  }
  // A free id, which stays free.
  TEventID FetchEventID(HardEvent event) {
    const uint8_t taken =
        symm::kernel::language("TPipe::FetchEventID").event_ids[static_cast<int>(event)];
    for (int id = 0; id < 8; ++id) {
      if (!(taken & (1u << id))) return static_cast<TEventID>(id);
    }
    symm::kernel::fail("TPipe::FetchEventID: all 8 ids of event %d are taken; release one",
                       static_cast<int>(event));
  }
  template <HardEvent event>
  TEventID FetchEventID() {
    return FetchEventID(event);
  }

 private:
  uint64_t take(uint32_t bytes, uint32_t number) {
    symm_core* core = symm::kernel::core("TPipe::InitBuffer");
    if (bytes == 0) symm::kernel::fail("TPipe::InitBuffer: a buffer of 0 bytes");
    buffers_ += number;
    if (buffers_ > kMaxBuffers) {
      symm::kernel::fail("TPipe::InitBuffer: %u buffers, a pipe has at most %u", buffers_,
                         kMaxBuffers);
    }
    const uint64_t start = used_;
    used_ += uint64_t{bytes} * number;
    const uint64_t limit = symm::kernel::kUbSize;
    if (used_ > limit) {
      symm::kernel::fail(
          "TPipe::InitBuffer: %u x %u bytes do not fit: %llu of %llu bytes of the unified buffer "
          "are taken",
          number, bytes, static_cast<unsigned long long>(start),
          static_cast<unsigned long long>(limit));
    }
    core->ub_used = used_;
    return start;
  }

  uint64_t used_ = 0;
  uint32_t buffers_ = 0;
  bool live_ = false;
};

}  // namespace AscendC

// The live pipe of this core.
inline AscendC::TPipe* GetTPipePtr() {
  void* pipe = symm::kernel::language("GetTPipePtr").pipe;
  if (pipe == nullptr) symm::kernel::fail("GetTPipePtr: the kernel has no TPipe yet");
  return static_cast<AscendC::TPipe*>(pipe);
}
