"""The engines that classical models are compared on, in the manner of engines.py; each call takes the next batch of rows.

Branches of a tree become predictable on rows that come again, even on 256 of them in a small forest, so there are as many batches as the rows give. Native code calls all but ONNX Runtime and XGBoost, whose calls
come from Python and cost 1 to 3 us more; what engines want of their rows (f64, marks for missing values) is made beforehand.
"""
import ctypes as c
import hashlib
import importlib.util
import os
import tempfile
from pathlib import Path

import numpy as np

import native
from engines import OnnxRuntime

CACHE = Path(os.environ.get("ONNXC_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "onnxc") / "forests"


MOST_COMPILED = 20_000  # leaves of what lleaves and tl2cgen are given: 60,000 take LLVM more than five minutes and 4 GB


class Absent(Exception):
    """The engine cannot take this model; the text says why."""


def refuse_large(model_path):
    if leaves(model_path) > MOST_COMPILED:
        raise Absent(f"more than {MOST_COMPILED} leaves, which take minutes to compile")


class Batches:
    """Rows in batches of equal size."""

    def __init__(self, rows, size):
        self.size, self.count = size, len(next(iter(rows.values()))) // size
        self.rows = {name: np.ascontiguousarray(array[: self.count * size]) for name, array in rows.items()}

    def __getitem__(self, k):
        return {name: array[k * self.size : (k + 1) * self.size] for name, array in self.rows.items()}

    def matrix(self, dtype=np.float32):
        """Of the only input."""
        if list(self.rows) != ["X"]:
            raise Absent("takes one matrix")
        return np.ascontiguousarray(self.rows["X"], dtype)


def address(array):
    return array.ctypes.data


class Native:
    """Engines that write f64 or f32 scores into `_results` and count batches in `_next`."""

    def first(self):
        """The scores of the first batch."""
        self._next.value = 0
        self.calls(1)
        return self._results.copy()


class Onnxc:
    name, title = "onnxc", "onnxc"

    def __init__(self, model_path, batches, options=(), threads=1):
        import onnxc

        self.session = onnxc.InferenceSession(str(model_path), options=options, threads=threads)
        self._batches = batches
        self._binding = self.session.bind(batches[0])
        whole = self.session.bind(batches.rows)._stored_inputs  # strings among them in the form that units read
        self._whole = [np.ascontiguousarray(array) for array in whole]
        count = len(self._whole)
        bases, sizes = (c.c_void_p * count)(*map(address, self._whole)), (c.c_int64 * count)(*(a.nbytes // batches.count for a in self._whole))
        function, run = native.library().onnxc_bench_rotate, c.cast(self.session._model.run, c.c_void_p)
        self._next = c.c_int64(0)

        def calls(n):
            if status := function(run, c.byref(self._binding._call), count, bases, sizes, c.c_int64(batches.count), c.byref(self._next), c.c_int64(n)):
                raise RuntimeError(f"status {status}")

        self.calls = calls
        self._kept = bases, sizes, whole

    def outputs(self, k):
        return self.session.run(None, self._batches[k])


def load_without_output_shapes(model_path, threads):
    """A session of ONNX Runtime. Converters declare one label for any number of rows, which its bindings insist on."""
    import onnx

    model = onnx.load(model_path)
    for output in model.graph.output:
        if output.type.HasField("tensor_type"):
            output.type.tensor_type.ClearField("shape")
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, Path(folder) / "model.onnx")
        return OnnxRuntime.load(Path(folder) / "model.onnx", None, threads)


class Ort:
    name, title, module = "ort", "ONNX Runtime", "onnxruntime"

    def __init__(self, model_path, batches, threads=1):
        import onnxruntime as ort

        self.session = load_without_output_shapes(model_path, threads)
        self._batches, self._next = batches, 0
        self.bound = all(array.dtype != object for array in batches.rows.values())
        self._kept = []
        if not self.bound:  # its bindings take no strings
            self._feeds = [batches[k] for k in range(batches.count)]
            self._run = lambda feeds: self.session.run(None, feeds)
            return
        outputs = [np.asarray(o) for o in self.session.run(None, batches[0])]
        values = [None if o.dtype == object else ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(o)) for o in outputs]
        self._feeds = []
        for k in range(batches.count):
            binding = self.session.io_binding()
            inputs = {name: ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array)) for name, array in batches[k].items()}
            for name, value in inputs.items():
                binding.bind_ortvalue_input(name, value)
            for info, value in zip(self.session.get_outputs(), values):
                if value is None:
                    binding.bind_output(info.name, "cpu")
                else:
                    binding.bind_ortvalue_output(info.name, value)
            self._kept += [inputs, values]
            self._feeds.append(binding)
        self._run = self.session.run_with_iobinding

    def calls(self, n):
        run, feeds, at, count = self._run, self._feeds, self._next, len(self._feeds)
        for _ in range(n):
            run(feeds[at])
            at = at + 1 if at + 1 < count else 0
        self._next = at

    def outputs(self, k):
        return [np.asarray(o) for o in self.session.run(None, self._batches[k])]


class LightGbm(Native):
    """By its C functions: the one for a single row with what can be prepared, and the one for matrices."""
    name, title, module = "lightgbm", "LightGBM", "lightgbm"

    def __init__(self, model_path, batches):
        text = model_path.parent / "lightgbm.txt"
        if not text.exists():
            raise Absent("not trained by LightGBM")
        import lightgbm
        from lightgbm.basic import _LIB

        self._booster = lightgbm.Booster(model_file=str(text))
        x = self._x = batches.matrix()
        handle, parameters, features = self._booster._handle, b"num_threads=1", x.shape[1]
        results, step = np.zeros(batches.size * self._booster.num_model_per_iteration()), c.c_int64(0)
        self._next, self._results, self._written = step, results, c.c_int64(0)
        if batches.size == 1:
            self._config = c.c_void_p()
            if _LIB.LGBM_BoosterPredictForMatSingleRowFastInit(handle, 0, 0, -1, 0, features, parameters, c.byref(self._config)):
                raise RuntimeError("LightGBM refuses the row")
            predict, rotate = c.cast(_LIB.LGBM_BoosterPredictForMatSingleRowFast, c.c_void_p), native.library().onnxc_bench_rotate_lightgbm
            self.calls = lambda n: rotate(predict, self._config, c.c_void_p(address(x)), c.c_int64(x[0].nbytes), c.c_void_p(address(results)), c.c_int64(batches.count), c.byref(step), c.c_int64(n))
            return
        places = [c.c_void_p(address(x[k * batches.size :])) for k in range(batches.count)]
        out, written = c.c_void_p(address(results)), c.byref(self._written)

        def calls(n):
            for _ in range(n):
                if _LIB.LGBM_BoosterPredictForMat(handle, places[step.value], 0, c.c_int32(batches.size), features, 1, 0, 0, -1, parameters, written, out):
                    raise RuntimeError("LightGBM fails")
                step.value = (step.value + 1) % len(places)

        self.calls = calls


class XgBoost:
    """From Python, in place."""
    name, title, module = "xgboost", "XGBoost", "xgboost"

    def __init__(self, model_path, batches):
        path = model_path.parent / "xgboost.ubj"
        if not path.exists():
            raise Absent("not trained by XGBoost")
        import xgboost

        self._booster, x = xgboost.Booster(params={"nthread": 1}, model_file=str(path)), batches.matrix()
        self._next, self._parts = 0, [x[k * batches.size : (k + 1) * batches.size] for k in range(batches.count)]

    def calls(self, n):
        for _ in range(n):
            self._booster.inplace_predict(self._parts[self._next])
            self._next = (self._next + 1) % len(self._parts)


class Lleaves(Native):
    name, title, module = "lleaves", "lleaves", "lleaves"

    def __init__(self, model_path, batches):
        path = model_path.parent / "lightgbm.txt"
        if not path.exists():
            raise Absent("not trained by LightGBM")
        refuse_large(model_path)
        import lleaves

        x = self._x = batches.matrix(np.float64)
        self._model = lleaves.Model(model_file=str(path))
        self._model.compile(cache=cached(path, "lleaves"))
        results, step = np.zeros(batches.size * self._model.num_model_per_iteration()), c.c_int64(0)
        self._results, self._next = results, step
        predict, rotate = c.cast(self._model._c_entry_func, c.c_void_p), native.library().onnxc_bench_rotate_lleaves
        self.calls = lambda n: rotate(predict, c.c_void_p(address(x)), c.c_int64(batches.size * x[0].nbytes), c.c_int32(batches.size), c.c_void_p(address(results)), c.c_int64(batches.count), c.byref(step), c.c_int64(n))


class Tl2cgen(Native):
    name, title, module = "tl2cgen", "tl2cgen", "tl2cgen"

    def __init__(self, model_path, batches):
        import tl2cgen
        import treelite

        folder = model_path.parent
        path = next((p for p in (folder / "lightgbm.txt", folder / "xgboost.ubj", folder / "forest.treelite") if p.exists()), None)
        if path is None:
            raise Absent("no forest that treelite reads")
        refuse_large(model_path)
        if path.suffix == ".txt":
            forest = treelite.frontend.load_lightgbm_model(str(path))
        elif path.suffix == ".ubj":
            forest = treelite.frontend.load_xgboost_model(str(path), format_choice="ubjson")
        else:
            forest = treelite.Model.deserialize_bytes(path.read_bytes())
        built = cached(path, "tl2cgen").with_suffix(".so")
        if not built.exists():
            fresh = built.with_name(f"{os.getpid()}.{built.name}")
            tl2cgen.export_lib(forest, toolchain="gcc", libpath=str(fresh), params={"parallel_comp": 8}, nthread=1)
            fresh.rename(built)
        library = self._library = c.CDLL(str(built))
        kind = {}
        for what in "threshold", "leaf_output":
            function = getattr(library, f"get_{what}_type")
            function.restype = c.c_char_p
            kind[what] = np.dtype(function().decode())
        classes = (c.c_int32 * library.get_num_target())()
        library.get_num_class(classes)
        x = self._x = batches.matrix(kind["threshold"])
        words = x.view(np.int32).reshape(*x.shape, -1)
        words[np.isnan(x), 0] = -1  # a union whose integer says that a value is missing
        results, step = np.zeros((batches.size, sum(classes)), kind["leaf_output"]), c.c_int64(0)
        self._results, self._next = results, step
        predict, rotate = c.cast(library.predict, c.c_void_p), native.library().onnxc_bench_rotate_tl2cgen
        self.calls = lambda n: rotate(predict, c.c_void_p(address(x)), c.c_int64(x[0].nbytes), c.c_int64(batches.size), c.c_void_p(address(results)), c.c_int64(results[0].nbytes), c.c_int64(batches.count), c.byref(step), c.c_int64(n))


PEERS = {engine.name: engine for engine in (Ort, LightGbm, XgBoost, Lleaves, Tl2cgen)}
TITLES = {engine.name: engine.title for engine in (Onnxc, *PEERS.values())}


def cached(path, what):
    """Where what an engine compiled of a file is kept."""
    CACHE.mkdir(parents=True, exist_ok=True)
    return CACHE / f"{what}-{hashlib.sha256(path.read_bytes()).hexdigest()[:32]}"


def forest_nodes(model_path):
    """Its nodes that hold trees."""
    import onnx

    return [node for node in onnx.load(model_path).graph.node if node.op_type.startswith("TreeEnsemble")]


def lists(node):
    return {a.name: a for a in node.attribute}


def leaves(model_path):
    count = 0
    for node in forest_nodes(model_path):
        a = lists(node)
        count += len(a["leaf_targetids"].ints) if node.op_type == "TreeEnsemble" else sum(mode == b"LEAF" for mode in a["nodes_modes"].strings)
    return count


def trees(model_path):
    return sum(len(a["tree_roots"].ints) if node.op_type == "TreeEnsemble" else len(set(a["nodes_treeids"].ints)) for node in forest_nodes(model_path) for a in [lists(node)])


def available(names):
    return [name for name in names if importlib.util.find_spec(PEERS[name].module)]
