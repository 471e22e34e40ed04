// The versions that users and peers see. The API version is a fact of the interface; ours is in
// VERSION.
#pragma once

namespace symm {

inline constexpr int kApiMajor = 1;
inline constexpr int kApiMinor = 1;
inline constexpr const char* kApiName = "ACLSHMEM v1.1.1";
inline constexpr const char* kVersion = SYMM_VERSION;

}  // namespace symm
