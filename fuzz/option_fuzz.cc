// Values of options: flags, integers, sizes with suffixes. The first byte chooses the range.
#include "base/config.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace symm::config;
  if (size == 0) return 0;
  constexpr int64_t kRanges[][2] = {{0, INT64_MAX},   {2 << 20, int64_t{40} << 30}, {0, 0},
                                    {-1, 16383},      {INT64_MIN, INT64_MAX},       {1, 64},
                                    {65536, 1 << 30}, {0, int64_t{1} << 53}};
  const auto& range = kRanges[data[0] % std::size(kRanges)];
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto number = parse_integer(text, range[0], range[1]);
  if (number.ok()) {
    SYMM_REQUIRE(number.value() >= range[0] && number.value() <= range[1]);
    auto again = parse_integer(std::to_string(number.value()), range[0], range[1]);
    SYMM_REQUIRE(again.ok() && again.value() == number.value());
  }
  const int64_t low = range[0] < 0 ? 0 : range[0];
  auto bytes = parse_size(text, low, range[1]);
  if (bytes.ok()) {
    SYMM_REQUIRE(bytes.value() >= static_cast<uint64_t>(low));
    SYMM_REQUIRE(bytes.value() <= static_cast<uint64_t>(range[1]));
  }
  auto flag = parse_flag(text);
  SYMM_REQUIRE(!flag.ok() || text.size() <= 5);
  return 0;
}
