"""Models over frames of Spark, by mapInArrow. Spark schedules; a batch of Arrow is a run here.

    onnxc.spark.predict(frame, "model.onnx", keep=["id"])

The model is compiled where this is called; workers need this package, pyarrow, and neither a compiler nor the package onnx. See docs/clusters.md.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import table_outputs
from .arguments import Dims, Model
from .library import Library
from .table_inputs import RowError
from .tables import TableModel

if TYPE_CHECKING:
    import pyarrow
    import pyspark.sql

__all__ = ["RowError", "predict"]


def predict(frame: pyspark.sql.DataFrame, model: Library | Model, *, inputs: Mapping[str, str | Sequence[str]] | None = None,
            outputs: Sequence[str] | Mapping[str, str] | None = None, missing: Mapping[str, Any] | None = None, keep: Sequence[str] | bool = False,
            errors: str = "raise", error_column: str = "error", rounding: bool = False, batch: bool | None = None, target: str = "native", dims: Dims | None = None, options: Sequence[str] = ()) -> pyspark.sql.DataFrame:
    """The frame of a model's outputs, row by row as `frame` has them. Nothing is computed before an action asks for it.

    model:         an onnxc.Library, or what it takes, with `target`, `dims` and `options` for it
    other arguments: as for onnxc.ray.Predictor. A row's number in an error counts within its partition.

    An output [N] or [N, 1] is a column of N numbers or strings, one of [N, 2] a column of arrays. Spark has no unsigned numbers: they get the next larger type.

    CompileError, TypeError, ValueError: the model or the arguments do not fit, which is said here. RowError, ProcessorError: when Spark runs it.
    """
    from pyspark.sql.pandas.types import from_arrow_type
    from pyspark.sql.types import ArrayType, StringType, StructField, StructType

    library = model if isinstance(model, Library) else Library(model, target, dims=dims, options=options)
    plan = _Plan(library, inputs=inputs, outputs=outputs, missing=missing, keep=keep, errors=errors, error_column=error_column, rounding=rounding, batch=batch)
    kept = plan.kept(frame.columns)
    fields = [frame.schema[name] for name in kept]
    for output, name in plan.outputs:
        kind = from_arrow_type(table_outputs.element(output, for_spark=True))
        for _ in range(table_outputs.depth(output)):
            kind = ArrayType(kind)
        fields.append(StructField(name, kind))
    if plan.error_column:
        fields.append(StructField(plan.error_column, StringType()))
    needed = [name for name in frame.columns if name in {*kept, *plan.columns()}]

    def run(batches):  # Spark asks for a function
        return plan.on_partition(needed, batches)

    renamed = [frame[f"`{name.replace('`', '``')}`"].alias(f"_{k}") for k, name in enumerate(needed)]  # mapInArrow takes no names with dots
    return frame.select(renamed).mapInArrow(run, StructType(fields))


class _Plan(TableModel):
    def on_partition(self, names: Sequence[str], batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        """The results for the batches of a partition, whose columns are called `names`."""
        import pyarrow as pa
        from pyspark import TaskContext

        task = TaskContext.get()
        place = f"in partition {task.partitionId()}" if task else ""
        first = 0
        for batch in batches:
            given, count = dict(zip(names, batch.columns)), batch.num_rows
            results, failed = self.run({name: given[name] for name in self.columns()}, count, place, first)
            good = table_outputs.good_rows(count, failed)
            columns = {name: given[name] for name in self.kept(names)}
            for rows, (output, name) in zip(results, self.outputs):
                columns[name] = table_outputs.as_arrow(rows, output, good, for_spark=True)
            if self.error_column:
                columns[self.error_column] = table_outputs.reasons(count, failed)
            yield pa.RecordBatch.from_pydict(columns)
            first += count
