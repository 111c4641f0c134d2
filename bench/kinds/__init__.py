"""Well-known kinds of networks, a function each."""
from kinds import attention, classifiers, images, mobile, perceptrons, signals, transformers, volumes  # noqa: F401 - they list themselves
from kinds.blocks import KINDS

__all__ = ["KINDS"]
