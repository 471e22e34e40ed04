// PEs as threads of one process: every type and size of the families with {1, 2, 3, 8} PEs.
#include <cstring>
#include <numeric>

#include "tests/multi_pe/thread_pes.h"

namespace symm::test {
namespace {

class ThreadFamilies : public ThreadPes {};
INSTANTIATE_TEST_SUITE_P(Counts, ThreadFamilies, testing::Values(1, 2, 3, 8));

// Every type of a family with put, get, strided forms, p and g.
#define SYMM_TEST_TYPE(NAME, TYPE)                                                          \
  do {                                                                                      \
    auto* block = static_cast<TYPE*>(aclshmem_calloc(64, sizeof(TYPE)));                    \
    TYPE mine[64];                                                                          \
    TYPE back[64] = {};                                                                     \
    for (int i = 0; i < 64; ++i) mine[i] = static_cast<TYPE>(i + pe);                       \
    aclshmem_##NAME##_put(block, mine, 16, right);                                          \
    aclshmem_##NAME##_put_nbi(block + 16, mine + 16, 16, right);                            \
    aclshmem_##NAME##_iput(block + 32, mine + 32, 2, 1, 8, right);                          \
    aclshmem_##NAME##_p(block + 63, mine[63], right);                                       \
    aclshmem_barrier_all();                                                                 \
    for (int i = 0; i < 32; ++i) ASSERT_EQ(block[i], static_cast<TYPE>(i + left)) << #NAME; \
    for (int i = 0; i < 8; ++i) {                                                           \
      ASSERT_EQ(block[32 + 2 * i], static_cast<TYPE>(32 + i + left)) << #NAME;              \
      ASSERT_EQ(block[33 + 2 * i], static_cast<TYPE>(0)) << #NAME;                          \
    }                                                                                       \
    ASSERT_EQ(aclshmem_##NAME##_g(block + 63, right), static_cast<TYPE>(63 + pe));          \
    aclshmem_##NAME##_get(back, block, 16, right);                                          \
    aclshmem_##NAME##_get_nbi(back + 16, block + 16, 16, right);                            \
    aclshmem_##NAME##_iget(back + 32, block, 1, 3, 8, right);                               \
    for (int i = 0; i < 32; ++i) ASSERT_EQ(back[i], static_cast<TYPE>(i + pe)) << #NAME;    \
    for (int i = 0; i < 8; ++i) ASSERT_EQ(back[32 + i], static_cast<TYPE>(3 * i + pe));     \
    aclshmem_free(block);                                                                   \
  } while (0)

TEST_P(ThreadFamilies, TypedFamilies) {
  run_threads(n(), [&](Instance& instance) {
    const int pe = instance.pe();
    const int right = right_of(pe);
    const int left = left_of(pe);
    SYMM_HOST_TYPES(SYMM_TEST_TYPE);
  });
}

#define SYMM_TEST_SIZE(BITS)                                                                    \
  do {                                                                                          \
    constexpr size_t kUnit = BITS / 8;                                                          \
    auto* block = static_cast<uint8_t*>(aclshmem_calloc(32, kUnit));                            \
    auto* signal = static_cast<int32_t*>(aclshmem_calloc(1, sizeof(int32_t)));                  \
    std::vector<uint8_t> mine(32 * kUnit);                                                      \
    std::iota(mine.begin(), mine.end(), static_cast<uint8_t>(3));                               \
    aclshmem_put##BITS(block, mine.data(), 4, right);                                           \
    aclshmem_put##BITS##_nbi(block + 4 * kUnit, mine.data() + 4 * kUnit, 4, right);             \
    aclshmem_iput##BITS(block + 8 * kUnit, mine.data() + 8 * kUnit, 1, 2, 4, right);            \
    aclshmem_put##BITS##_signal(block + 16 * kUnit, mine.data(), 2, signal, 5,                  \
                                ACLSHMEM_SIGNAL_SET, right);                                    \
    aclshmem_int32_wait_until(signal, ACLSHMEM_CMP_EQ, 5);                                      \
    ASSERT_EQ(std::memcmp(block + 16 * kUnit, mine.data(), 2 * kUnit), 0) << BITS;              \
    aclshmem_barrier_all();                                                                     \
    ASSERT_EQ(std::memcmp(block, mine.data(), 8 * kUnit), 0) << BITS;                           \
    for (size_t i = 0; i < 4; ++i) {                                                            \
      ASSERT_EQ(std::memcmp(block + (8 + i) * kUnit, mine.data() + (8 + 2 * i) * kUnit, kUnit), \
                0);                                                                             \
    }                                                                                           \
    std::vector<uint8_t> back(32 * kUnit);                                                      \
    aclshmem_get##BITS(back.data(), block, 4, right);                                           \
    aclshmem_get##BITS##_nbi(back.data() + 4 * kUnit, block + 4 * kUnit, 4, right);             \
    aclshmem_iget##BITS(back.data() + 8 * kUnit, block, 2, 1, 4, right);                        \
    ASSERT_EQ(std::memcmp(back.data(), mine.data(), 8 * kUnit), 0) << BITS;                     \
    ASSERT_EQ(std::memcmp(back.data() + 10 * kUnit, mine.data() + kUnit, kUnit), 0) << BITS;    \
    aclshmem_free(block);                                                                       \
    aclshmem_free(signal);                                                                      \
  } while (0)

TEST_P(ThreadFamilies, SizedFamilies) {
  run_threads(n(), [&](Instance& instance) {
    const int right = right_of(instance.pe());
    ACLSHMEM_SIZE_FUNC(SYMM_TEST_SIZE);
  });
}

#define SYMM_TEST_WAIT(NAME, TYPE)                                                                \
  do {                                                                                            \
    auto* words = static_cast<TYPE*>(aclshmem_calloc(8, sizeof(TYPE)));                           \
    const TYPE one = 1;                                                                           \
    const int odd_only[4] = {1, 0, 1, 0};                                                         \
    const int nobody[4] = {1, 1, 1, 1};                                                           \
    size_t indices[4] = {9, 9, 9, 9};                                                             \
    size_t found = 77;                                                                            \
    int answer = 77;                                                                              \
    TYPE wanted[4] = {1, 1, 1, 2};                                                                \
    aclshmem_##NAME##_test(words, ACLSHMEM_CMP_EQ, one, &answer);                                 \
    ASSERT_EQ(answer, 0);                                                                         \
    aclshmem_##NAME##_test_any(words, 4, nullptr, ACLSHMEM_CMP_EQ, one, &found);                  \
    ASSERT_EQ(found, SIZE_MAX);                                                                   \
    aclshmem_##NAME##_test_some(words, 4, indices, nullptr, ACLSHMEM_CMP_EQ, one, &found);        \
    ASSERT_EQ(found, 0u);                                                                         \
    aclshmem_barrier_all();                                                                       \
    aclshmem_##NAME##_p(words + 1, one, right);                                                   \
    aclshmem_##NAME##_wait_until(words + 1, ACLSHMEM_CMP_EQ, one);                                \
    aclshmem_##NAME##_wait(words + 1, static_cast<TYPE>(0));                                      \
    aclshmem_##NAME##_wait_until_any(words, 4, nullptr, ACLSHMEM_CMP_EQ, one, &found);            \
    ASSERT_EQ(found, 1u);                                                                         \
    aclshmem_##NAME##_wait_until_any(words, 4, nobody, ACLSHMEM_CMP_EQ, one, &found);             \
    ASSERT_EQ(found, SIZE_MAX);                                                                   \
    aclshmem_##NAME##_wait_until_some(words, 4, indices, nullptr, ACLSHMEM_CMP_EQ, one, &found);  \
    ASSERT_EQ(found, 1u);                                                                         \
    ASSERT_EQ(indices[0], 1u);                                                                    \
    ASSERT_EQ(indices[1], 9u);                                                                    \
    aclshmem_barrier_all();                                                                       \
    aclshmem_##NAME##_p(words + 3, static_cast<TYPE>(2), right);                                  \
    aclshmem_##NAME##_wait_until_all(words, 4, odd_only, ACLSHMEM_CMP_GE, one);                   \
    aclshmem_##NAME##_wait_until_all(words, 4, nobody, ACLSHMEM_CMP_GE, one);                     \
    aclshmem_##NAME##_wait_until_all_vector(words, 4, odd_only, ACLSHMEM_CMP_EQ, wanted);         \
    aclshmem_##NAME##_wait_until_any_vector(words + 2, 2, nullptr, ACLSHMEM_CMP_EQ, wanted + 2,   \
                                            &found);                                              \
    ASSERT_EQ(found, 1u);                                                                         \
    aclshmem_##NAME##_wait_until_some_vector(words, 4, indices, nullptr, ACLSHMEM_CMP_EQ, wanted, \
                                             &found);                                             \
    ASSERT_EQ(found, 2u);                                                                         \
    ASSERT_EQ(indices[0], 1u);                                                                    \
    ASSERT_EQ(indices[1], 3u);                                                                    \
    aclshmem_##NAME##_test_all_vector(words, 4, nullptr, ACLSHMEM_CMP_EQ, wanted, &answer);       \
    ASSERT_EQ(answer, 0);                                                                         \
    aclshmem_##NAME##_test_all_vector(words, 4, odd_only, ACLSHMEM_CMP_EQ, wanted, &answer);      \
    ASSERT_EQ(answer, 1);                                                                         \
    aclshmem_##NAME##_test_all_vector(words, 4, nobody, ACLSHMEM_CMP_EQ, wanted, &answer);        \
    ASSERT_EQ(answer, 1);                                                                         \
    aclshmem_##NAME##_test_any_vector(words, 4, odd_only, ACLSHMEM_CMP_EQ, wanted, &found);       \
    ASSERT_EQ(found, 1u);                                                                         \
    aclshmem_##NAME##_test_some_vector(words, 4, indices, nullptr, ACLSHMEM_CMP_EQ, wanted,       \
                                       &found);                                                   \
    ASSERT_EQ(found, 2u);                                                                         \
    aclshmem_##NAME##_test(words, 6, one, &answer);                                               \
    ASSERT_EQ(answer, 0);                                                                         \
    aclshmem_##NAME##_wait_until_any(words, 4, nullptr, -1, one, &found);                         \
    ASSERT_EQ(found, SIZE_MAX);                                                                   \
    aclshmem_barrier_all();                                                                       \
    aclshmem_free(words);                                                                         \
  } while (0)

TEST_P(ThreadFamilies, WaitFamilies) {
  run_threads(n(), [&](Instance& instance) {
    const int right = right_of(instance.pe());
    ACLSHMEM_P2P_SYNC_TYPE_FUNC(SYMM_TEST_WAIT);
  });
}

}  // namespace
}  // namespace symm::test
