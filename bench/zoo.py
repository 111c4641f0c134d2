"""Which models of a folder are dense networks: convolutional networks and perceptrons in f32."""
from pathlib import Path

PRODUCTS = {"Conv", "ConvTranspose", "Gemm", "MatMul"}
OTHER_FIELDS = {"LSTM", "GRU", "RNN", "Loop", "If", "Scan", "Attention", "GroupQueryAttention"}  # recurrent, control flow, attention


def models(folder):
    """The models in a folder: NAME.onnx, and NAME/model.onnx."""
    folder = Path(folder)
    return sorted([*folder.glob("*.onnx"), *folder.glob("*/model.onnx")])


def is_dense(path):
    """True for a model of f32 alone whose products all have constant weights: attention multiplies two computed values."""
    import onnx

    graph = onnx.load(path, load_external_data=False).graph
    operators = {node.op_type for node in graph.node}
    if not operators & PRODUCTS or operators & OTHER_FIELDS or any(node.domain == "ai.onnx.ml" for node in graph.node):
        return False
    if any("Quantize" in o or "Integer" in o or o.startswith("QLinear") or "NBits" in o for o in operators):
        return False
    weights = {i.name for i in graph.initializer}
    if any(i.type.tensor_type.elem_type != onnx.TensorProto.FLOAT for i in graph.input if i.name not in weights):
        return False
    constant = set(weights)
    for node in graph.node:  # in topological order: what is computed from constants alone is constant, too
        if node.op_type == "Constant" or (node.input and all(not i or i in constant for i in node.input)):
            constant.update(node.output)
        elif node.op_type == "MatMul" and not constant & set(node.input):
            return False
    half = {onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16}
    return not any(i.data_type in half for i in graph.initializer)
