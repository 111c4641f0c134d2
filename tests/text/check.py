#!/usr/bin/env python3
"""Operators on strings, with attributes and data drawn at random, through ONNX Runtime and through onnxc. Usage: see tests/ml/check.py."""
import pathlib
import sys

import numpy as np
from onnx import TensorProto as T
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "ml"))
import check as common  # noqa: E402

common.CHECKS.clear()
TEXTS = ["", "a", "b", "ab", "abc", "aab", "abab", "A", "aB", "é", "ÉTÉ", "été ab", " a b  c ", "a,b,,c", ",", "a\nb", "12", "-1.5e3", "x_1", "Straße", "ёЖ", "a\0b", "漢字", "٣½", "Ǆǅ", "Kskſ\u212a", "ıİθϑ"]


def model(op, arrays, outputs, opset=20, domain="", fixed=False, **attributes):
    infos = [helper.make_tensor_value_info(n, T.STRING if a.dtype == object else helper.np_dtype_to_tensor_dtype(a.dtype), list(a.shape) if fixed else [None] * a.ndim) for n, a in arrays.items()]
    node = helper.make_node(op, list(arrays), list(outputs), domain=domain, **attributes)
    results = [helper.make_tensor_value_info(n, t, None) for n, t in outputs.items()]
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(helper.make_graph([node], op, infos, results), opset_imports=opsets, ir_version=9)


def texts(r, *shape):
    return np.array([TEXTS[int(i)] for i in r.integers(0, len(TEXTS), int(np.prod(shape)))], object).reshape(shape)


def pattern(r, depth=0):
    atoms = ["a", "b", "c", ".", "[ab]", "[^a]", r"\w", r"\d", r"\s", "[a-c]", "é", r"\x61", "[[:alpha:]]", r"\W", "[^[:digit:]a]", "A", r"\pL", r"\p{Lu}", r"\P{Ll}", r"[\pN\p{Cyrillic}]", r"\p{^Latin}", r"[^\p{P}\pZ]", r"\b", "^", "$", ",", r"\,", "(?i:é)", r"\D", r"\P{Lu}",
             "[[:^lower:]]", r"[^\p{Ll}]", r"[\P{Lu}_]", "ſ", "[^Ss]", r"\P{^Lt}"]
    kind = r.random()
    if depth > 3 or kind < 0.35:
        return str(r.choice(atoms))
    if kind < 0.55:
        return pattern(r, depth + 1) + pattern(r, depth + 1)
    if kind < 0.7:
        return f"({pattern(r, depth + 1)}|{pattern(r, depth + 1)})"
    group = str(r.choice(["(", "(?:", "(?i)(", "(?s:", "(?P<n>" if depth == 0 else "(?:", "(?m:"]))
    return group + pattern(r, depth + 1) + ")" + str(r.choice(["*", "+", "?", "{2}", "{1,3}", "{0,2}?", "*?", "{2,}"]))


@common.check
def RegexFullMatch(r):
    x = texts(r, 5, 8)
    return common.compare(model("RegexFullMatch", {"x": x}, {"y": T.BOOL}, pattern=pattern(r)), {"x": x})


@common.check
def Tokenizer(r):
    x = texts(r, int(r.integers(1, 8)))
    how = dict(tokenexp=pattern(r)) if r.random() < 0.6 else dict(separators=[str(r.choice([" ", ",", "[ab]", "a|b", " +"]))])
    a = dict(mark=int(r.integers(2)), mincharnum=int(r.integers(1, 3)), pad_value="#", **how)
    return common.compare(model("Tokenizer", {"x": x}, {"y": T.STRING}, domain="com.microsoft", **a), {"x": x})


@common.check
def TextFeatures(r):
    """Strings to counts of n-grams: onnxc computes the nodes together, without a heap."""
    lines = [" ".join(str(r.choice(["Red", "green", "BLUE", "a", "I", "été", "été,x", "K\u212aB", "green-red", "", "longer_than_the_others"])) for _ in range(int(r.integers(0, 9))))
             for _ in range(int(r.integers(1, 7)))]
    how = [dict(tokenexp="[a-zA-Z0-9_]+"), dict(tokenexp="\\w\\w+"), dict(tokenexp="[^ ]+"), dict(separators=[" "]), dict(separators=[" +", ","]), dict(separators=[""])][int(r.integers(6))]
    case = str(r.choice(["NONE", "LOWER", "UPPER"]))
    words = ["red", "green", "blue", "été", "a", "e", "r", "RED", "GREEN", "É", "Red", "kkb"]
    singles = [str(w) for w in r.choice(words, int(r.integers(1, 7)), replace=False)]
    pairs = [str(w) for _ in range(int(r.integers(0, 6))) for w in r.choice(words, 2)]
    pairs = [w for pair in sorted({tuple(pairs[i : i + 2]) for i in range(0, len(pairs), 2)}) for w in pair]
    count = len(singles) + len(pairs) // 2
    pool = dict(min_gram_length=int(r.integers(1, 3)) if pairs else 1, max_gram_length=2 if pairs else 1, max_skip_count=0, mode=str(r.choice(["TF", "IDF", "TFIDF"])),
                ngram_counts=[0, len(singles)] if pairs else [0], ngram_indexes=[int(i) for i in r.permutation(count)], pool_strings=singles + pairs)
    if r.random() < 0.5:
        pool["weights"] = [float(w) for w in r.random(count)]
    nodes = [helper.make_node("StringNormalizer", ["x"], ["s"], case_change_action=case, is_case_sensitive=1, locale="C.UTF-8")] if r.random() < 0.7 else []
    nodes += [helper.make_node("Tokenizer", ["s" if nodes else "x"], ["t"], domain="com.microsoft", mark=0, mincharnum=1, pad_value="#", **how)]
    column = not nodes[1:] and r.random() < 0.5
    nodes += [helper.make_node("Flatten", ["t"], ["f"])] if column else []
    nodes += [helper.make_node("TfIdfVectorizer", ["f" if column else "t"], ["y"], **pool)]
    ends = [helper.make_tensor_value_info("x", T.STRING, [None, 1] if column else [None]), helper.make_tensor_value_info("y", T.FLOAT, [None, None])]
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    made = helper.make_model(helper.make_graph(nodes, "text", ends[:1], ends[1:]), opset_imports=opsets, ir_version=9)
    return common.compare(made, {"x": np.array(lines, object).reshape([-1, 1] if column else [-1])}, options=["--no-heap"])


@common.check
def StringConcat(r):
    shapes = [((3, 4), (3, 4)), ((3, 4), (4,)), ((2, 1, 3), (4, 1)), ((), (2,)), ((0, 3), (1, 3))][int(r.integers(5))]
    feeds = {"a": texts(r, *shapes[0]), "b": texts(r, *shapes[1])}
    return common.compare(model("StringConcat", feeds, {"y": T.STRING}, fixed=True), feeds)


@common.check
def StringSplit(r):
    # White space: ONNX Runtime means blanks, and drops those behind the last piece; ONNX's reference does as Python.
    x = np.array([t for t in texts(r, 12).tolist() if not t.endswith(" ") and "\n" not in t], object)
    a = {}
    if r.random() < 0.6:
        a["delimiter"] = str(r.choice([",", "b", "ab", ""]))
    if r.random() < 0.5:
        a["maxsplit"] = int(r.integers(0, 4))
    return common.compare(model("StringSplit", {"x": x}, {"y": T.STRING, "n": T.INT64}, **a), {"x": x})


@common.check
def StringNormalizer(r):
    x = np.array([t for t in texts(r, 10).tolist() if "ß" not in t], object)
    a = dict(case_change_action=str(r.choice(["NONE", "LOWER", "UPPER"])), is_case_sensitive=int(r.integers(2)), locale="en_US.UTF-8" if r.random() < 0 else "C.UTF-8")
    if r.random() < 0.7:
        a["stopwords"] = [t for t in texts(r, 5).tolist() if "ß" not in t and "\0" not in t]
    if r.random() < 0.3:
        x = x.reshape(1, -1)
    return common.compare(model("StringNormalizer", {"x": x}, {"y": T.STRING}, opset=10, **a), {"x": x})


@common.check
def CastToString(r):
    dtype = r.choice([np.float32, np.float64, np.float16, np.int8, np.int64, np.uint64, np.bool_])
    # Floats of few digits: ONNX Runtime always writes up to eight, onnxc and onnx.reference as many as the number needs.
    floats = r.integers(-800, 800, 40) / 8 if dtype == np.float16 else [float(f"{v:.5g}") for v in r.standard_normal(40) * 10.0 ** r.integers(-8, 9, 40)]
    x = np.array(floats, dtype) if np.dtype(dtype).kind == "f" else r.integers(0, 120, 40).astype(dtype)
    return common.compare(model("Cast", {"x": x}, {"y": T.STRING}, opset=19, to=T.STRING), {"x": x})


@common.check
def CastFromString(r):
    to = int(r.choice([T.FLOAT, T.DOUBLE, T.INT8, T.INT64, T.UINT64, T.INT32, T.FLOAT16]))
    forms = ["{:g}", "{:.3f}", " {:+.2e}", "{:.0f}abc"] if to in (T.FLOAT, T.DOUBLE, T.FLOAT16) else ["{:.0f}", " {:+.0f}", "{:.3f}"]
    x = np.array([str(r.choice(forms)).format(v) for v in r.standard_normal(30) * 50], object)
    return common.compare(model("Cast", {"x": x}, {"y": to}, opset=19, to=to), {"x": x})


if __name__ == "__main__":
    sys.exit(common.main())
