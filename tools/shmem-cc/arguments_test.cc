#include "shmem-cc/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace symm::cc {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::string>;

CommandLine parse(const Words& words) {
  Result<CommandLine> line = parse_command_line(words);
  EXPECT_TRUE(line.ok()) << line.status().text();
  return std::move(line).value();
}

TEST(ArgumentsTest, OptionsGoToTheirPasses) {
  const CommandLine line =
      parse({"-O2", "-I", "inc", "-DX=1", "a.cpp", "b.o", "-lfoo", "-Wl,-z,now", "-std=c++17",
             "-include", "x.h", "-o", "out", "-isystemsys"});
  EXPECT_THAT(line.words({Role::kBoth}), ElementsAre("-O2", "-std=c++17"));
  EXPECT_THAT(line.words({Role::kPreprocess}),
              ElementsAre("-I", "inc", "-DX=1", "-include", "x.h", "-isystemsys"));
  EXPECT_THAT(line.words({Role::kLink}), ElementsAre("-lfoo", "-Wl,-z,now"));
  EXPECT_THAT(line.words({Role::kSource}), ElementsAre("a.cpp"));
  EXPECT_THAT(line.words({Role::kInput}), ElementsAre("b.o"));
  EXPECT_EQ(line.output, "out");
  EXPECT_EQ(line.mode, Mode::kLink);
}

TEST(ArgumentsTest, OptionsOfTheDeviceCompilerAreMappedOrIgnored) {
  const CommandLine line =
      parse({"-xasc", "--npu-arch=dav-3510", "--cce-auto-infer-kernel-type=false", "-mllvm",
             "-cce-aicore-stack-size=0x8000", "kernel.txt", "-c", "-fPIC"});
  EXPECT_EQ(line.arch, 3510);
  EXPECT_EQ(line.mode, Mode::kObject);
  EXPECT_THAT(line.words({Role::kSource}), ElementsAre("kernel.txt"));
  EXPECT_THAT(line.words({Role::kBoth}), ElementsAre("-fPIC"));
  EXPECT_EQ(parse({"--npu-arch", "dav-2201", "a.cpp"}).arch, 2201);
  EXPECT_FALSE(parse_command_line({"--npu-arch=gpu", "a.cpp"}).ok());
}

TEST(ArgumentsTest, LanguageOptionAppliesToWhatFollows) {
  const CommandLine line = parse({"a.in", "-x", "c++", "b.in", "-x", "none", "c.in"});
  EXPECT_THAT(line.words({Role::kSource}), ElementsAre("b.in"));
  EXPECT_THAT(line.words({Role::kInput}), ElementsAre("a.in", "c.in"));
}

TEST(ArgumentsTest, ModesAndDependencies) {
  EXPECT_EQ(parse({"-E", "a.cpp"}).mode, Mode::kPreprocess);
  EXPECT_EQ(parse({"-S", "a.cpp"}).mode, Mode::kAssembly);
  EXPECT_EQ(parse({"-fsyntax-only", "a.cpp"}).mode, Mode::kSyntax);
  EXPECT_EQ(parse({"--version"}).mode, Mode::kQuery);
  EXPECT_EQ(parse({"-dumpmachine"}).mode, Mode::kQuery);
  const CommandLine line = parse({"-MD", "-MT", "x.o", "-MF", "x.d", "-c", "a.cpp"});
  EXPECT_TRUE(line.dependencies.wanted && line.dependencies.has_file &&
              line.dependencies.has_target);
  EXPECT_FALSE(parse({"-c", "a.cpp"}).dependencies.wanted);
}

TEST(ArgumentsTest, LauncherTakesTheCompilerFromTheCommand) {
  const CommandLine line = parse({"--launcher", "/usr/bin/g++", "-c", "a.cpp", "-o", "a.o"});
  EXPECT_THAT(line.compiler, ElementsAre("/usr/bin/g++"));
  EXPECT_TRUE(line.launcher);
  EXPECT_FALSE(line.libraries);
  EXPECT_FALSE(parse_command_line({"--launcher"}).ok());
}

TEST(ArgumentsTest, ResponseFilesAreExpanded) {
  const std::string name = testing::TempDir() + "shmem_cc_arguments.rsp";
  std::ofstream(name) << "-O2 \"-DNAME=a b\"\n'c d.cpp' -DQ=\\\"x\\\" \"\"";
  const CommandLine line = parse({"@" + name, "-c"});
  EXPECT_THAT(line.words({Role::kPreprocess}), ElementsAre("-DNAME=a b", "-DQ=\"x\""));
  EXPECT_THAT(line.words({Role::kSource}), ElementsAre("c d.cpp"));
  EXPECT_FALSE(parse_command_line({"@/no/such/file"}).ok());
}

TEST(ArgumentsTest, MissingValuesAreErrors) {
  EXPECT_FALSE(parse_command_line({"a.cpp", "-o"}).ok());
}

}  // namespace
}  // namespace symm::cc
