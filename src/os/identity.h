// Who this process is, as far as sharing memory with others is concerned.
#pragma once

#include <cstdint>

namespace symm::os {

struct Identity {
  uint64_t host = 0;     // hash of the boot id: equal on one running kernel
  uint64_t network = 0;  // network namespace: abstract socket names are private to it
  uint64_t process = 0;  // random, made once per process image
  uint32_t pid = 0;
};

Identity identity();

}  // namespace symm::os
