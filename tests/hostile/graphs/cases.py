"""A random model with what is right of it, and what is wrong with what onnxc made of it."""
import copy
import pathlib
import re
import sys

import numpy as np
import onnx
import onnx.inliner
import onnxruntime
from onnx import numpy_helper

import grow
from dress import FORMS, dress

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[3] / "python")]
import onnxc  # noqa: E402

# A run may end with one of these in place of a result: what a unit knows when it is compiled does not suffice.
LIMITS = ["without axes it would drop an extent of 1, and the rank of its result is fixed"]
# And a model may be refused for these, each a limit that ARCHITECTURE.md states.
REFUSALS = [
    "results of .* depend on the machine; leave --math=reproducible out",
    "known only when the model runs; make it a constant of the model, or give it a known length",  # of the shape: the rank would be one that only a run tells
]


def matches(text, patterns):
    return next((p for p in patterns if re.search(p, text)), None)


FLUSHED = float(np.finfo(np.float32).tiny)  # what is smaller may become zero (--subnormals=flush), also where f64 is made of it


def wrong(a, e, error, exactly=False):
    """What is wrong with an array, or nothing."""
    a, e = np.asarray(a), np.asarray(e)
    if a.shape != e.shape or a.dtype != e.dtype:
        return f"{a.dtype}{list(a.shape)}, expected {e.dtype}{list(e.shape)}"
    if e.dtype == object or e.dtype == bool or e.dtype.kind in "iu":
        off = np.asarray(a != e)
        return f"{int(off.sum())} of {off.size} differ: {a[off].flat[0]!r}, expected {e[off].flat[0]!r}" if off.any() else ""
    a, e = a.astype(np.float64), e.astype(np.float64)
    same = (a == e) | (np.isnan(a) & np.isnan(e))
    distance = np.where(same, 0.0, np.abs(a - e))
    if (distance <= (0.0 if exactly else error + FLUSHED)).all():
        return ""
    return f"differs by up to {np.nanmax(distance, initial=0.0):.3g}, bound {error:.3g}"


def inlined(model):
    """Without functions, as ONNX Runtime crashes on some of these. ONNX's inliner knows no defaults of attributes: calls get them first."""
    if not model.functions:
        return model
    model = copy.deepcopy(model)
    known = {(f.domain, f.name): f for f in model.functions}

    def complete(nodes):
        for node in nodes:
            function = known.get((node.domain, node.op_type))
            for default in function.attribute_proto if function else []:
                if default.name not in {a.name for a in node.attribute}:
                    node.attribute.append(default)
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    complete(attribute.g.node)

    for nodes in (model.graph.node, *(f.node for f in model.functions)):
        complete(nodes)
    return onnx.inliner.inline_local_functions(model)


class Case:
    def __init__(self, seed, plain=False):
        self.seed = seed
        self.grown = grow.make(seed)
        self.refused, self.limited, self.declined, self.compared = "", "", "", 0
        without = []
        for _ in range(3):  # without the forms that an oracle refuses
            self.dressed = dress(self.grown, [form.__name__ for form, _ in FORMS] if plain else without)
            self.refused = self.ask()
            if not self.refused:
                return
            without += ["inputs_out", "odd_names"] if not without else ["defaults", "function", "trips", "branch"]

    def ask(self):
        """Asks ONNX Runtime for all results. Why it has none, or they are not those that grew."""
        d = self.dressed
        try:
            try:
                onnx.checker.check_model(d.model)
            except onnx.checker.ValidationError as error:
                if "No Op registered for SimplifiedLayerNormalization" not in str(error):  # which ONNX Runtime has in ONNX's own domain
                    raise
            session = grow.session_of(inlined(d.model))
            self.wanted = [session.run(d.outputs, feeds) for feeds in d.feeds]
        except Exception as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"
        for world, results in enumerate(self.wanted):
            for name, array in zip(d.outputs, results):
                if fault := wrong(array, d.wanted[name].arrays[world], d.wanted[name].errors[world]):
                    return f"ONNX Runtime gives two answers: {name}: {fault}"
        return ""

    def is_disputed(self):
        """Whether ONNX Runtime's own optimisations change results by more than the bounds: then nobody can say who is wrong."""
        for level in ("ORT_ENABLE_BASIC", "ORT_ENABLE_ALL"):
            try:
                session = grow.session_of(inlined(self.dressed.model), getattr(onnxruntime.GraphOptimizationLevel, level))
                results = [session.run(self.dressed.outputs, feeds) for feeds in self.dressed.feeds]
            except Exception:
                continue
            for world, arrays in enumerate(results):
                for name, array in zip(self.dressed.outputs, arrays):
                    if wrong(array, self.dressed.wanted[name].arrays[world], self.dressed.wanted[name].errors[world]):
                        return True
        return False

    def judge(self, session, worlds=None, again=None):
        """What is wrong with a session, or nothing. `again`: another session of the same unit, whose results have to be the same bits."""
        if isinstance(session, onnxc.CompileError):
            if session.exit_code == 1 and (why := matches(str(session), REFUSALS)):
                self.declined = why
                return ""
            return str(session)
        for world in range(self.grown.worlds) if worlds is None else worlds:
            feeds = self.dressed.feeds[world]
            try:
                got = session.run(self.dressed.outputs, {i.name: feeds[i.name] for i in session.get_inputs()})
            except Exception as error:
                if why := matches(str(error), LIMITS):
                    self.limited = why
                    continue
                return f"world {world}: the run ends with {type(error).__name__}: {error}"
            twin = again.run(self.dressed.outputs, {i.name: feeds[i.name] for i in session.get_inputs()}) if again else got
            for name, array, other, expected in zip(self.dressed.outputs, got, twin, self.wanted[world], strict=True):
                value = self.dressed.wanted[name]
                self.compared += np.asarray(expected).size
                if fault := wrong(array, value.arrays[world], value.errors[world]):
                    return f"world {world}: {name}: {fault}"
                if fault := again and wrong(other, array, 0.0, exactly=True):
                    return f"world {world}: {name}: on another number of threads: {fault}"
        return ""

    def sees(self):
        """Would a result that lies twice the bound away, or an integer that is off by one, be found?"""
        for world in range(self.grown.worlds):
            for name, array in zip(self.dressed.outputs, self.wanted[world]):
                value, array = self.dressed.wanted[name], np.array(array)
                if not array.size or array.dtype.kind == "f" and not np.isfinite(array.reshape(-1)[-1]):
                    continue
                flat, error = array.reshape(-1), value.errors[world]
                if value.is_float:
                    flat[-1] += array.dtype.type(2 * (error + FLUSHED) + 2 * np.spacing(np.abs(flat[-1])))
                elif array.dtype == object:
                    flat[-1] += "x"
                else:
                    flat[-1] ^= array.dtype.type(1)
                if not wrong(array, value.arrays[world], error):
                    return False
        return True

    def operators(self):
        return [node.op_type if node.domain in ("", "ai.onnx.ml") else f"{node.domain}.{node.op_type}" for node in self.grown.nodes]

    def write(self, folder):
        """The model, with a data set for each world."""
        folder = pathlib.Path(folder) / f"graph_{self.seed}"
        folder.mkdir(parents=True, exist_ok=True)
        onnx.save(self.dressed.model, folder / "model.onnx")
        for world, feeds in enumerate(self.dressed.feeds):
            data = folder / f"test_data_set_{world}"
            data.mkdir(exist_ok=True)
            for kind, names, arrays in (("input", list(feeds), feeds.values()), ("output", self.dressed.outputs, self.wanted[world])):
                for k, (name, array) in enumerate(zip(names, arrays)):
                    (data / f"{kind}_{k}.pb").write_bytes(numpy_helper.from_array(np.asarray(array), name).SerializeToString())
        return folder
