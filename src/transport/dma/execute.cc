#include "transport/dma/execute.h"

#include <cstring>

#include "ascendc/core_abi.h"
#include "ascendc/small_float.h"

namespace symm::dma {
namespace {

// seq_cst throughout: an engine's atomic may be the flag that publishes copies of the same queue,
// and one full fence per descriptor is nothing beside the queue itself.
template <typename T>
void atomic(const symm_descriptor& d) {
  T* target = static_cast<T*>(d.target);
  const T operand = static_cast<T>(d.operand);
  T old{};
  switch (d.kind) {
    case SYMM_DESC_STORE:
      __atomic_store_n(target, operand, __ATOMIC_SEQ_CST);
      return;
    case SYMM_DESC_ADD:
      old = __atomic_fetch_add(target, operand, __ATOMIC_SEQ_CST);
      break;
    case SYMM_DESC_SWAP:
      old = __atomic_exchange_n(target, operand, __ATOMIC_SEQ_CST);
      break;
    case SYMM_DESC_AND:
      old = __atomic_fetch_and(target, operand, __ATOMIC_SEQ_CST);
      break;
    case SYMM_DESC_OR:
      old = __atomic_fetch_or(target, operand, __ATOMIC_SEQ_CST);
      break;
    case SYMM_DESC_XOR:
      old = __atomic_fetch_xor(target, operand, __ATOMIC_SEQ_CST);
      break;
    case SYMM_DESC_FETCH:
      old = __atomic_load_n(target, __ATOMIC_SEQ_CST);
      break;
    case SYMM_DESC_CAS:
      old = static_cast<T>(d.compare);
      __atomic_compare_exchange_n(target, &old, operand, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      break;
    default:
      return;
  }
  if (d.result != nullptr) std::memcpy(d.result, &old, sizeof old);
}

// Floating-point add as a compare-and-swap loop on the bits. sum(old bits, operand bits) gives the
// new bits.
template <typename Bits, typename Sum>
void float_add(const symm_descriptor& d, Sum sum) {
  Bits* target = static_cast<Bits*>(d.target);
  Bits old = __atomic_load_n(target, __ATOMIC_RELAXED);
  const Bits operand = static_cast<Bits>(d.operand);
  while (!__atomic_compare_exchange_n(target, &old, sum(old, operand), false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED)) {
  }
  if (d.result != nullptr) std::memcpy(d.result, &old, sizeof old);
}

template <typename Float, typename Bits>
Bits add_bits(Bits a, Bits b) {
  Float x, y;
  std::memcpy(&x, &a, sizeof x);
  std::memcpy(&y, &b, sizeof y);
  x += y;
  std::memcpy(&a, &x, sizeof a);
  return a;
}

// 16-bit formats: added as float, rounded once.
template <typename Format>
uint16_t add_small(uint16_t a, uint16_t b) {
  return Format::encode(Format::decode(a) + Format::decode(b));
}

bool atomic_of_width(const symm_descriptor& d) {
  switch (d.width) {
    case 1:
      atomic<uint8_t>(d);
      return true;
    case 2:
      atomic<uint16_t>(d);
      return true;
    case 4:
      atomic<uint32_t>(d);
      return true;
    case 8:
      atomic<uint64_t>(d);
      return true;
    default:
      return false;
  }
}

void prefetch(const symm_descriptor& d) {
  const char* byte = static_cast<const char*>(d.source);
  for (uint64_t i = 0; i < d.bytes; i += 64) __builtin_prefetch(byte + i);
}

}  // namespace

bool execute(const symm_descriptor& d) {
  switch (d.kind) {
    case SYMM_DESC_COPY:
      std::memmove(d.target, d.source, d.bytes);
      return true;
    case SYMM_DESC_FADD:
      if (d.width == 4) {
        float_add<uint32_t>(d, add_bits<float, uint32_t>);
      } else if (d.width == 8) {
        float_add<uint64_t>(d, add_bits<double, uint64_t>);
      } else {
        return false;
      }
      return true;
    case SYMM_DESC_HADD:
      float_add<uint16_t>(d, add_small<HalfFormat>);
      return true;
    case SYMM_DESC_BADD:
      float_add<uint16_t>(d, add_small<BrainFormat>);
      return true;
    case SYMM_DESC_NOTIFY:
      return symm_rt_notify_record(d.target) == 0;
    case SYMM_DESC_PREFETCH:
      prefetch(d);
      return true;
    default:
      return d.kind >= SYMM_DESC_STORE && d.kind <= SYMM_DESC_FETCH && atomic_of_width(d);
  }
}

const char* name_of(uint32_t kind) {
  switch (kind) {
    case SYMM_DESC_COPY:
      return "copy";
    case SYMM_DESC_STORE:
      return "store";
    case SYMM_DESC_ADD:
    case SYMM_DESC_FADD:
    case SYMM_DESC_HADD:
    case SYMM_DESC_BADD:
      return "add";
    case SYMM_DESC_SWAP:
      return "swap";
    case SYMM_DESC_CAS:
      return "compare and swap";
    case SYMM_DESC_AND:
      return "and";
    case SYMM_DESC_OR:
      return "or";
    case SYMM_DESC_XOR:
      return "xor";
    case SYMM_DESC_FETCH:
      return "fetch";
    case SYMM_DESC_NOTIFY:
      return "notify";
    case SYMM_DESC_PREFETCH:
      return "prefetch";
    default:
      return "unknown";
  }
}

}  // namespace symm::dma
