"""shmem-cc as a user meets it: by hand, in a Makefile way, with mistakes in the source. Arguments: the tool, then
the compilers to try."""

import os
import subprocess
import sys
import tempfile
import unittest

TOOL, COMPILERS = "", []

KERNEL = """#include "kernel_operator.h"
#include "part.h"
#define KERNEL(T) extern "C" __global__ __aicore__ void fill_##T(__gm__ T* out, T value) { out[AscendC::GetBlockIdx()] = value; }
KERNEL(int)

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void twice(__gm__ int* out)
{
  __ubuf__ int* u = (__ubuf__ int*)0;
  *u = out[AscendC::GetBlockIdx()];
  out[AscendC::GetBlockIdx()] = *u * kFactor;
}

void run(void* stream, int* out) {
  fill_int<<<2, nullptr, stream>>>(out, 21);
  twice<<<4, nullptr, stream>>>(out);
}
"""
MAIN = """#include <cstdio>
#include "acl/acl.h"
void run(void* stream, int* out);
int main() {
  int out[4] = {};
  aclrtStream stream = nullptr;
  if (aclInit(nullptr) || aclrtSetDevice(0) || aclrtCreateStream(&stream)) return 2;
  run(stream, out);
  if (aclrtSynchronizeStream(stream)) return 3;
  std::printf("%d %d %d %d\\n", out[0], out[1], out[2], out[3]);
  return 0;
}
"""


class DriverTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("kernel.cpp", KERNEL)
        self.write("part.h", "#pragma once\nconstexpr int kFactor = 2;\n")
        self.write("main.cpp", MAIN)

    def write(self, name, text):
        with open(os.path.join(self.folder.name, name), "w") as file:
            file.write(text)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def run_tool(self, *words, code=0):
        done = subprocess.run([TOOL, *words], cwd=self.folder.name, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_compiles_links_and_runs_two_files(self):
        for compiler in COMPILERS:
            self.run_tool(f"--compiler={compiler}", "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-I.",
                          "kernel.cpp", "main.cpp", "-o", "program")
            done = subprocess.run([self.path("program")], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (0, "42 42 42 42\n"), done.stderr)

    def test_objects_dependencies_and_linking_apart(self):
        self.run_tool("-std=c++17", "-I.", "-MD", "-MP", "-c", "kernel.cpp", "-o", "k.o")
        with open(self.path("k.d")) as file:
            text = file.read()
        self.assertTrue(text.startswith("k.o:"), text)
        self.assertIn("kernel.cpp", text)
        self.assertIn("part.h", text)
        self.run_tool("-std=c++17", "-MMD", "-MF", "named.d", "-MT", "target", "-c", "main.cpp")
        with open(self.path("named.d")) as file:
            self.assertTrue(file.read().startswith("target:"))
        self.run_tool("k.o", "main.o", "-o", "program")
        subprocess.run([self.path("program")], check=True, stdout=subprocess.DEVNULL, timeout=60)

    def test_compiler_errors_name_the_users_line(self):
        self.write("bad.cpp", KERNEL.replace("*u * kFactor", "unknown_name"))
        line = 1 + KERNEL[:KERNEL.index("*u * kFactor")].count("\n")
        for compiler in COMPILERS:
            done = self.run_tool(f"--compiler={compiler}", "-std=c++17", "-I.", "-c", "bad.cpp", code=1)
            self.assertIn(f"bad.cpp:{line}:", done.stderr)
            self.assertIn("unknown_name", done.stderr)

    def test_our_errors_name_the_users_line(self):
        self.write("bad.cpp", KERNEL.replace("<<<4, nullptr, stream>>>", "<<<4>>>"))
        line = 1 + KERNEL[:KERNEL.index("<<<4, nullptr")].count("\n")
        done = self.run_tool("-std=c++17", "-I.", "-c", "bad.cpp", code=1)
        self.assertIn(f"bad.cpp:{line}: error: launch needs", done.stderr)

    def test_wrong_arguments_of_a_launch_name_the_users_line(self):
        self.write("bad.cpp", KERNEL.replace("(out, 21)", "(out, \"text\")"))
        line = 1 + KERNEL[:KERNEL.index("(out, 21)")].count("\n")
        for compiler in COMPILERS:
            done = self.run_tool(f"--compiler={compiler}", "-std=c++17", "-I.", "-c", "bad.cpp", code=1)
            self.assertIn(f"bad.cpp:{line}:", done.stderr)

    def test_debuggers_see_the_users_lines(self):
        for compiler in COMPILERS:
            self.run_tool(f"--compiler={compiler}", "-std=c++17", "-g", "-I.", "-c", "kernel.cpp", "-o", "k.o")
            symbols = subprocess.run(["nm", self.path("k.o")], capture_output=True, text=True, check=True).stdout
            address = next(l.split()[0] for l in symbols.splitlines() if l.endswith(" T twice"))
            place = subprocess.run(["addr2line", "-e", self.path("k.o"), address], capture_output=True, text=True,
                                   check=True).stdout
            line = 1 + KERNEL[:KERNEL.index("void twice")].count("\n")
            self.assertRegex(place, rf"kernel\.cpp:({line}|{line + 1})\b")

    def test_plain_files_are_left_to_the_compiler(self):
        done = self.run_tool("-std=c++17", "--show-commands", "-c", "main.cpp")
        self.assertNotIn("cpp-output", done.stderr)

    def test_device_compiler_options(self):
        self.write("asc.asc", KERNEL + "\nstatic_assert(__NPU_ARCH__ == 3510 && __CCE_AICORE__ == 310);\n")
        self.run_tool("-xasc", "--npu-arch=dav-3510", "--cce-auto-infer-kernel-type=false", "-mllvm", "-x=1", "-std=c++17",
                      "-fsyntax-only", "asc.asc")

    def test_response_file_assembly_and_preprocessing(self):
        self.write("arguments.rsp", "-std=c++17 -I. kernel.cpp")
        self.run_tool("@arguments.rsp", "-S", "-o", "k.s")
        with open(self.path("k.s")) as file:
            self.assertIn("twice", file.read())
        self.assertIn("__global__", self.run_tool("@arguments.rsp", "-E").stdout)

    def test_kept_text_shows_what_is_compiled(self):
        self.run_tool("-std=c++17", "-I.", "-c", "kernel.cpp", "--keep=kept.ii")
        with open(self.path("kept.ii")) as file:
            self.assertIn('symm_rt_enter("twice", 0, 1)', file.read())

    def test_launch_without_our_headers(self):
        self.write("bare.cpp", 'extern "C" __global__ __aicore__ void twice(int* out);\n'
                               "void other(void* stream, int* out) { twice<<<1, nullptr, stream>>>(out); }\n")
        self.run_tool("-std=c++17", "-Wall", "-Wextra", "-Werror", "-c", "bare.cpp")

    def test_works_as_the_compiler_of_a_makefile(self):
        # The rules that make has built in, with dependency files.
        self.write("Makefile", f"CXX = {TOOL}\nCXXFLAGS = -std=c++17 -O1 -Wall -Wextra -Werror -I. -MMD -MP\n"
                               "program: kernel.o main.o\n\t$(CXX) $(LDFLAGS) $^ -o $@\n-include kernel.d main.d\n")
        make = ["make", "-C", self.folder.name, "program"]
        first = subprocess.run(make, capture_output=True, text=True, timeout=240)
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        done = subprocess.run([self.path("program")], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "42 42 42 42\n"), done.stderr)
        again = subprocess.run(make, capture_output=True, text=True, timeout=240)
        self.assertIn("up to date", again.stdout)
        # A header of the kernel file only: that file is compiled again, the other is not.
        self.write("part.h", "#pragma once\nconstexpr int kFactor = 3;\n")
        later = os.stat(self.path("kernel.o")).st_mtime_ns + 1_000_000_000
        os.utime(self.path("part.h"), ns=(later, later))
        rebuilt = subprocess.run(make, capture_output=True, text=True, timeout=240)
        self.assertIn("kernel.cpp", rebuilt.stdout)
        self.assertNotIn("main.cpp", rebuilt.stdout)
        done = subprocess.run([self.path("program")], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, "63 63 63 63\n", done.stderr)

    def test_missing_compiler_and_missing_file(self):
        done = self.run_tool("--compiler=no-such-compiler", "-c", "main.cpp", code=1)
        self.assertIn("cannot start the compiler no-such-compiler", done.stderr)
        self.assertNotEqual(self.run_tool("-c", "absent.cpp", code=1).stderr, "")

    def test_no_files_are_left_behind(self):
        with tempfile.TemporaryDirectory() as temporary:
            done = subprocess.run([TOOL, "-std=c++17", "-I.", "-c", "kernel.cpp"], cwd=self.folder.name, timeout=120,
                                  env=dict(os.environ, TMPDIR=temporary))
            self.assertEqual(done.returncode, 0)
            self.assertEqual(os.listdir(temporary), [])


if __name__ == "__main__":
    TOOL, *COMPILERS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
