"""Models over datasets of Ray. Ray schedules; a batch is a run here.

    library = onnxc.Library("model.onnx")     # compiles, once, where the program starts
    dataset.map_batches(onnxc.ray.Predictor, fn_constructor_args=(library,), batch_format="pyarrow",
                        compute=ray.data.ActorPoolStrategy(size=4))

    onnxc.ray.predict(dataset, "model.onnx", actors=4)     # both in one

Workers need this package, and neither a compiler nor the package onnx. See docs/clusters.md.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import table_outputs
from .arguments import Dims, Model
from .library import Library
from .table_inputs import RowError
from .tables import TableModel

if TYPE_CHECKING:
    import pyarrow
    import ray.data

__all__ = ["Predictor", "RowError", "predict"]


class Predictor(TableModel):
    """Runs a model over batches: a class for Dataset.map_batches. An instance serves as a function there, too.

    library:       an onnxc.Library
    inputs:        what is not found by its name: {"X": "features"}, one column with a value [4] in each row for an input [N, 4]; or
                   {"X": ["a", "b", "c", "d"]}, four columns of numbers. An input [N, 1] or [N] takes a column of numbers or strings.
    outputs:       which ones, by default all: a list of names, or {output: column}
    missing:       by column what stands for null and NaN: {"age": -1}. Without that they are NaN in inputs of floats, and errors in others.
    keep:          columns of the batch that the result has, too: a list, or True for all
    errors:        "raise": a row that cannot be computed raises RowError with its number in the batch and its values. "null": its outputs are null,
                   and the column `error_column` says why; it is null in other rows.
    rounding:      whether numbers that the input's type has not, such as doubles for floats, may become its nearest ones. Overflow is an error all the same.
    batch:         False: rows are run one by one, each with a value of the input's whole shape; None: where not all inputs have an open dimension in front

    A call takes a pyarrow.Table or, as batch_format="numpy" gives them, a dict of arrays [N, ...], and gives the same.
    An output [N] or [N, 1] is a column of N numbers or strings, one of [N, 2] a column of lists in Arrow and an array [N, 2] in numpy.

    TypeError, ValueError: the columns are not what the model wants. ProcessorError: this processor cannot run the unit. RowError: a row failed.
    """

    def __call__(self, batch: pyarrow.Table | dict[str, np.ndarray]) -> pyarrow.Table | dict[str, Any]:
        if isinstance(batch, dict):
            return self._on_arrays(batch)
        if not hasattr(batch, "column_names"):
            raise TypeError(f'a batch is {type(batch).__name__}; map_batches(..., batch_format="pyarrow") or "numpy" gives what is taken here')
        return self._on_table(batch)

    def _on_table(self, table):
        import pyarrow as pa

        kept = self.kept(table.column_names)
        results, failed = self.run({name: table[name] for name in self.columns()}, table.num_rows, "in its batch")
        good = table_outputs.good_rows(table.num_rows, failed)
        columns = {name: table[name] for name in kept}
        for rows, (output, name) in zip(results, self.outputs):
            columns[name] = table_outputs.as_arrow(rows, output, good)
        if self.error_column:
            columns[self.error_column] = table_outputs.reasons(table.num_rows, failed)
        return pa.table(columns)

    def _on_arrays(self, batch):
        kept, count = self.kept(list(batch)), len(next(iter(batch.values()), ()))
        results, failed = self.run({name: batch[name] for name in self.columns()}, count, "in its batch")
        good = table_outputs.good_rows(count, failed)
        columns = {name: batch[name] for name in kept}
        for rows, (_, name) in zip(results, self.outputs):
            columns[name] = rows if good is None else table_outputs.with_gaps(rows, good)
        if self.error_column:
            columns[self.error_column] = np.array([failed.get(row) for row in range(count)], object)
        return columns


def predict(dataset: ray.data.Dataset, model: Library | Model, *, target: str = "native", dims: Dims | None = None, options: Sequence[str] = (),
            actors: int | tuple[int, int] = (1, 8), batch_size: int | None = None, map_options: Mapping[str, Any] | None = None, **arguments: Any) -> ray.data.Dataset:
    """The dataset of a model's outputs, computed by actors.

    model:        an onnxc.Library, or what it takes, with `target`, `dims` and `options` for it
    actors:       how many, or the fewest and the most. Each takes a processor while it waits, too: leave one for what reads the dataset.
    batch_size, map_options: for Dataset.map_batches; by default a batch is a block of the dataset
    arguments:    of Predictor: inputs, outputs, missing, keep, errors, error_column, rounding, batch

    Errors of the model and of the arguments are raised here, those of rows when Ray runs the dataset.
    """
    from ray.data import ActorPoolStrategy

    library = model if isinstance(model, Library) else Library(model, target, dims=dims, options=options)
    Predictor(library, **arguments)  # refuses here what every worker would refuse
    fewest, most = actors if isinstance(actors, tuple) else (actors, actors)
    return dataset.map_batches(Predictor, fn_constructor_args=(library,), fn_constructor_kwargs=arguments, batch_format="pyarrow", batch_size=batch_size,
                               compute=ActorPoolStrategy(min_size=fewest, max_size=most), udf_modifying_row_count=False, **(map_options or {}))
