// Device memory and a stream for tests that launch kernels. The launches themselves are in the
// *_kernels.cc files, which shmem-cc compiles; tests see them as ordinary functions.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "acl/acl.h"

namespace symm::kernel_test {

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t elements, T fill = T()) : elements_(elements) {
    EXPECT_EQ(aclrtMalloc(&data_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    for (size_t i = 0; i < elements; ++i) (*this)[i] = fill;
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    for (size_t i = 0; i < values.size(); ++i) (*this)[i] = values[i];
  }
  ~DeviceArray() { EXPECT_EQ(aclrtFree(data_), ACL_SUCCESS); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  // Device memory of this device is ordinary memory.
  T& operator[](size_t i) { return static_cast<T*>(data_)[i]; }
  uint8_t* get() { return static_cast<uint8_t*>(data_); }
  size_t bytes() const { return elements_ * sizeof(T) + 64; }
  size_t size() const { return elements_; }
  std::vector<T> values() { return std::vector<T>(&(*this)[0], &(*this)[0] + elements_); }

 private:
  size_t elements_;
  void* data_ = nullptr;
};

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  }

  // Waits for everything launched; a kernel that does not end fails the test.
  void synchronize() {
    ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 60000), ACL_SUCCESS) << error();
  }
  // The launch must have ended with an error whose text contains `part`.
  void expect_error(const char* part) {
    EXPECT_NE(aclrtSynchronizeStreamWithTimeout(stream_, 60000), ACL_SUCCESS);
    EXPECT_NE(error().find(part), std::string::npos) << error();
  }
  static std::string error() {
    const char* text = aclGetRecentErrMsg();
    return text == nullptr ? "" : text;
  }

  aclrtStream stream_ = nullptr;
};

}  // namespace symm::kernel_test
