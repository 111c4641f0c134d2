"""What ONNX Runtime and onnx.reference disagree on, or one of them has wrong, by operator: whom the tests follow, and why."""
from dataclasses import dataclass

import numpy as np

from draw import is_float


@dataclass(frozen=True)
class Row:
    operators: str            # names, separated by blanks
    follow: str               # runtime, reference, neither
    reason: str
    when: object = None       # of a Spec; None: always
    always: bool = False      # also where both agree or only one answers: the other one is not to be trusted


def empty(spec):
    return 0 in spec.inputs[0].shape


def same(spec):
    return str(spec.attributes.get("auto_pad", "")).startswith("SAME")


def sparse(spec):
    """SAME where a stride is longer than the kernel reaches, so that some outputs have no input."""
    kernel, rank = spec.inputs[1].shape[2:], spec.inputs[0].ndim - 2
    strides, dilations = (spec.attributes.get(name, [1] * rank) for name in ("strides", "dilations"))
    return same(spec) and any((k - 1) * g + 1 < s for k, g, s in zip(kernel, dilations, strides))


def grouped(spec):
    return spec.attributes.get("group", 1) > 1


def has_nan(spec):
    x = spec.inputs[0]
    return is_float(x.dtype) and bool(np.isnan(x.astype(np.float64)).any())


def few_bits(spec):
    return spec.op == "Cast" and spec.attributes["to"] in (21, 22, 25, 26) or spec.op == "CastLike" and spec.inputs[1].dtype.name in ("int4", "uint4", "int2", "uint2")


def to_text(spec):
    return spec.attributes.get("to") == 8 or spec.op == "CastLike" and spec.inputs[1].dtype == object


def fractional(spec):
    if spec.attributes.get("coordinate_transformation_mode") not in ("align_corners", "pytorch_half_pixel", "tf_crop_and_resize") or len(spec.inputs) != 3:
        return False
    extents = np.array(spec.inputs[0].shape)[spec.attributes.get("axes", list(range(spec.inputs[0].ndim)))]
    lengths = spec.inputs[2] * extents
    return bool((abs(lengths - np.round(lengths)) > 1e-6).any())


def special_recurrence(spec):
    named = {"clip", "activations", "input_forget"} & set(spec.attributes)
    return bool(named) or len(spec.inputs) > 4 and spec.inputs[4] is not None or "activation_alpha" in spec.attributes


ROWS = [
    Row("RNN GRU LSTM", "runtime", "onnx.reference ignores sequence_lens, clip, input_forget and activations", special_recurrence, always=True),
    Row("Scaler Normalizer", "runtime", "the result is float32 for every type; onnx.reference keeps the input's, or gives double, and divides by the largest magnitude for MAX"),
    Row("LinearRegressor", "runtime", "onnx.reference has NaN without intercepts"),
    Row("TreeEnsemble", "reference", "ONNX Runtime takes the numbers of SOFTMAX and LOGISTIC for one another", lambda s: s.attributes["post_transform"] in (1, 2)),
    Row("TreeEnsemble", "reference", "ONNX Runtime cuts a number to an integer before it looks for it among the members of a set", lambda s: "membership_values" in s.attributes),
    Row("TreeEnsembleRegressor", "reference", "ONNX Runtime leaves out the base of a target that no leaf of the row names",
        lambda s: "base_values" in s.attributes or "base_values_as_tensor" in s.attributes),
    Row("Loop", "runtime", "onnx.reference joins the scanned values along their first axis"),
    Row("Unique", "runtime", "onnx.reference turns the axes around for slices of the last axis that are not sorted", lambda s: "axis" in s.attributes),
    Row("ReduceProd ReduceSum ReduceSumSquare ReduceL1", "reference", "integers wrap; ONNX Runtime's end at the last one", lambda s: not is_float(s.inputs[0].dtype)),
    Row("Gather", "reference", "ONNX Runtime leaves most strings of a large result empty", lambda s: s.inputs[0].dtype == object),
    Row("Softplus", "reference", "ONNX Runtime overflows where log(1 + exp(x)) is x"),
    Row("Unsqueeze", "runtime", "axes count in the result; onnx.reference inserts one after the other", lambda s: s.opset < 13),
    Row("TfIdfVectorizer", "runtime", "weights[i] is that of the i-th n-gram; onnx.reference takes that of its column"),
    Row("SequenceInsert", "runtime", "onnx.reference inserts after a negative position"),
    Row("StringNormalizer", "runtime", "onnx.reference strips accents, and heeds the case of stopwords", always=True),
    Row("StringSplit", "runtime", "an empty string has no parts; Python's has one"),
    Row("Attention", "runtime", "mode 0 gives the products before the softcap; onnx.reference after it",
        lambda s: "softcap" in s.attributes and s.attributes.get("qk_matmul_output_mode", 0) == 0 and not isinstance(s.outputs, int) and len(s.outputs) > 3, always=True),
    Row("Attention", "reference", "masked scores are -inf, and keys of the past come before all queries; ONNX Runtime has the lowest number, and no past"),
    Row("GridSample", "runtime", "onnx.reference clamps the coordinate, not the pixels around it, for cubic sampling at a border"),
    Row("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", "runtime", "onnx.reference counts ignored targets in the mean without weights"),
    Row("Dropout", "reference", "the mask of a Dropout that drops nothing; ONNX Runtime leaves it false before opset 12"),
    Row("Resize", "neither", "where scale * extent is no integer, the length of the output is that product (onnx.reference, ONNX's tests of align_corners) or the rounded one", fractional),
    Row("Resize", "neither", "for exclude_outside, each loses weights of its own at a border", lambda s: s.attributes.get("exclude_outside") == 1),
    Row("Resize", "reference", "ONNX Runtime rounds a coordinate that lies between two pixels otherwise, as its float arithmetic has it"),
    Row("Softmax LogSoftmax Hardmax", "runtime", "before opset 13 these see a matrix, split at `axis`; onnx.reference reduces one axis", lambda s: s.opset < 13, always=True),
    Row("LRN", "runtime", "onnx.reference takes the batch for the channels", always=True),
    Row("BatchNormalization", "runtime", "before opset 14 onnx.reference takes the statistics of the batch", lambda s: s.opset < 14, always=True),
    Row("LpNormalization", "runtime", "onnx.reference sums x, not |x|, for p = 1", lambda s: s.attributes.get("p", 2) == 1, always=True),
    Row("GlobalMaxPool", "runtime", "onnx.reference drops axes of images that are not two-dimensional", lambda s: s.inputs[0].ndim != 4, always=True),
    Row("MaxPool AveragePool LpPool", "neither", "with auto_pad=SAME the output is ceil(input / stride); both leave the dilations out of the pads",
        lambda s: same(s) and s.attributes.get("dilations", [1]) != [1] * len(s.attributes["kernel_shape"]), always=True),
    Row("MaxPool", "runtime", "onnx.reference mixes up the axes of pads, and knows no -inf for what is outside"),
    Row("QLinearConv", "runtime", "onnx.reference broadcasts the weights' scales along the last axis, and loses an axis of one-dimensional images"),
    Row("RoiAlign", "neither", "before opset 16 ONNX Runtime has the max of the corners' products, and onnx.reference the half pixel of opset 16",
        lambda s: s.opset < 16 and s.attributes.get("mode") == "max", always=True),
    Row("RoiAlign", "runtime", "onnx.reference shifts by half a pixel, which opset 16 brought", lambda s: s.opset < 16, always=True),
    Row("RoiAlign", "reference", "ONNX Runtime's max is that of the products with the weights", lambda s: s.attributes.get("mode") == "max"),
    Row("ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare", "reference",
        "ONNX Runtime keeps the extents of empty tensors", empty),
    Row("Shape", "runtime", "onnx.reference does not clamp an end before the start"),
    Row("Slice", "runtime", "with a negative step a start before the first element is the first one; numpy takes nothing"),
    Row("ConvTranspose", "neither", "with auto_pad=SAME the output is input * stride; where the kernel does not reach that far ONNX Runtime has less, and onnx.reference pads "
        "by less than nothing, which shifts the image", sparse, always=True),
    Row("ConvTranspose", "runtime", "onnx.reference mixes up groups", grouped, always=True),
    Row("Col2Im", "reference", "ONNX Runtime mixes up the dilations of three axes"),
    Row("ReduceMax ReduceMin", "reference", "NaN is propagated, as numpy does; ONNX Runtime loses it among other numbers", has_nan),
    Row("ReduceLogSumExp", "neither", "integers are computed in double (the function body); ONNX Runtime cuts each step, onnx.reference fails",
        lambda s: not is_float(s.inputs[0].dtype), always=True),
    Row("CastLike", "neither", "ONNX Runtime leaves round_mode out, onnx.reference has none", lambda s: "round_mode" in s.attributes, always=True),
    Row("Cast CastLike", "reference", "a float becomes an integer of 4 or 2 bits by truncation; ONNX Runtime rounds", few_bits),
    Row("Cast CastLike", "runtime", "infinity becomes the largest float8e8m0 where it saturates, whatever the rounding; onnx.reference has NaN unless it rounds up",
        lambda s: s.attributes.get("to") == 24 or s.op == "CastLike" and s.inputs[1].dtype.name == "float8_e8m0fnu"),
    Row("Cast CastLike", "runtime", "onnx.reference writes Python's text of a number", to_text),
    Row("MatMul Gemm", "reference", "the sum of no products is 0; ONNX Runtime leaves the memory as it is, or takes another shape", lambda s: 0 in s.inputs[0].shape, always=True),
    Row("Shrink", "reference", "ONNX Runtime computes all types in float"),
    Row("Clip", "reference", "ONNX Runtime clips infinity where a bound is absent"),
    Row("AveragePool", "neither", "before opset 7 padding is not counted; onnx.reference counts it, ONNX Runtime has no kernel", lambda s: s.opset < 7, always=True),
]


def row_for(spec, runtime, reference, differ):
    """The row that decides a case: where both answer and differ, or where the one that `always` distrusts answers alone."""
    for row in ROWS:
        if spec.op not in row.operators.split() or (row.when is not None and not row.when(spec)):
            continue
        alone = row.always and (row.follow == "neither" or (not runtime if row.follow == "runtime" else not reference))
        if differ or alone:
            return row
    return None
