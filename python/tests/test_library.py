"""Library: a compiled model in other processes, and on processors that cannot run it."""
import ctypes
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
from onnx import TensorProto, helper

import models
import onnxc
from onnxc import processor
from onnxc.values import STRING

NATIVE_ARM = processor.this_machine() == "AArch64"


def write_file(library, ready, queue):
    ready.wait()
    queue.put(str(library.file()))


class Travelling(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_processes_write_the_same_file_at_once(self):
        library = onnxc.Library(models.relu(("n", 4)), options=["-O0"])
        context = multiprocessing.get_context("fork")
        with mock.patch.dict(os.environ, ONNXC_CACHE=self.folder):
            ready, queue = context.Event(), context.Queue()
            writers = [context.Process(target=write_file, args=(library, ready, queue)) for _ in range(4)]
            for writer in writers:
                writer.start()
            ready.set()
            paths = {queue.get(timeout=60) for _ in writers}
            for writer in writers:
                writer.join()
            path, = paths
            self.assertEqual([str(file) for file in Path(self.folder).rglob("*") if file.is_file()], [path])
            self.assertEqual(Path(path).read_bytes(), library.content)
            Path(path).write_bytes(library.content[:-1] + b"!")  # what is not the unit is written anew
            self.assertEqual(library.file().read_bytes(), library.content)

    def test_where_the_cache_cannot_be_written(self):
        library = onnxc.Library(models.relu(("n", 4)), options=["-O0"])
        Path(self.folder, "file").touch()
        with mock.patch.dict(os.environ, ONNXC_CACHE=f"{self.folder}/file/cache"):
            self.assertTrue(ctypes.CDLL(str(library.file())))

    def test_a_worker_needs_neither_compiler_nor_onnx(self):
        Path(self.folder, "library").write_bytes(pickle.dumps(onnxc.Library(models.relu(("n", 4)), options=["-O0"])))
        code = ("import pickle, sys, numpy\nsys.modules['onnx'] = None\nlibrary = pickle.load(open('library', 'rb'))\n"
                "print(library.session().run(None, {'x': numpy.float32([[1, -2, 3, -4]])})[0].tolist())\n"
                "assert not {'ray', 'pyspark', 'pyarrow', 'pandas'} & set(sys.modules)")
        environment = os.environ | {"ONNXC_CACHE": f"{self.folder}/other", "ONNXC_CXX": "/no/compiler", "ONNXC_EXECUTABLE": "/no/onnxc"}
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("[[1.0, 0.0, 3.0, 0.0]]\n", ""))

    def test_a_processor_that_lacks_instructions(self):
        library = onnxc.Library(models.relu(("n", 5)), options=["-O0"])
        self.assertIsNone(library.check())
        library.needs |= {"avx2048"}
        with self.assertRaisesRegex(onnxc.ProcessorError, "for the processor that it was compiled on, and the processor of .* lacks avx2048; .*x86-64-v3"):
            library.session()
        with mock.patch.object(processor, "instructions", lambda: frozenset({"sse4_1"})):
            named = onnxc.Library(models.relu(("n", 4)), "aarch64-dotprod" if NATIVE_ARM else "x86-64-v3", options=["-O0"])
            with self.assertRaisesRegex(onnxc.ProcessorError, "asimddp" if NATIVE_ARM else "for x86-64-v3, and .* lacks abm, avx, avx2, bmi1"):
                named.session()
        with self.assertRaisesRegex(ValueError, "no unit for 'cortex-m4'"):
            onnxc.Library(models.relu(("n", 4)), "cortex-m4")

    @unittest.skipIf(NATIVE_ARM or not shutil.which("aarch64-linux-gnu-g++"), "no cross compiler: tools/setup.sh --cross-deps")
    def test_a_unit_for_another_kind_of_processor(self):
        with mock.patch.dict(os.environ):  # compilers by their usual names: one for each of two units
            os.environ.pop("ONNXC_CXX", None)
            os.environ.pop("CXX", None)
            library = onnxc.Library(models.relu(("n", 4)), "aarch64", options=["-O0"])
        self.assertEqual([column.name for column in library.outputs], ["y"])
        with self.assertRaisesRegex(onnxc.ProcessorError, "compiled for aarch64, and the processor of .* is x86-64, not AArch64"):
            library.session()

    def test_maps_and_states_are_refused(self):
        for option in ("--zipmap=map", "--state=auto", "--target=generic"):
            with self.assertRaisesRegex(ValueError, "no place in a table"):
                onnxc.Library(models.relu(("n", 4)), options=[option])


class Strings(unittest.TestCase):
    def test_strings_that_lie_elsewhere(self):
        same = models.model([helper.make_node("Identity", ["x"], ["y"])], {"x": (TensorProto.STRING, ["n"])}, {"y": (TensorProto.STRING, ["n"])})
        text = np.frombuffer("abcü".encode(), np.uint8)
        places = np.zeros(4, STRING)
        places["data"] = text.__array_interface__["data"][0] + np.array([0, 1, 3, 0], np.uintp)
        places["size"] = [3, 2, 2, 0]
        self.assertEqual(onnxc.InferenceSession(same).run(None, {"x": places})[0].tolist(), ["abc", "bc", "ü", ""])


if __name__ == "__main__":
    unittest.main()
