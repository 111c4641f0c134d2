"""Classical models of the usual kinds, a function each: they are trained on made-up data when they are asked for."""
from classical import ensembles, kernels, pipelines  # noqa: F401 - they list themselves
from classical.made import KINDS

__all__ = ["KINDS"]
