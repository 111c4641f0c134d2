"""Other forms of a model that mean the same: functions, branches, loops, constants, names, outputs, orders. Each takes a Dressed and changes it."""
import copy

import numpy as np
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from grow import DOMAINS, opset_imports
from values import STRING, type_of

LOCAL = "local.functions"


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


# ---- regions and functions ----
def function(d):
    """Some nodes become a function of the model, called once or twice; an attribute may become one of the function."""
    found = block(d)
    if found is None:
        return False
    first, end, read, given = found
    body, name = [copy.deepcopy(node) for node in d.graph.node[first:end]], d.fresh("Function")
    attributes, defaults, at_call = [], [], {}
    candidates = [(n, a) for n in body for a in n.attribute if a.type in (AttributeProto.FLOAT, AttributeProto.INT, AttributeProto.INTS)]
    if candidates and d.chance(0.6):
        _, attribute = d.among(candidates)
        parameter, value = d.fresh("parameter"), helper.get_attribute_value(attribute)
        own = attribute.name, attribute.type
        attribute.Clear()
        attribute.name, attribute.type, attribute.ref_attr_name = own[0], own[1], parameter
        if d.chance(0.4):
            defaults.append(helper.make_attribute(parameter, value))
        else:
            attributes.append(parameter)
            at_call[parameter] = value
    made = helper.make_function(LOCAL, name, read, given, body, opset_imports(body, d.opset) + ([helper.make_opsetid(LOCAL, 1)] if any(n.domain == LOCAL for n in body) else []), attributes, defaults)
    d.model.functions.append(made)
    calls = [helper.make_node(name, read, given, domain=LOCAL, **at_call)]
    if d.chance(0.25):
        twin = [d.fresh("twin") for _ in given]
        calls.append(helper.make_node(name, read, twin, domain=LOCAL, **at_call))
        add_output(d, twin[0], given[0])
    replace(d, first, end, calls)
    if not any(o.domain == LOCAL for o in d.model.opset_import):
        d.model.opset_import.append(helper.make_opsetid(LOCAL, 1))
    for o in made.opset_import:
        if o.domain in DOMAINS and not any(o.domain == p.domain for p in d.model.opset_import):
            d.model.opset_import.append(helper.make_opsetid(o.domain, o.version))
    return True


def branch(d):
    """Some nodes move into both branches of an If, whatever its condition."""
    found = block(d)
    if found is None:
        return False
    first, end, _, given = found
    nodes = [copy.deepcopy(node) for node in d.graph.node[first:end]]
    regions = []
    for suffix in ("_then", "_else"):
        mine = renamed(nodes, d.fresh(suffix))
        outputs = dict(zip([n for node in nodes for n in node.output], [n for node in mine for n in node.output]))
        ends = [outputs[name] for name in given]
        if d.chance(0.3):
            aside = [d.fresh("aside") for _ in ends]
            mine += [helper.make_node("Identity", [e], [a]) for e, a in zip(ends, aside)]
            ends = aside
        regions.append(helper.make_graph(mine, suffix.strip("_"), [], [info_of(d, name, e) for name, e in zip(given, ends)]))
    condition = d.fresh("condition")
    if d.chance(0.6):
        d.graph.input.append(helper.make_tensor_value_info(condition, TensorProto.BOOL, []))
        for feeds in d.feeds:
            feeds[condition] = np.asarray(d.chance(0.5))
    else:
        d.graph.initializer.append(numpy_helper.from_array(np.asarray(d.chance(0.5)), condition))
    replace(d, first, end, [helper.make_node("If", [condition], given, then_branch=regions[0], else_branch=regions[1])])
    return True


def trips(d):
    """Some nodes move into a Loop, which computes the same in each trip."""
    found = block(d, 3)
    if found is None:
        return False
    first, end, _, given = found
    if not all(d.values[name].rank < 6 and d.values[name].dtype != STRING for name in given):
        return False
    mine = renamed(d.graph.node[first:end], d.fresh("_trip"))
    outputs = dict(zip([n for node in d.graph.node[first:end] for n in node.output], [n for node in mine for n in node.output]))
    i, go, on, count = d.fresh("i"), d.fresh("go"), d.fresh("on"), 1 + int(d.random.integers(3))
    mine.append(helper.make_node("Identity", [go], [on]))
    body = helper.make_graph(mine, "body", [helper.make_tensor_value_info(i, 7, []), helper.make_tensor_value_info(go, 9, [])],
                             [helper.make_tensor_value_info(on, 9, []), *[info_of(d, name, outputs[name]) for name in given]])
    times, last, stacked = d.fresh("times"), d.fresh("last"), [d.fresh("stacked") for _ in given]
    d.graph.initializer.extend([numpy_helper.from_array(np.asarray(count), times), numpy_helper.from_array(np.asarray(count - 1), last)])
    replace(d, first, end, [helper.make_node("Loop", [times, ""], stacked, body=body)] + [helper.make_node("Gather", [s, last], [name], axis=0) for s, name in zip(stacked, given)])
    return True


# ---- constants ----
def constant_nodes(d):
    """Initialisers become nodes, in the forms that Constant has."""
    kept, nodes = [], []
    for tensor in d.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if d.chance(0.5) or tensor.name in {i.name for i in d.graph.input}:
            kept.append(tensor)
            continue
        attribute = {"value": copy.deepcopy(tensor)}
        if d.chance(0.5) and array.ndim < 2:
            kind = {np.dtype(np.float32): "float", np.dtype(np.int64): "int", STRING: "string"}.get(array.dtype)
            if kind and (array.ndim == 0 or array.size):
                attribute = {f"value_{kind}{'s' if array.ndim else ''}": array.tolist() if array.ndim else array.item()}
        nodes.append(helper.make_node("Constant", [], [tensor.name], **attribute))
    replace(d, 0, 0, nodes)
    del d.graph.initializer[:]
    d.graph.initializer.extend(kept)
    return bool(nodes)


def twins(d):
    """A constant that is stated twice, for two readers or one."""
    names = {t.name: t for t in d.graph.initializer}
    for node in d.graph.node:
        for k, name in enumerate(node.input):
            if name in names and d.chance(0.3):
                tensor = copy.deepcopy(names[name])
                tensor.name = node.input[k] = d.fresh("twin")
                d.graph.initializer.append(tensor)
                if d.values.get(name):
                    d.values[tensor.name] = d.values[name]
    return True


def defaults(d):
    """Initialisers that are listed among the inputs, as all once were."""
    for tensor in d.graph.initializer:
        if d.chance(0.4):
            d.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    return True


def unused(d):
    """Inputs, constants and nodes that nothing reads."""
    name = d.fresh("unused")
    d.graph.input.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]))
    for feeds in d.feeds:
        feeds[name] = np.zeros((2, 3), np.float32)
    d.graph.initializer.append(numpy_helper.from_array(np.ones((3,), np.float32), d.fresh("unread")))
    reads = [v for v in d.values if d.values[v].is_float and v in {i.name for i in d.graph.input}]
    if reads:
        d.graph.node.append(helper.make_node("Neg", [d.among(reads)], [d.fresh("dead")]))
    return True


# ---- outputs, names, orders ----
def add_output(d, name, value_name):
    d.values[name] = d.wanted[name] = d.values[value_name]
    d.outputs.append(name)
    d.graph.output.append(info_of(d, name))


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


FORMS = [(order, 0.3), (steps_aside, 0.15), (twins, 0.25), (function, 0.2), (branch, 0.12), (trips, 0.08), (function, 0.1), (branch, 0.04), (outputs_twice, 0.08), (inputs_out, 0.1), (unused, 0.12),
         (constant_nodes, 0.25), (defaults, 0.08), (stated_types, 0.2), (odd_names, 0.12)]


def dress(graph, without=()):
    """A Dressed in some of the forms."""
    d = Dressed(graph)
    for form, p in FORMS:
        chosen = d.chance(p)
        if chosen and form.__name__ not in without and form(d):
            d.forms.append(form.__name__)
    return d


