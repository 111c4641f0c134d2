"""Outputs of a model as columns: arrays of numpy, one for each output, whose first axis counts rows.

A column holds numbers or strings where a row has one of them, else lists, nested as the output's axes are.
"""
import numpy as np

# ONNX's element types as Arrow's. What Arrow lacks becomes a type that holds it; so does what Spark lacks, unsigned numbers.
ARROW = {
    "float": "float32", "double": "float64", "float16": "float16", "bfloat16": "float32", "bool": "bool_", "string": "string",
    "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64",
    "int4": "int8", "int2": "int8", "uint4": "uint8", "uint2": "uint8",
}
ARROW |= {name: "float32" for name in ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float4e2m1", "float8e8m0")}
FOR_SPARK = {"float16": "float32", "uint8": "int16", "uint16": "int32", "uint32": "int64", "uint64": "decimal128"}


def depth(output) -> int:
    """How many lists are around a number in the column of an output of a row: none where a row has one number."""
    row = output.dims[1:]
    return 0 if all(d == 1 for d in row) else len(row)


def empty(output) -> np.ndarray:
    """The output for no rows."""
    return np.zeros((0, *(max(d, 0) for d in output.dims[1:])), object if output.type_name == "string" else np.float32)


def joined(pieces: list[np.ndarray], output) -> np.ndarray:
    """The rows of several runs, in their order. Where shapes differ: an array of arrays."""
    if not pieces:
        pieces = [empty(output)]
    if depth(output) == 0:
        pieces = [piece.reshape(len(piece)) for piece in pieces]
    if len(pieces) == 1:
        return pieces[0]
    if all(piece.shape[1:] == pieces[0].shape[1:] for piece in pieces):
        return np.concatenate(pieces)
    rows = np.empty(sum(map(len, pieces)), object)
    rows[:] = [row for piece in pieces for row in piece]
    return rows


def with_gaps(rows: np.ndarray, good: np.ndarray) -> np.ndarray:
    """The rows where `good` is true; what is between is NaN, or None in an array of objects."""
    floats = rows.dtype.kind == "f"
    array = np.full((len(good), *rows.shape[1:]), np.nan, rows.dtype) if floats else np.full(len(good), None, object)
    if floats or rows.ndim == 1:
        array[good] = rows
    else:
        array[good] = np.fromiter(rows, object, len(rows))
    return array


def element(output, for_spark: bool = False):
    """The Arrow type of a number or string of the output."""
    import pyarrow as pa

    name = ARROW[output.type_name]
    name = FOR_SPARK.get(name, name) if for_spark else name
    return pa.decimal128(20, 0) if name == "decimal128" else getattr(pa, name)()


def as_arrow(rows: np.ndarray, output, good: np.ndarray | None = None, for_spark: bool = False):
    """An Arrow array; where `good` is false it has nulls and takes nothing of `rows`. Numbers are not copied."""
    import pyarrow as pa

    name = ARROW[output.type_name]
    arrow = element(output, for_spark)
    if rows.dtype == object and rows.ndim == 1 and depth(output):
        for _ in range(depth(output)):
            arrow = pa.list_(arrow)
        array = pa.array([row.tolist() for row in rows], arrow)
    else:
        array = _flat(rows, name).cast(arrow)
        for axis in range(rows.ndim - 1, 0, -1):
            lists, length = int(np.prod(rows.shape[:axis])), rows.shape[axis]
            array = pa.ListArray.from_arrays(pa.array(np.arange(lists + 1, dtype=np.int32) * np.int32(length)), array)
    if good is not None:
        array = array.take(pa.array(np.cumsum(good) - 1, mask=~good))
    return array


def _flat(rows, name):
    import pyarrow as pa

    if name == "string":
        return pa.array(rows.reshape(-1).tolist(), pa.string())
    return pa.array(rows.reshape(-1).astype(np.dtype(name.rstrip("_")), copy=False))


def good_rows(count: int, failed) -> np.ndarray | None:
    """Which of `count` rows have results; None for all of them."""
    return np.isin(np.arange(count), list(failed), invert=True) if failed else None


def reasons(count: int, failed):
    """The column that says of failed rows why, and is null in others."""
    import pyarrow as pa

    return pa.array([failed.get(row) for row in range(count)], pa.string()) if failed else pa.nulls(count, pa.string())
