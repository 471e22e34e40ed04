#include "bootstrap/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symm::bootstrap {
namespace {

using testing::HasSubstr;

// FAULTS O2: the message names the file that was searched.
TEST(Loader, AMissingPluginIsNamedWithThePlacesTried) {
  auto table = load_plugin("no_such_plugin.so");
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.status().code(), Code::kInvalidValue);
  EXPECT_THAT(std::string(table.status().text()), HasSubstr("no_such_plugin.so cannot be loaded"));
  EXPECT_THAT(std::string(table.status().text()),
              HasSubstr("/lib/no_such_plugin.so: no such file"));
}

TEST(Loader, ALibraryWithoutTheSymbolIsNoPlugin) {
  auto table = load_plugin(SYMM_TEST_NO_SYMBOL);
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.status().code(), Code::kInternal);
  EXPECT_THAT(std::string(table.status().text()),
              HasSubstr("does not export symm_bootstrap_plugin"));
}

TEST(Loader, AnotherAbiIsRefusedWithBothNumbers) {
  auto table = load_plugin(SYMM_TEST_OTHER_ABI);
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.status().code(), Code::kInternal);
  EXPECT_THAT(std::string(table.status().text()), HasSubstr("has ABI 99"));
  EXPECT_THAT(std::string(table.status().text()), HasSubstr("wants ABI 2"));
}

TEST(Loader, FindsTheConfigStoreBesideTheLibraries) {
  auto table = load_plugin(kConfigStorePlugin);
  ASSERT_TRUE(table.ok()) << table.status().to_string();
  EXPECT_STREQ(table.value()->name, "config store");
  EXPECT_EQ(load_plugin(kConfigStorePlugin).value(), table.value());
}

}  // namespace
}  // namespace symm::bootstrap
