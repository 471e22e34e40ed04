// C++20 over the C calls: objects that free themselves, spans instead of pointers and counts. Every
// member is an inline call of one C function; nothing is checked or kept that C would not. Failures
// of collective calls that return something are exceptions of type symm::error; errors of puts,
// gets and atomics are those of the C calls (aclshmemx_last_error).
//
// Objects are movable, not copyable. Constructors and destructors of instance, array and team are
// collective over their PEs: make and destroy them in the same order on all of them. An array or
// team that outlives its instance does nothing when it is destroyed.
#ifndef SHMEM_HPP
#define SHMEM_HPP

#if __cplusplus < 202002L
#error "shmem.hpp needs C++20; C++17 and C use shmem.h"
#endif

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "acl/acl.h"
#include "shmem.h"

namespace symm {

/** @brief A collective call failed: its code (aclshmem_error_code_t) and the library's text. */
class error : public std::runtime_error {
 public:
  error(int code, const std::string& text) : std::runtime_error(text), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

namespace detail {

[[noreturn, gnu::cold]] inline void fail(const char* call, int code) {
  char text[512] = "";
  aclshmemx_last_error(text, sizeof text, false);
  throw error(code, std::string(call) + " failed with code " + std::to_string(code) +
                        (text[0] != '\0' ? std::string(": ") + text : std::string()));
}

// Acts on the instance of that number while it lives, whatever the thread had selected.
class scope {
 public:
  explicit scope(uint64_t number) : entered_(aclshmemx_instance_enter(number, &before_) == 0) {}
  ~scope() {
    if (entered_) aclshmemx_instance_leave(before_);
  }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  /** False when the instance is gone. */
  explicit operator bool() const { return entered_; }

 private:
  void* before_ = nullptr;
  bool entered_;
};

}  // namespace detail

/** @brief What init is told. Left as it is, everything comes from the launcher. */
struct options {
  int pe = -1;
  int n_pes = 0;
  std::string address{};    // "tcp://host:port" of PE 0
  uint64_t heap_bytes = 0;  // 0: SHMEM_SYMMETRIC_SIZE
  uint64_t id = 0;          // of the instance
  int device = -1;          // to select for this thread; -1: as it is
};

/**
 * @brief A running instance; the constructor is init, the destructor finalize. Collective over all
 * PEs, blocking. Throws symm::error.
 */
class instance {
 public:
  instance() : instance(options{}) {}

  explicit instance(const options& o) : id_(o.id) {
    prepare_device(o.device);
    aclshmemx_init_attr_t attributes;
    attributes.local_mem_size = o.heap_bytes;
    attributes.instance_id = o.id;
    if (o.n_pes > 0) {
      attributes.my_pe = o.pe;
      attributes.n_pes = o.n_pes;
      if (o.address.size() >= sizeof attributes.ip_port) {
        throw error(ACLSHMEM_INVALID_PARAM, "the address is too long: " + o.address);
      }
      std::memcpy(attributes.ip_port, o.address.c_str(), o.address.size() + 1);
    }
    if (const int code = aclshmemx_init_attr(&attributes, 0, nullptr); code != 0) {
      detail::fail("init", code);
    }
    open_ = true;
  }

  /** @brief For the other ways to start: MPI, unique id, attributes filled by hand. */
  instance(aclshmemx_bootstrap_t flags, aclshmemx_init_attr_t& attributes)
      : id_(attributes.instance_id) {
    if (const int code = aclshmemx_init_attr(flags, &attributes); code != 0) {
      detail::fail("init", code);
    }
    open_ = true;
  }

  instance(instance&& other) noexcept : id_(other.id_), open_(std::exchange(other.open_, false)) {}
  instance& operator=(instance&&) = delete;
  ~instance() {
    if (open_) aclshmemx_finalize(id_);
  }

  /** @brief finalize that tells its error; the destructor then does nothing. */
  void close() {
    if (!std::exchange(open_, false)) return;
    if (const int code = aclshmemx_finalize(id_); code != 0) detail::fail("finalize", code);
  }

  uint64_t id() const noexcept { return id_; }
  /** @brief Makes it the instance that the calls of the whole process act on. Local. */
  void select() const {
    if (const int code = aclshmemx_instance_ctx_set(id_); code != 0) detail::fail("select", code);
  }

 private:
  static void prepare_device(int device) {
    if (device < 0) return;
    if (const int code = aclrtSetDevice(device); code != ACL_SUCCESS) {
      throw error(code, "device " + std::to_string(device) + " cannot be selected");
    }
  }

  uint64_t id_;
  bool open_ = false;
};

/** @brief Number of this PE, number of PEs, of the current instance; -1 before init. */
inline int my_pe() { return aclshmem_my_pe(); }
inline int n_pes() { return aclshmem_n_pes(); }
/** @brief Barrier of all PEs: what they put before is there afterwards. */
inline void barrier_all() { aclshmem_barrier_all(); }

template <typename T>
concept transferable = std::is_trivially_copyable_v<T>;

/** @brief Puts the elements of `source` (any memory) to the symmetric address `dest` on `pe`. */
template <transferable T>
inline void put(T* dest, std::span<const std::type_identity_t<T>> source, int pe) {
  aclshmem_putmem(dest, const_cast<T*>(source.data()), source.size_bytes(), pe);
}
/** @brief As put; `source` must stay unchanged until quiet. */
template <transferable T>
inline void put_nbi(T* dest, std::span<const std::type_identity_t<T>> source, int pe) {
  aclshmem_putmem_nbi(dest, const_cast<T*>(source.data()), source.size_bytes(), pe);
}
/** @brief Fills `dest` (any memory) from the symmetric address `source` on `pe`. */
template <transferable T>
inline void get(std::span<T> dest, const std::type_identity_t<T>* source, int pe) {
  aclshmem_getmem(dest.data(), const_cast<T*>(source), dest.size_bytes(), pe);
}
/** @brief As get; `dest` is valid after quiet. */
template <transferable T>
inline void get_nbi(std::span<T> dest, const std::type_identity_t<T>* source, int pe) {
  aclshmem_getmem_nbi(dest.data(), const_cast<T*>(source), dest.size_bytes(), pe);
}

struct uninitialized_t {};
inline constexpr uninitialized_t uninitialized{};

/**
 * @brief `count` elements at the same place in the heap of every PE of the current instance.
 * Indices count elements; an element range that leaves the array is caught by assert. Moving keeps
 * the memory where it is; assigning to an array that holds memory frees that, collectively.
 */
template <transferable T>
class array {
 public:
  array() = default;
  /** @brief Elements are zero on all PEs. Throws symm::error on all PEs when there is no room. */
  explicit array(size_t count) : array(count, uninitialized, true) {}
  array(size_t count, uninitialized_t) : array(count, uninitialized, false) {}

  array(array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        instance_(other.instance_) {}
  array& operator=(array&& other) noexcept {
    if (this != &other) {
      release();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      instance_ = other.instance_;
    }
    return *this;
  }
  ~array() { release(); }

  // The own copy.
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  T& operator[](size_t i) {
    assert(i < size_);
    return data_[i];
  }
  const T& operator[](size_t i) const {
    assert(i < size_);
    return data_[i];
  }
  std::span<T> local() noexcept { return {data_, size_}; }
  std::span<const T> local() const noexcept { return {data_, size_}; }

  /** @brief The copy of `pe` for loads and stores; empty when it is not mapped here. */
  std::span<T> at(int pe) const {
    auto* there = static_cast<T*>(aclshmem_ptr(data_, pe));
    return {there, there != nullptr ? size_ : 0};
  }

  /** @brief Puts to the copy of `pe`, from index `first` on. */
  void put(int pe, std::span<const T> source, size_t first = 0) {
    assert(fits(first, source.size()));
    symm::put(data_ + first, source, pe);
  }
  void put(int pe, size_t index, const T& value) {
    assert(index < size_);
    aclshmem_putmem(data_ + index, const_cast<T*>(&value), sizeof(T), pe);
  }
  void put_nbi(int pe, std::span<const T> source, size_t first = 0) {
    assert(fits(first, source.size()));
    symm::put_nbi(data_ + first, source, pe);
  }
  /** @brief Fills `dest` from the copy of `pe`, from index `first` on. */
  void get(int pe, std::span<T> dest, size_t first = 0) const {
    assert(fits(first, dest.size()));
    symm::get(dest, data_ + first, pe);
  }
  T get(int pe, size_t index) const {
    assert(index < size_);
    T value;
    aclshmem_getmem(&value, data_ + index, sizeof(T), pe);
    return value;
  }
  void get_nbi(int pe, std::span<T> dest, size_t first = 0) const {
    assert(fits(first, dest.size()));
    symm::get_nbi(dest, data_ + first, pe);
  }

 private:
  array(size_t count, uninitialized_t, bool zero)
      : size_(count), instance_(aclshmemx_instance_number()) {
    if (count == 0) return;
    if (count > SIZE_MAX / sizeof(T)) detail::fail("symm::array", ACLSHMEM_INVALID_PARAM);
    const size_t bytes = count * sizeof(T);
    constexpr size_t kHeapAlignment = 16;
    void* memory = nullptr;
    if constexpr (alignof(T) > kHeapAlignment) {
      memory = aclshmem_align(alignof(T), bytes);
      if (memory != nullptr && zero) {
        std::memset(memory, 0, bytes);
        aclshmem_barrier_all();
      }
    } else {
      memory = zero ? aclshmem_calloc(count, sizeof(T)) : aclshmem_malloc(bytes);
    }
    if (memory == nullptr) detail::fail("symm::array", ACLSHMEM_MALLOC_FAILED);
    data_ = static_cast<T*>(memory);
  }

  bool fits(size_t first, size_t count) const { return first <= size_ && count <= size_ - first; }

  void release() noexcept {
    if (data_ != nullptr) {
      if (detail::scope in(instance_); in) aclshmem_free(data_);
    }
    data_ = nullptr;
    size_ = 0;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  uint64_t instance_ = 0;  // number of the instance it belongs to
};

}  // namespace symm

#endif
