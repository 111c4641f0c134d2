"""Nodes that become a function, a branch, a loop."""
import copy

import numpy as np
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from dressed import add_output, block, info_of, renamed, replace
from grow import DOMAINS, opset_imports
from values import STRING

LOCAL = "local.functions"


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
