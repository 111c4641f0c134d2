"""A model whose looks may change: what the forms share."""
import copy

import numpy as np
from onnx import helper

from values import type_of

class Dressed:
    """A model, with what it is fed in each world, and its outputs: name -> Value."""

    def __init__(self, graph):
        self.random, self.worlds = np.random.default_rng([4711, graph.seed]), graph.worlds
        self.model, self.opset = graph.model(), graph.opset
        self.feeds = [graph.feeds(world) for world in range(graph.worlds)]
        self.values = {v.name: v for v in [*graph.values, *graph.constants, *graph.inputs]}
        self.outputs = [v.name for v in graph.outputs]
        self.wanted = {v.name: v for v in graph.outputs}  # by the name that the output has
        self.forms, self.count = [], 0

    @property
    def graph(self):
        return self.model.graph

    def chance(self, p):
        return self.random.random() < p

    def among(self, items):
        return items[int(self.random.integers(len(items)))]

    def fresh(self, base):
        self.count += 1
        return f"{base}_{self.count}"


def names_read(node):
    """What a node reads, with what its regions capture."""
    read = {name for name in node.input if name}
    for attribute in node.attribute:
        if attribute.HasField("g"):
            read |= names_captured(attribute.g)
    return read


def names_captured(region):
    defined = {i.name for i in region.input} | {i.name for i in region.initializer}
    read = set()
    for node in region.node:
        read |= names_read(node) - defined
        defined |= set(node.output)
    return read | {o.name for o in region.output} - defined


def block(d, most=5):
    """Neighbours in the list of nodes: (first, end, names from outside, names that others read), or None."""
    nodes = d.graph.node
    if not nodes:
        return None
    first = int(d.random.integers(len(nodes)))
    end = min(len(nodes), first + 1 + int(d.random.integers(most)))
    inside = nodes[first:end]
    written = {name for node in inside for name in node.output if name}
    read, known = [], set()
    for node in inside:
        for name in sorted(names_read(node)):
            if name not in written and name not in known:
                known.add(name)
                read.append(name)
    others = {name for node in [*nodes[:first], *nodes[end:]] for name in names_read(node)} | {o.name for o in d.graph.output}
    given = sorted(written & others)
    if not given or not all(name in d.values for name in given):  # what is no tensor
        return None
    return first, end, read, given


def replace(d, first, end, nodes):
    kept = list(d.graph.node)
    del d.graph.node[:]
    d.graph.node.extend(kept[:first] + nodes + kept[end:])


def renamed(nodes, suffix):
    """Copies in which all names that they define have a suffix."""
    nodes = [copy.deepcopy(node) for node in nodes]
    defined = set()

    def collect(some):
        for node in some:
            defined.update(name for name in node.output if name)
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    defined.update(i.name for i in [*attribute.g.input, *attribute.g.initializer])
                    collect(attribute.g.node)

    def change(some):
        for node in some:
            for names in (node.input, node.output):
                names[:] = [name + suffix if name in defined else name for name in names]
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    for info in [*attribute.g.input, *attribute.g.output, *attribute.g.initializer]:
                        if info.name in defined:
                            info.name += suffix
                    change(attribute.g.node)

    collect(nodes)
    change(nodes)
    return nodes


def info_of(d, name, as_name=None):
    value = d.values[name]
    return helper.make_tensor_value_info(as_name or name, type_of(value.dtype), [None] * value.rank)


def add_output(d, name, value_name):
    d.values[name] = d.wanted[name] = d.values[value_name]
    d.outputs.append(name)
    d.graph.output.append(info_of(d, name))
