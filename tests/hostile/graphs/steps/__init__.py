"""What random graphs are made of: each function adds one node, or the few that belong together, and says what becomes of errors.

The order of the files is that of the draws: another one makes other graphs of the same seeds.
"""
from steps import elementwise, integers, shapes, indexing, reductions, products, windows, normalisations, attention, recurrent, quantised, microsoft, text, control, single  # noqa: F401  which registers them
