"""Numbers of inputs and outputs, and what outputs are stated to be."""
import functools

from onnx import helper

from bends.draft import Bend, TYPES
from bends.inputs import elements_of
from seeds import tensor_type


def on_names(of, change):
    """Puts what `change` makes of the names of the node's inputs or outputs (`of`) in their place."""
    def apply(d):
        names = getattr(d.node, of)
        wanted = change(list(names))
        del names[:]
        names.extend(wanted)
    return apply


def arity_bends(draft):
    names = functools.partial(on_names, "input")
    count = len(draft.node.input)
    if count:
        yield Bend("arity/none", names(lambda n: []))
        yield Bend("arity/all_blank", names(lambda n: [""] * len(n)))
        yield Bend("arity/undefined", names(lambda n: n[:-1] + ["undefined"]))
        yield Bend("arity/own_output", names(lambda n: n[:-1] + ["y0"]))
        for extra in (1, 20):
            yield Bend(f"arity/{extra}_more", names(lambda n, extra=extra: n + [n[0] or n[-1]] * extra))
        yield Bend("arity/20_blank_more", names(lambda n: n + [""] * 20))
        for i in range(count):
            if i < count - 1:
                yield Bend(f"arity/first_{i + 1}", names(lambda n, i=i: n[: i + 1]))
            if draft.node.input[i]:
                yield Bend(f"arity/blank_x{i}", names(lambda n, i=i: n[:i] + [""] + n[i + 1:]))
        if count > 1:
            yield Bend("arity/swapped", names(lambda n: [n[1], n[0]] + n[2:]))
            yield Bend("arity/reversed", names(lambda n: n[::-1]))
            yield Bend("arity/all_first", names(lambda n: [n[0]] * len(n)))
    else:
        yield Bend("arity/undefined", names(lambda n: ["undefined"]))
        yield Bend("arity/20_blank_more", names(lambda n: [""] * 20))


def output_bends(draft):
    names = functools.partial(on_names, "output")
    yield Bend("output/none", names(lambda n: []))
    yield Bend("output/all_blank", names(lambda n: [""] * len(n)))
    for k, name in enumerate(draft.node.output):
        if name:
            yield Bend(f"output/blank_{name}", names(lambda n, k=k: n[:k] + [""] + n[k + 1:]))
            yield Bend(f"output/first_{k + 1}", names(lambda n, k=k: n[: k + 1]))
            yield Bend(f"output/unread_{name}", lambda d, k=k: d.hidden.add(k))
    yield Bend("output/repeated", names(lambda n: n + [n[0]]))
    for extra in (1, 2, 20):
        yield Bend(f"output/{extra}_more", names(lambda n, extra=extra: n + [f"z{k}" for k in range(extra)]))
    if draft.node.input:
        yield Bend("output/of_input", names(lambda n: [draft.node.input[0]] + n[1:]))
    first = next(iter(draft.node.output), "")
    if first:
        def declared(type):
            def apply(d):
                d.output_types[first] = type
            return apply
        for name in ("float", "int64", "bool", "string", "undefined"):
            yield Bend(f"declared/{name}", declared(tensor_type(TYPES[name], None)))
        for name, shape in (("rank_0", []), ("rank_7", [1, 2, 3, 4, 5, 6, 7]), ("large", [2**58, 2**58]), ("negative", [-1])):
            def shaped(d, shape=shape):
                elements = next((elements_of(v)[0] for v in d.inputs if elements_of(v)), 1)
                d.output_types[first] = tensor_type(elements, shape)
            yield Bend(f"declared/{name}", shaped)
        yield Bend("declared/sequence", declared(helper.make_sequence_type_proto(tensor_type(1, [2]))))
        yield Bend("declared/optional", declared(helper.make_optional_type_proto(tensor_type(1, [2]))))
        yield Bend("declared/map", declared(helper.make_map_type_proto(7, tensor_type(1, []))))
