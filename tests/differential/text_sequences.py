"""Strings, sequences and optionals."""
import numpy as np
from onnx import helper

from draw import WORDS
from spec import Spec, generator

I64 = np.int64


@generator("StringNormalizer")
def normalizer(d, op):
    words = [d.one("Mon", "tue", "WED", "a b", "", "mon") for _ in range(d.int(1, 6))]
    x = np.array(words, object) if d.chance(0.6) else np.array([words], object)
    attributes = {"case_change_action": d.one("LOWER", "UPPER", "NONE"), "is_case_sensitive": d.int(0, 1), "locale": "C"}
    if d.chance(0.6):
        attributes["stopwords"] = d.subset(["mon", "Mon", "WED", "nothing"], 1)
    return Spec(op, [x], attributes, opset=d.opset(op))


@generator("StringConcat")
def concat(d, op):
    shape = d.shape(0, 4)
    return Spec(op, [d.array(d.broadcastable(shape), object), d.array(d.broadcastable(shape), object)], opset=d.opset(op))


@generator("StringSplit")
def split(d, op):
    texts = [d.one("a,b,c", "a b  c", "", " x ", "a,,b", "word", ",", "一,二 三") for _ in range(d.int(1, 6))]
    attributes = {}
    if d.chance(0.6):
        attributes["delimiter"] = d.one(",", " ", "", ",,")
    if d.chance(0.5):
        attributes["maxsplit"] = d.int(1, 3)
    shape = (len(texts),) if d.chance(0.6) else (1, len(texts))
    return Spec(op, [np.array(texts, object).reshape(shape)], attributes, outputs=2, opset=d.opset(op))


@generator("RegexFullMatch")
def regex(d, op):
    pattern = d.one("a.*", "[a-z]+", r"\d+", "(a|b)*c?", ".*", "", "[^x]{2,3}", r"-?\d+(\.\d+)?", "(?i)ab", r"\w+\s\w+")
    return Spec(op, [d.array(d.shape(0, 3), object)], {"pattern": pattern}, opset=d.opset(op))


@generator("TfIdfVectorizer")
def tf_idf(d, op):
    pool = [1, 2, 3, 4, 1, 2, 2, 3, 4, 1]
    attributes = {"mode": d.one("TF", "IDF", "TFIDF"), "min_gram_length": (low := d.int(1, 2)), "max_gram_length": d.int(low, 2), "max_skip_count": d.int(0, 2),
                  "ngram_counts": [0, 4], "ngram_indexes": d.permutation(7), "pool_int64s": pool}
    if d.chance(0.5):
        attributes["weights"] = [d.uniform(0.1, 2) for _ in range(7)]
    x = d.array(d.ints(d.int(1, 2), 1, 8), d.one(np.int64, np.int32), "grid", 0, 5)
    return Spec(op, [x], attributes, opset=d.opset(op))


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, **attributes)


@generator("SequenceAt", "SequenceErase", "SequenceInsert", "SequenceLength", "SplitToSequence", "ConcatFromSequence", "SequenceConstruct")
def sequences(d, op):
    """A sequence is made and taken apart again, so that what comes out are tensors."""
    opset = d.one(11, 13, 17, 21, 24)
    kind = np.dtype(d.one(np.float32, np.int64, np.float64, np.uint8, bool, object))
    shape, count = d.shape(1, 3, zero=0), d.int(1, 4)
    tensors = [d.array(shape, kind) for _ in range(count)]
    names = [f"x{i}" for i in range(count)]
    nodes, inputs = [node("SequenceConstruct", names, ["s"])], list(tensors)
    if op == "SplitToSequence":
        axis = d.axis(len(shape))
        shape[axis] = d.int(1, 5)
        inputs, attributes = [d.array(shape, kind)], {"axis": axis}
        if d.chance(0.7):
            if d.chance(0.5):
                parts = [1] * shape[axis] if d.chance(0.3) else [shape[axis] - 1, 1] if shape[axis] > 1 else [1]
                inputs.append(np.array(parts, I64))
            else:
                inputs.append(np.array(d.int(1, shape[axis]), I64))
        elif d.chance(0.5):
            attributes["keepdims"] = d.int(0, 1)
        count = len(range(0, shape[axis], int(inputs[1]))) if len(inputs) > 1 and inputs[1].ndim == 0 else inputs[1].size if len(inputs) > 1 else shape[axis]
        nodes = [node("SplitToSequence", [f"x{i}" for i in range(len(inputs))], ["s"], **attributes)]
        names = [f"x{i}" for i in range(len(inputs))]
    position = np.array(d.int(-count, count - 1), d.one(np.int64, np.int32))
    where = f"x{len(inputs)}"
    fixed = tuple(range(1, len(inputs))) if op == "SplitToSequence" else ()
    if op == "SequenceErase" and count > 1:
        nodes, inputs = nodes + [node("SequenceErase", ["s", where], ["t"])], inputs + [position]
    elif op == "SequenceInsert":
        nodes, inputs = nodes + [node("SequenceInsert", ["s", "x0", where], ["t"])], inputs + [np.array(d.int(-count, count), I64)]
    else:
        nodes = nodes + [node("Identity", ["s"], ["t"])] if opset >= 14 else nodes[:-1] + [helper.make_node(nodes[-1].op_type, names, ["t"])] if op != "SplitToSequence" else nodes
        if op == "SplitToSequence" and opset < 14:
            nodes[0].output[0] = "t"
    if op == "SequenceLength":
        nodes.append(node("SequenceLength", ["t"], ["y0"]))
    elif op == "SequenceAt" or op == "SplitToSequence":
        nodes.append(node("SequenceAt", ["t", f"x{len(inputs)}"], ["y0"]))
        inputs.append(position)
    else:
        nodes.append(node("ConcatFromSequence", ["t"], ["y0"], axis=d.int(-len(shape), len(shape) - 1), **d.one({}, {"new_axis": d.int(0, 1)})))
    return Spec(op, inputs, opset=opset, nodes=nodes, constants=fixed + (len(inputs) - 1,), symbols=False)
