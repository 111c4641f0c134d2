#!/usr/bin/env python3
"""Networks of PyTorch, by both of its exporters: the one of TorchScript, which writes what a run did, and the one of torch.export (dynamo), which reads the program.

    from_pytorch.py [NAME...]
"""
import contextlib
import io
import logging
import sys

import numpy as np
import onnx
import torch
from round_trip import Case, exported, main
from torch import nn

torch.manual_seed(0)
logging.disable(logging.WARNING)


def by_script(network, inputs, sizes, names):
    file = io.BytesIO()
    axes = {name: {axis: str(size) for axis, size in by_axis.items()} for name, by_axis in zip(names, sizes) if by_axis}
    torch.onnx.export(network, inputs, file, dynamo=False, input_names=names, dynamic_axes=axes, opset_version=17)
    return onnx.load_from_string(file.getvalue())


def by_program(network, inputs, sizes, names):
    shapes = tuple({axis: torch.export.Dim(size, min=2, max=64) for axis, size in by_axis.items()} for by_axis in sizes)
    with contextlib.redirect_stdout(io.StringIO()):  # it tells of its progress
        program = torch.onnx.export(network, inputs, dynamo=True, input_names=names, dynamic_shapes=shapes if any(sizes) else None, opset_version=18)
    return program.model_proto


def both(network, inputs, sizes=None, other=None):
    """Two cases. sizes: for each input {axis: the name of its size}, which are dynamic; the network then runs on `other` inputs than those it was exported with."""
    name = network.__name__

    def made(export):
        torch.manual_seed(0)
        module = network().eval()
        names = [f"x{k}" for k in range(len(inputs))]
        model = export(module, inputs, sizes or [{}] * len(inputs), names)
        given = other or inputs
        with torch.no_grad():
            outputs = module(*given)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        return Case(model, {name: x.numpy() for name, x in zip(names, given)}, [y.numpy() for y in outputs])

    for export, suffix in (by_script, "script"), (by_program, "program"):
        case = lambda export=export: made(export)
        case.__name__ = f"{name}_{suffix}"
        exported(case)


def numbers(*shape):
    return torch.from_numpy(np.random.default_rng(0).standard_normal(shape).astype(np.float32))


class Perceptron(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(8, 32), nn.GELU(), nn.LayerNorm(32), nn.Dropout(0.1), nn.Linear(32, 3), nn.Softmax(-1))


class Convolutions(nn.Module):
    """Of any batch; normalisation and a residual, as in what knows images."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.SiLU())
        self.block = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.BatchNorm2d(16), nn.Hardswish(), nn.Conv2d(16, 16, 1))
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        x = self.stem(x)
        return self.head(nn.functional.adaptive_avg_pool2d(nn.functional.max_pool2d(x + self.block(x), 2), 1).flatten(1))


class Upsampler(nn.Module):
    """Sizes of images that are computed from those of others."""

    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 8, 3, 2, 1), nn.ConvTranspose2d(8, 4, 2, 2)

    def forward(self, x):
        y = nn.functional.interpolate(self.up(self.down(x)), size=x.shape[-2:], mode="bilinear", align_corners=False)
        return nn.functional.pixel_shuffle(y, 2), nn.functional.pad(y, (1, 2, 0, 1), mode="reflect")


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTM(6, 10, 2, batch_first=True, bidirectional=True), nn.GRU(20, 7, batch_first=True)

    def forward(self, x):
        return self.gru(self.lstm(x)[0])[0]


class Encoder(nn.Module):
    """A transformer on tokens: any batch, any length, with a mask of what is padding."""

    def __init__(self):
        super().__init__()
        self.embed, self.places = nn.Embedding(50, 16), nn.Embedding(64, 16)
        self.query, self.mixed = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, tokens, mask):
        x = self.embed(tokens) + self.places(torch.arange(tokens.shape[1]))
        q, k, v = (t.reshape(*x.shape[:2], 2, 8).transpose(1, 2) for t in self.query(x).chunk(3, -1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :].bool())
        y = self.mixed(y.transpose(1, 2).reshape(x.shape)) + x
        weights = mask[:, :, None].float()
        return (y * weights).sum(1) / weights.sum(1)


class Indices(nn.Module):
    """Whatever a detector does with its scores."""

    def forward(self, scores, boxes):
        best, which = scores.topk(5, dim=1)
        picked = boxes.gather(1, which[..., None].expand(-1, -1, 4))
        marks = torch.zeros_like(scores).scatter(1, which, best)
        return picked, marks.cumsum(1), torch.where(scores > 0.5, scores.clamp(max=0.9), -scores), torch.einsum("bnk,bmk->bnm", picked, boxes)


class Doubles(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(5, 4).double()

    def forward(self, x):
        return torch.logsumexp(self.linear(x), 1), torch.linalg.vector_norm(x, dim=1)


class Steps(nn.Module):
    """A loop in Python: of fixed length, it is unrolled by both exporters."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 6)

    def forward(self, x):
        h = torch.zeros(x.shape[0], 6)
        for t in range(4):
            h = self.cell(x[:, t], h)
        return h


class Branch(nn.Module):
    """A condition that only the exporter of programs sees."""

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))


IMAGES, TOKENS = {0: "batch"}, {0: "batch", 1: "length"}
both(Perceptron, (numbers(4, 8),))
both(Convolutions, (numbers(2, 3, 16, 16),), [IMAGES], (numbers(5, 3, 16, 16),))
both(Upsampler, (numbers(1, 3, 12, 16),))
both(Recurrent, (numbers(2, 9, 6),))
both(Encoder, (torch.randint(0, 50, (2, 9)), torch.ones(2, 9, dtype=torch.int64)), [TOKENS, TOKENS], (torch.arange(28).reshape(4, 7), torch.tensor([[1] * 4 + [0] * 3] * 4)))
both(Indices, (numbers(2, 20), numbers(2, 20, 4)), [IMAGES, IMAGES], (numbers(3, 20), numbers(3, 20, 4)))
both(Doubles, (numbers(3, 5).double(),))
both(Steps, (numbers(2, 4, 4),), [IMAGES], (numbers(3, 4, 4),))


@exported
def branch_program():
    x = -numbers(3, 4).abs()
    return Case(by_program(Branch(), (-x,), [{}], ["x0"]), {"x0": x.numpy()}, [(x - 1).numpy()])


if __name__ == "__main__":
    sys.exit(main(__doc__))
