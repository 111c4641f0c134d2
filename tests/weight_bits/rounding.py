"""What --weight-bits means, in numpy: weights are rounded in blocks, and their readers become com.microsoft's MatMulNBits and GatherBlockQuantized. The rules are those of
compiler/passes/round_block.h; sums are in the same order, so that codes are the same."""
import numpy as np
import onnx
from onnx import helper as h
from onnx import numpy_helper

FEWEST = 4096
SMALLEST = np.finfo(np.float32).tiny


def storable(scale):
    exact = np.maximum(scale.astype(np.float32), SMALLEST)
    with np.errstate(over="ignore"):
        half = exact.astype(np.float16).astype(np.float32)
    return np.where(np.abs(half - exact) <= np.float32(0.01) * exact, half, exact)


def round_rows(rows, bits, block):
    """Of rows [n, k]: codes [n, blocks, block], with 0 beyond k; scales and zero points [n, blocks]."""
    n, k = rows.shape
    blocks, most = -(-k // block), 2**bits - 1
    x = np.pad(rows, ((0, 0), (0, blocks * block - k))).reshape(n, blocks, block).astype(np.float64)
    low, high = np.minimum(x.min(2), 0), np.maximum(x.max(2), 0)

    def codes(scale, zero):
        return np.clip(np.rint(x * (1 / scale)[:, :, None]) + zero[:, :, None], 0, most)

    best, scales, zeros = np.full((n, blocks), np.inf), np.ones((n, blocks), np.float32), np.zeros((n, blocks))
    for i in range(8):
        scale = storable((high - low) / most * (1 - 0.6 / most * i))
        wide = scale.astype(np.float64)
        middle = np.floor(most / 2 - (low + high) / 2 / wide)
        for zero in (np.clip(middle, 0, most), np.clip(middle + 1, 0, most)):
            e = x - (codes(wide, zero) - zero[:, :, None]) * wide[:, :, None]
            error = np.zeros((n, blocks))
            for at in range(block):
                error += e[:, :, at] * e[:, :, at]
            better = (error < best) & (high > low)
            best, scales, zeros = np.where(better, error, best), np.where(better, scale, scales), np.where(better, zero, zeros)
    chosen = codes(scales.astype(np.float64), zeros)
    chosen.reshape(n, -1)[:, k:] = 0
    return chosen.astype(np.uint8), scales, zeros.astype(np.uint8)


def packed(codes, bits):
    """Codes of the last axis in bytes, the first in the lowest bits."""
    if bits == 8:
        return codes
    even = np.pad(codes, [(0, 0)] * (codes.ndim - 1) + [(0, codes.shape[-1] % 2)])
    return even[..., ::2] | even[..., 1::2] << 4


class Rewriting:
    """A model whose weights are rounded."""

    def __init__(self, model, bits, block):
        self.bits, self.block, self.codes = bits, block, []
        self.model = onnx.ModelProto()
        self.model.CopyFrom(model)
        graph = self.model.graph
        self.constants = {t.name: t for t in graph.initializer}
        self.constants.update({n.output[0]: n.attribute[0].t for n in graph.node if n.op_type == "Constant" and n.attribute[0].name == "value"})
        self.producers = {out: n for n in graph.node for out in n.output}
        nodes = [self.rewritten(n) for n in graph.node]
        del graph.node[:]
        graph.node.extend(nodes)
        self.model.opset_import.append(h.make_opsetid("com.microsoft", 1))

    def add(self, name, array):
        if all(t.name != name for t in self.model.graph.initializer):
            self.model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def matrix(self, name):
        """The constant, and whether it is transposed on the way."""
        transposed = False
        while name in self.producers and self.producers[name].op_type in ("Identity", "Transpose"):
            transposed ^= self.producers[name].op_type == "Transpose"
            name = self.producers[name].input[0]
        found = self.constants.get(name)
        if found is None or len(found.dims) != 2 or np.prod(found.dims) < FEWEST or found.data_type != onnx.TensorProto.FLOAT:
            return None, False
        return numpy_helper.to_array(found), transposed

    def rewritten(self, node):
        if node.op_type not in ("MatMul", "Gemm", "Gather"):
            return node
        at = 0 if node.op_type == "Gather" else 1
        weights, transposed = self.matrix(node.input[at])
        if weights is None:
            return node
        attributes = {a.name: h.get_attribute_value(a) for a in node.attribute}
        if node.op_type != "Gather" and transposed == bool(attributes.get("transB", 0)):
            weights = weights.T
        n, k = weights.shape
        block = min(self.block, max(16, 1 << (k - 1).bit_length()))
        codes, scales, zeros = round_rows(weights, self.bits, block)
        base = f"{node.input[at]}_{node.op_type == 'Gather'}_rounded"
        zero = self.add(base + "_zero", packed(zeros, self.bits))
        if node.op_type == "Gather":
            data = packed(codes.reshape(n, -1)[:, :k], self.bits)
            inputs = [self.add(base, data), node.input[1], self.add(base + "_scale", scales), zero]
            made = h.make_node("GatherBlockQuantized", inputs, node.output, domain="com.microsoft", bits=self.bits, block_size=block, gather_axis=0, quantize_axis=1)
        else:
            data = packed(codes, self.bits)
            inputs = [node.input[0], self.add(base, data), self.add(base + "_scale", scales.reshape(-1)), zero]
            inputs += ["", node.input[2]] if len(node.input) > 2 else []
            made = h.make_node("MatMulNBits", inputs, node.output, domain="com.microsoft", K=k, N=n, bits=self.bits, block_size=block)
        self.codes.append(data.tobytes())
        return made
