"""Outputs, names, orders, stated types, what stands between nodes."""
import copy

from onnx import helper

from dressed import add_output, info_of, names_read, replace
from values import type_of


def outputs_twice(d):
    """An output that is another one, too."""
    if len(d.outputs) > 10:
        return False
    name, source = d.fresh("again"), d.among(d.outputs)
    d.graph.node.append(helper.make_node("Identity", [source], [name]))
    add_output(d, name, source)
    return True


def inputs_out(d):
    """An output that is an input, or a constant, as it is."""
    names = [i.name for i in d.graph.input if i.name in d.values] + [t.name for t in d.graph.initializer if t.name in d.values]
    names = [n for n in names if n not in d.outputs]
    if not names:
        return False
    name = d.among(names)
    if d.chance(0.5):
        d.wanted[name] = d.values[name]
        d.outputs.append(name)
        d.graph.output.append(info_of(d, name))
        return True
    passed = d.fresh("passed")
    d.graph.node.append(helper.make_node("Identity", [name], [passed]))
    add_output(d, passed, name)
    return True


def steps_aside(d):
    """Identity and Dropout between nodes."""
    nodes = []
    for node in d.graph.node:
        for k, name in enumerate(node.input):
            if name in d.values and d.chance(0.15):
                aside = d.fresh("aside")
                nodes.append(helper.make_node("Dropout" if d.values[name].is_float and d.chance(0.3) else "Identity", [name], [aside]))
                node.input[k] = aside
                d.values[aside] = d.values[name]
        nodes.append(node)
    replace(d, 0, len(d.graph.node), [copy.deepcopy(node) for node in nodes])
    return True


ODD = ("a b", "int", "x/y:0", "x.y", "x_y", "1st", "größe", "run", "_", "onnxc", "a\"b", "new\\line", "%d", "std", "ARENA", "__", "dims", "y'")


def odd_names(d):
    """What no identifier may be."""
    names = [i.name for i in d.graph.input] + [o.name for o in d.graph.output]
    names += [n for node in d.graph.node for n in node.output if n and n not in names]
    chosen = [names[i] for i in d.random.permutation(len(names))[:1 + int(d.random.integers(4))]]
    free = [ODD[i] for i in d.random.permutation(len(ODD))]
    table = {name: free.pop() for name in dict.fromkeys(chosen) if name not in {t.name for t in d.graph.initializer}}

    def change(graph):
        for info in [*graph.input, *graph.output, *graph.value_info]:
            info.name = table.get(info.name, info.name)
        for node in graph.node:
            for list_ in (node.input, node.output):
                list_[:] = [table.get(n, n) for n in list_]
            node.name = node.name if d.chance(0.9) else d.among(ODD)
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    change(attribute.g)

    change(d.graph)
    for holder in (d.values, d.wanted, *d.feeds):
        for old, new in table.items():
            if old in holder:
                holder[new] = holder.pop(old)
    d.outputs = [table.get(n, n) for n in d.outputs]
    return True


def stated_types(d):
    """Types of values inside, and extents of outputs where they are always the same."""
    written = [n for node in d.graph.node for n in node.output if n in d.values and n not in d.outputs]
    for name in written:
        if d.chance(0.4):
            d.graph.value_info.append(stated(d, name))
    for k, output in enumerate(d.graph.output):
        if d.chance(0.5):
            d.graph.output[k].CopyFrom(stated(d, output.name))
    return True


def stated(d, name):
    value = d.values[name]
    extents = [e if d.worlds == 1 or value.is_fixed(a) else None for a, e in enumerate(value.arrays[0].shape)]
    return helper.make_tensor_value_info(name, type_of(value.dtype), extents)


def order(d):
    """Any order in which each node follows what it reads."""
    nodes, placed = list(d.graph.node), []
    waiting = {name: k for k, node in enumerate(nodes) for name in node.output if name}
    needs = [{waiting[name] for name in names_read(node) if name in waiting} for node in nodes]
    left, done = set(range(len(nodes))), set()
    while left:
        k = d.among(sorted(k for k in left if needs[k] <= done))
        placed.append(copy.deepcopy(nodes[k]))
        left.remove(k)
        done.add(k)
    replace(d, 0, len(nodes), placed)
    return True
