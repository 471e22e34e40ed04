"""The layer check must find each kind of mistake: runs it on small trees that hold one mistake each."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(sys.argv.pop(1)) / "check_layers.py"


def run(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


class Check(unittest.TestCase):
    def expect(self, source, text, word):
        lists = str(pathlib.Path(source).name)
        files = {source: text, str(pathlib.Path(source).parent / "CMakeLists.txt"): f"target_sources({lists})"}
        code, out = run(files)
        if word is None:
            self.assertEqual((code, out), (0, ""))
        else:
            self.assertEqual(code, 1)
            self.assertIn(word, out)

    def test_lower_layer_is_fine(self):
        self.expect("src/ops/a.cc", '#include "core/x.h"\n#include "ops/y.h"\n', None)

    def test_higher_layer(self):
        self.expect("src/base/a.cc", '#include "os/wait.h"\n', "layer 1")

    def test_same_layer(self):
        self.expect("src/store/a.cc", '#include "heap/x.h"\n', "layer 3")

    def test_other_transport(self):
        self.expect("src/transport/tcp/a.cc", '#include "transport/shm/x.h"\n', "transport tcp")

    def test_public_header(self):
        self.expect("src/heap/a.cc", '#include "host/shmem_host_def.h"\n', "public header")

    def test_shared_data_is_fine(self):
        self.expect("src/base/a.h", '#include "host_device/symm_wait_abi.h"\n', None)

    def test_unknown_module(self):
        self.expect("src/extra/a.cc", "", "no layer")

    def test_environment(self):
        self.expect("src/os/a.cc", 'int x = getenv("A") != 0;\n', "environment")

    def test_environment_in_its_place(self):
        self.expect("src/base/config.cc", 'int x = getenv("A") != 0;\n', None)

    def test_unlisted_source(self):
        code, out = run({"src/os/a.cc": "", "src/os/CMakeLists.txt": "target_sources(aa.cc)"})
        self.assertEqual(code, 1)
        self.assertIn("not listed", out)

    def test_placeholder_word(self):
        self.expect("src/os/a.cc", "// " + "TO" + "DO later\n", "later")


if __name__ == "__main__":
    unittest.main()
