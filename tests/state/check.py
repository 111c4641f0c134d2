"""States: 100 steps with caches and other states at one place, to the bit what the same model gives with them as inputs and outputs, and near ONNX Runtime.

    check.py [MODEL_FOLDER...]      also models of the zoo

Made models: a decoder's attention with a cache (past and present [batch, heads, past, size]), a cache along the outermost axis, a recurrent network, a window of
the last samples, caches that have their capacity, and what is scattered. Each is compiled with -O0 and -O3, the decoder for two threads, too. Then what is refused, and how.
Units are built by tests/units.py.
"""
import itertools
import os
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import onnxc

sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from units import Unit, sessions  # noqa: E402

RANDOM = np.random.default_rng(7)


FORMS = ("-O0", 1), ("-O3", 1), ("-O3", 2)


def built_together(units):
    """Their sessions."""
    made = sessions(units)
    for error in made:
        if isinstance(error, Exception):
            raise error
    return made


def model(nodes, inputs, outputs, weights=()):
    def infos(values):
        return [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in values]

    graph = helper.make_graph(nodes, "step", infos(inputs), infos(outputs), [numpy_helper.from_array(value, name) for name, value in weights])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made, full_check=True)
    return made


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


F, I64 = TensorProto.FLOAT, TensorProto.INT64


def decoder(heads=3, size=8):
    """x [batch, tokens, heads * size] attends to itself and to what came before, in two layers."""
    width = heads * size
    nodes, weights, x = [], [("parts", np.array([0, 0, heads, size])), ("whole", np.array([0, 0, width])), ("scale", np.float32(size**-0.5))], "x"
    inputs, outputs = [("x", F, ["batch", "tokens", width])], [("y", F, ["batch", "tokens", width])]
    for layer in range(2):
        for name in "qkv":
            weights.append((f"w{name}{layer}", normal(width, width) / width**0.5))
            nodes += [helper.make_node("MatMul", [x, f"w{name}{layer}"], [f"{name}{layer}"]),
                      helper.make_node("Reshape", [f"{name}{layer}", "parts"], [f"{name}{layer}_parts"]),
                      helper.make_node("Transpose", [f"{name}{layer}_parts"], [f"{name}{layer}_heads"], perm=[0, 2, 1, 3])]
        for name, word in ("k", "key"), ("v", "value"):
            past, present = f"past_{word}_{layer}", f"present_{word}_{layer}"
            inputs.append((past, F, ["batch", heads, "past", size]))
            outputs.append((present, F, ["batch", heads, "all", size]))
            nodes.append(helper.make_node("Concat", [past, f"{name}{layer}_heads"], [present], axis=2))
        nodes += [helper.make_node("Transpose", [f"present_key_{layer}"], [f"kt{layer}"], perm=[0, 1, 3, 2]),
                  helper.make_node("MatMul", [f"q{layer}_heads", f"kt{layer}"], [f"s{layer}"]),
                  helper.make_node("Mul", [f"s{layer}", "scale"], [f"scaled{layer}"]),
                  helper.make_node("Softmax", [f"scaled{layer}"], [f"p{layer}"], axis=-1),
                  helper.make_node("MatMul", [f"p{layer}", f"present_value_{layer}"], [f"o{layer}"]),
                  helper.make_node("Transpose", [f"o{layer}"], [f"t{layer}"], perm=[0, 2, 1, 3]),
                  helper.make_node("Reshape", [f"t{layer}", "whole"], [f"joined{layer}"]),
                  helper.make_node("Add", [f"joined{layer}", x], [f"x{layer + 1}" if layer == 0 else "y"])]
        x = f"x{layer + 1}"
    return model(nodes, inputs, outputs, weights)


def outermost():
    """A cache that is as it should be: the sum of all rows so far."""
    nodes = [helper.make_node("Concat", ["past", "x"], ["present"], axis=0), helper.make_node("ReduceSum", ["present", "first"], ["y"], keepdims=0)]
    return model(nodes, [("x", F, ["tokens", 5]), ("past", F, ["past", 5])], [("y", F, [5]), ("present", F, ["all", 5])], [("first", np.array([0]))])


def recurrent(size=16):
    weights = [("w", normal(1, 4 * size, 6)), ("r", normal(1, 4 * size, size) / 4), ("b", normal(1, 8 * size))]
    nodes = [helper.make_node("LSTM", ["x", "w", "r", "b", "", "h_in", "c_in"], ["y", "h_out", "c_out"], hidden_size=size)]
    state = [1, "batch", size]
    return model(nodes, [("x", F, ["time", "batch", 6]), ("h_in", F, state), ("c_in", F, state)],
                 [("y", F, ["time", 1, "batch", size]), ("h_out", F, state), ("c_out", F, state)], weights)


def window(keeps=6):
    """A convolution of a stream: the last samples are seen again. They are read once more after the new state is known."""
    weights = [("w", normal(4, 1, keeps + 1)), ("from", np.array([-keeps])), ("to", np.array([2**31])), ("axis", np.array([2]))]
    nodes = [helper.make_node("Concat", ["state", "x"], ["seen"], axis=2), helper.make_node("Slice", ["seen", "from", "to", "axis"], ["stateN"]),
             helper.make_node("Conv", ["seen", "w"], ["c"]), helper.make_node("ReduceMean", ["state"], ["m"], axes=[2], keepdims=1), helper.make_node("Add", ["c", "m"], ["y"])]
    return model(nodes, [("x", F, [1, 1, 10]), ("state", F, [1, 1, keeps])], [("y", F, [1, 4, 10]), ("stateN", F, [1, 1, keeps])], weights)


def moves():
    """States that change places (a and b), that move on by one (c to d to e), and one that is its own transpose; outputs have what they were."""
    node, square = helper.make_node, [3, 3]
    pairs = [("b_in", "a_out"), ("a_in", "b_out"), ("x", "c_out"), ("c_in", "d_out"), ("d_in", "e_out"), ("a_in", "y"), ("e_in", "z")]
    nodes = [*[node("Identity", [of], [to]) for of, to in pairs], node("Transpose", ["t_in"], ["t_out"], perm=[1, 0])]
    nodes.append(node("If", ["which"], ["w"], **{name: helper.make_graph([node(op, [of], [name])], name, [], [helper.make_tensor_value_info(name, F, square)])
                                               for name, op, of in (("then_branch", "Neg", "b_in"), ("else_branch", "Identity", "d_in"))}))
    states = "abcdet"
    return model(nodes, [("x", F, square), ("which", TensorProto.BOOL, []), *[(f"{s}_in", F, square) for s in states]], [(name, F, square) for name in ("y", "z", "w")] + [(f"{s}_out", F, square) for s in states])


def moved_states():
    made = moves()
    reference = onnxruntime.InferenceSession(made.SerializeToString())
    names = [o.name for o in reference.get_outputs()]
    for session in built_together([Unit(made, (options, "--state=auto"), threads) for options, threads in FORMS]):
        state = session.new_state()
        kept = {name: normal(3, 3) for name in state.values}
        for name, value in state.values.items():
            value[:] = kept[name]
        for step in range(6):
            feeds = {"x": normal(3, 3), "which": np.array(step % 2 == 0)}
            wanted = dict(zip(names, reference.run(None, {**feeds, **kept})))
            got = dict(zip(names, state.run(names, feeds)))
            for name in names:
                assert np.array_equal(got[name], wanted[name]), f"step {step}: '{name}' differs"
            kept = {name: wanted[name.replace("_in", "_out")] for name in kept}
    print("states that move: as ONNX Runtime has them")


def grouped(heads=4, groups=2, size=16):
    """Grouped queries over caches that have their capacity, of which the mask says how much is there, as ONNX Runtime's exporter for language models writes it."""
    nodes = [helper.make_node("ReduceSum", ["mask", "axis"], ["shown"], keepdims=0), helper.make_node("Sub", ["shown", "one"], ["longest"]),
             helper.make_node("Cast", ["longest"], ["lengths"], to=TensorProto.INT32), helper.make_node("Shape", ["mask"], ["extents"], start=1),
             helper.make_node("Cast", ["extents"], ["total"], to=TensorProto.INT32)]
    weights, x = [("axis", np.array([1])), ("one", np.array(1))], "x"
    inputs, outputs = [("x", F, ["batch", "tokens", heads * size]), ("mask", I64, ["batch", "all"])], [("y", F, ["batch", "tokens", heads * size])]
    for layer in range(2):
        weights.append((f"w{layer}", normal(heads * size, (heads + 2 * groups) * size) / 8))
        inputs += [(f"past_key_values.{layer}.{kind}", F, ["batch", groups, "past", size]) for kind in ("key", "value")]
        outputs += [(f"present.{layer}.{kind}", F, ["batch", groups, "after", size]) for kind in ("key", "value")]
        result = "y" if layer == 1 else "x1"
        nodes += [helper.make_node("MatMul", [x, f"w{layer}"], [f"qkv{layer}"]),
                  helper.make_node("GroupQueryAttention", [f"qkv{layer}", "", "", *(name for name, _, _ in inputs[-2:]), "lengths", "total"], [result, *(name for name, _, _ in outputs[-2:])],
                                   domain="com.microsoft", num_heads=heads, kv_num_heads=groups)]
        x = result
    graph = helper.make_graph(nodes, "step", [helper.make_tensor_value_info(*i) for i in inputs], [helper.make_tensor_value_info(*o) for o in outputs],
                              [numpy_helper.from_array(value, name) for name, value in weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)], ir_version=8)


def updated_caches(room=40):
    """Beside ONNX Runtime, whose caches grow, and to the bit what the unit gives with caches of that capacity as inputs and outputs. A second text is one token shorter."""
    made = grouped()
    reference, names = onnxruntime.InferenceSession(made.SerializeToString()), [o.name for o in made.graph.output]
    built = built_together([Unit(made, (level, *more)) for level in ("-O0", "-O3") for more in ((), ("--state=auto",))])
    for batch, (session, keeping) in itertools.product((1, 2), zip(built[::2], built[1::2])):
        state = keeping.new_state(batch=batch, past=room)
        kept = {i.name: np.zeros((batch, 2, room, 16), np.float32) for i in made.graph.input if "past" in i.name}
        theirs, before = {name: value[:, :, :0] for name, value in kept.items()}, 0
        for tokens in [7, *[1] * 20, 5, *[1] * (room - 32)] if batch == 1 else [1] * room:  # ONNX Runtime takes several tokens of one text
            mask = np.ones((batch, before + tokens), np.int64)
            mask[1:, max(before, 1):] = 0
            feeds = {"x": normal(batch, tokens, 64), "mask": mask}
            wanted, given = (dict(zip(names, s.run(names, {**feeds, **caches}))) for s, caches in ((reference, theirs), (session, kept)))
            got, = state.run(["y"], feeds)
            assert np.array_equal(got, given["y"]), f"behind {before} tokens: it differs"
            error = np.abs(got - wanted["y"]).max() / max(1, np.abs(wanted["y"]).max())
            assert error <= 2e-5, f"behind {before} tokens: it is {error:.2g} from ONNX Runtime's"
            kept, theirs = ({name: values[name.replace("past_key_values", "present")] for name in kept} for values in (given, wanted))
            before += tokens
        for name, value in state.values.items():
            assert np.array_equal(value, kept[name]), f"what is kept of '{name}' differs"
        try:
            state.run(["y"], {"x": normal(batch, 1, 64), "mask": np.ones((batch, room + 1), np.int64)})
        except Exception as error:  # noqa: BLE001 - whatever Python makes of the status
            assert "have room for all" in str(error), error
        else:
            raise AssertionError("a cache has more than its room")
    print(f"caches with their capacity: {room} tokens of one text and of two")


def scattered():
    """A TensorScatter is written in place only where nobody else reads what was there."""
    def of(*more):
        nodes = [helper.make_node("TensorScatter", ["past", "x", "at"], ["present"], axis=1), *more, helper.make_node("Mul", ["present", "two"], ["y"])]
        outputs = [("y", F, [2, 6, 3]), ("present", F, [2, 6, 3])] + [(n.output[0], F, [2, 6, 3]) for n in more]
        graph = helper.make_graph(nodes, "step", [helper.make_tensor_value_info(*i) for i in (("past", F, [2, 6, 3]), ("x", F, [2, 2, 3]), ("at", I64, [2]))],
                                  [helper.make_tensor_value_info(*o) for o in outputs], [numpy_helper.from_array(np.float32(2), "two")])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=12)

    models = of(), of(helper.make_node("Neg", ["past"], ["before"])), of(helper.make_node("Identity", ["past"], ["before"]))
    built = built_together([Unit(made, (level, "--state=past=present")) for level in ("-O0", "-O3") for made in models])
    for made, keeping in zip(models * 2, built):
        state, cache = keeping.new_state(), np.zeros((2, 6, 3), np.float32)
        for at in ([0, 3], [2, 1], [4, 4]):
            x, before = normal(2, 2, 3), cache.copy()
            for b in range(2):
                cache[b, at[b] : at[b] + 2] = x[b]
            y, present, *others = state.run(None, {"x": x, "at": np.array(at)})
            assert np.array_equal(present, cache) and np.array_equal(y, 2 * cache), f"{at}: {present}, not {cache}"
            sign = -1 if made.graph.node[1].op_type == "Neg" else 1
            assert all(np.array_equal(other, sign * before) for other in others), f"{at}: what was before is {others}"
    print("what is scattered: in place, or not where others read it")


def steps_of(made, session, state, count, feed, tolerance):
    """Runs both `count` steps on what `feed` gives for a step; what they keep and give is the same, and ONNX Runtime's within the tolerance."""
    reference = onnxruntime.InferenceSession(made if isinstance(made, str) else made.SerializeToString())
    names = [o.name for o in reference.get_outputs()]
    pairs = {session.get_inputs()[past].name: names[present] for present, past in enumerate(state._session._states) if past >= 0}
    own = [name for name in names if name not in pairs.values()]
    kept, theirs = None, None
    for step in range(count):
        feeds = feed(step, sum(a is not None for a in state._lengths) and max(a or 0 for a in state._lengths))
        if kept is None:  # empty caches, and zeros
            shapes = {i.name: i.shape for i in reference.get_inputs()}
            batch = next((v.shape[0] if v.ndim != 3 or "tokens" in map(str, shapes[k]) else v.shape[1] for k, v in feeds.items() if v.ndim > 1), 1)
            kept = {name: np.zeros([d if isinstance(d, int) and d > 0 else 0 if "past" in str(d) else batch for d in shapes[name]], np.float32) for name in pairs}
            theirs = dict(kept)
        given = dict(zip(names, session.run(None, {**feeds, **kept})))
        wanted = dict(zip(names, reference.run(None, {**feeds, **theirs})))
        got = dict(zip(own, state.run(own, feeds)))
        for name in own:
            assert np.array_equal(got[name], given[name], equal_nan=True), f"step {step}: '{name}' differs"
            error = np.abs(got[name] - wanted[name]).max() / max(1, np.abs(wanted[name]).max())
            assert error <= tolerance, f"step {step}: '{name}' is {error:.2g} from ONNX Runtime's"
        kept = {past: given[present] for past, present in pairs.items()}
        theirs = {past: wanted[present] for past, present in pairs.items()}
    return kept


def same_kept(state, kept):
    for name, value in state.values.items():
        grown = next((axis for axis in range(value.ndim) if sorted(value.shape) == sorted(kept[name].shape) and value.shape != kept[name].shape), None)
        turned = kept[name] if grown is None else np.moveaxis(kept[name], next(a for a in range(value.ndim) if kept[name].shape[a] == value.shape[0]), 0)
        assert np.array_equal(value, turned), f"what is kept of '{name}' differs"


def made_models():
    def tokens(step, _):
        return {"x": normal(2, 5 if step == 0 else 1, 24)}  # a prompt, then one by one

    cases = [
        ("decoder", decoder(), tokens, {"batch": 2, "past": 104}, 2e-5),
        ("outermost cache", outermost(), lambda step, _: {"x": normal(step % 3, 5)}, {"past": 400}, 2e-5),
        ("recurrent", recurrent(), lambda step, _: {"x": normal(1 + step % 2, 3, 6)}, {"batch": 3}, 2e-5),
        ("window", window(), lambda step, _: {"x": normal(1, 1, 10)}, {}, 2e-5),
    ]
    forms = [(case, options, threads) for case in cases for options, threads in FORMS if threads == 1 or case[0] == "decoder"]
    built = iter(built_together([Unit(case[1], (options, *more), threads) for case, options, threads in forms for more in ((), ("--state=auto",))]))
    for (name, made, feed, sizes, tolerance), options, threads in forms:
        session, state = next(built), next(built).new_state(**sizes)
        kept = steps_of(made, session, state, 100, feed, tolerance)
        same_kept(state, kept)
        state.reset()
        kept = steps_of(made, session, state, 3, feed, tolerance)
        same_kept(state, kept)
        print(f"{name} {options} with {threads} threads: 103 steps")


def zoo_model(folder):
    made = onnx.load(str(folder / "model.onnx"))
    session, keeping = built_together([Unit(made), Unit(made, ("--state=auto",))])
    if folder.name == "silero_vad":
        state = keeping.new_state(**{name: 1 for name, _, _ in keeping._symbols if name.startswith("state")})
        kept = {"state": np.zeros((2, 1, 128), np.float32)}
        for step in range(50):
            feeds = {"input": normal(1, 512) * 0.1, "sr": np.array(16000)}
            given, got = session.run(None, {**feeds, **kept}), state.run(["output"], feeds)
            assert np.array_equal(got[0], given[0]), f"step {step} differs"
            kept = {"state": given[1]}
    else:
        vocabulary = 6000
        state = keeping.new_state(batch=1, past=128)
        kept = {i.name: np.zeros([d if isinstance(d, int) else 0 if d == "past" else 1 for d in i.shape], np.float32) for i in session.get_inputs() if i.name.startswith("past")}
        names, before = [o.name for o in session.get_outputs()], 0
        for step in range(100):
            count = 9 if step == 0 else 1
            feeds = {"input_ids": RANDOM.integers(0, vocabulary, (1, count)), "attention_mask": np.ones((1, before + count), np.int64), "position_ids": np.arange(before, before + count)[None]}
            given = dict(zip(names, session.run(None, {**feeds, **kept})))
            got = state.run([names[0]], feeds)
            assert np.array_equal(got[0], given[names[0]]), f"step {step} differs"
            kept = {name.replace("present", "past"): value for name, value in given.items() if name.startswith("present")}
            before += count
    print(f"{folder.name}: the same to the bit")


def refusals():
    def refused(made, option, words):
        try:
            onnxc.InferenceSession(made, options=[f"--state={option}"])
        except onnxc.CompileError as error:
            assert words in str(error), f"--state={option}: {error}"
        else:
            raise AssertionError(f"--state={option} was accepted")

    made = window()
    refused(made, "state", "neither auto nor INPUT=OUTPUT")
    refused(made, "nothing=stateN", "which is no input")
    refused(made, "state=nothing", "which is no output")
    refused(made, "state=y", "cannot be the state behind 'state'")
    refused(model([helper.make_node("Neg", ["x"], ["y"])], [("x", F, [3])], [("y", F, [3])]), "auto", "no input and output have the names")
    keeping, = built_together([Unit(outermost(), ("--state=past=present",))])
    x = normal(2, 5)
    for call, words in (lambda: keeping.run(None, {"x": x, "past": normal(1, 5)}), "new_state"), (lambda: keeping.new_state(), "'past'"), (lambda: keeping.new_state(past=4, more=1), "'more'"):
        try:
            call()
        except ValueError as error:
            assert words in str(error), error
        else:
            raise AssertionError(f"no error about {words}")
    state = keeping.new_state(past=3)
    state.run(None, {"x": x})
    try:
        state.run(None, {"x": x})
    except ValueError as error:
        assert "no room" in str(error), error
    else:
        raise AssertionError("a cache grew beyond its room")
    state.run(None, {"x": normal(1, 5)})
    print("what is refused is refused")


def main():
    made_models()
    moved_states()
    updated_caches()
    scattered()
    refusals()
    for folder in map(pathlib.Path, sys.argv[1:]):
        zoo_model(folder)
    print("states: all right")


if __name__ == "__main__":
    main()
