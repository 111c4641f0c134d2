"""Columns of a table as what the inputs of a model want: numbers of its type, without loss, and strings, without copying their text.

A column is an array of Arrow or of numpy. prepare() looks at it as a whole, once a batch; fill() then gives the values of some rows.
"""
import functools

import numpy as np

from .values import STRING, to_strings


class RowError(ValueError):
    """A row cannot be computed: `row` counts from 0, in what is computed; `reason` says why."""

    def __init__(self, row: int, reason: str):
        super().__init__(row, reason)  # so that it can be pickled
        self.row, self.reason = row, reason

    def __str__(self):
        return f"row {self.row}: {self.reason}"


def prepare(name: str, values, wanted: np.dtype | None, default=None, rounding: bool = False):
    """The column `values` for an input of type `wanted` (None: strings): Numbers, Strings or Lists.

    default:   what stands for missing values (null, NaN). Without one they are NaN where `wanted` has that, else errors.
    rounding:  whether numbers may become the nearest ones of a type of fewer digits
    TypeError: the column holds something else.
    """
    values = _plain(values)
    if isinstance(values, np.ndarray) and (wanted is None or values.dtype.kind in "OUST"):
        values = _to_arrow(name, values)
    if isinstance(values, np.ndarray):
        return Numbers(name, values, None, wanted, default, rounding)
    import pyarrow as pa

    if _is_list(values.type):
        return _prepare_lists(name, values, wanted, default, rounding)
    if wanted is None:
        return Strings(name, values, default)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    nulls = values.is_null().to_numpy(zero_copy_only=False) if values.null_count else None
    if pa.types.is_decimal(values.type):
        values = _from_decimals(name, values, rounding)
    elif pa.types.is_null(values.type):
        values = pa.nulls(len(values), pa.float64())
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_boolean(values.type)):
        raise TypeError(f"column {name!r} is {values.type}, the model wants {wanted.name}; cast the column first")
    if nulls is not None:
        values = values.fill_null(pa.scalar(0).cast(values.type))
    return Numbers(name, values.to_numpy(zero_copy_only=False), nulls, wanted, default, rounding)


class Numbers:
    """A value of one shape in each row."""

    def __init__(self, name, source, nulls, wanted, default, rounding):
        if source.dtype.kind not in "biuf" and source.dtype.isbuiltin != 2:  # 2: the small types of ml_dtypes
            raise TypeError(f"column {name!r} is {source.dtype}, the model wants {wanted.name}; cast the column first")
        if wanted.kind == "b" and source.dtype.kind != "b" and not (source.dtype.kind == "f" and nulls is not None and nulls.all()):
            raise TypeError(f"column {name!r} is {source.dtype}, the model wants booleans; cast the column first")
        self.name, self.source, self.nulls, self.wanted, self.default, self.rounding = name, source, nulls, wanted, default, rounding
        self.is_safe = np.can_cast(source.dtype, wanted, "safe")
        self.holds_nan = source.dtype.kind == "f"
        self.to_nan = default is None and _has_nan(wanted)
        if default is not None and not _exactly(np.asarray([default]), np.asarray([default]).astype(wanted), rounding=True).all():
            raise ValueError(f"the value for what misses in column {name!r}, {default!r}, is no {wanted.name}")

    def shape(self, row: int) -> tuple[int, ...]:
        return self.source.shape[1:]

    def view(self, start: int, stop: int) -> np.ndarray | None:
        """The rows [start, stop) where they lie; None if they have to be converted or looked at."""
        as_it_is = self.source.dtype == self.wanted and self.nulls is None and (self.to_nan or not self.holds_nan)
        return self.source[start:stop] if as_it_is else None

    def fill(self, start: int, stop: int, out: np.ndarray) -> None:
        """Writes rows [start, stop) into `out`, which has the model's type. RowError for the first that does not go."""
        part = self.source[start:stop].reshape(out.shape)
        missing = self.nulls[start:stop].reshape(out.shape) if self.nulls is not None else None
        if self.holds_nan and not self.to_nan:
            missing = np.isnan(part) if missing is None else missing | np.isnan(part)
        if missing is not None and not missing.any():
            missing = None
        if missing is not None and not self.to_nan and self.default is None:
            raise RowError(start + _first(missing), f"column {self.name!r} has no value, and the model's {self.wanted.name} has none for that; "
                                                    f"give one: missing={{{self.name!r}: ...}}")
        if missing is not None and self.default is not None:
            part = np.where(missing, part.dtype.type(0), part)
        if self.is_safe:
            out[...] = part
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                out[...] = part
            wrong = ~_exactly(part, out, self.rounding)
            if wrong.any():
                at = np.unravel_index(np.argmax(wrong), wrong.shape)
                remedy = "; rounding=True takes the nearest" if out.dtype.kind == "f" and np.isfinite(out[at]) else ""
                raise RowError(start + int(at[0]), f"column {self.name!r} is {part[at]}, which is no {self.wanted.name}{remedy}")
        if missing is not None:
            out[missing] = np.nan if self.to_nan else self.default


class Strings:
    """A string in each row: where its text lies. The text stays where Arrow has it."""

    def __init__(self, name, values, default):
        import pyarrow as pa

        self.name, self._kept = name, [values]
        if pa.types.is_dictionary(values.type) and values.dictionary.null_count:
            values = values.dictionary_decode()
        nulls = values.is_null().to_numpy(zero_copy_only=False) if values.null_count else None
        if pa.types.is_dictionary(values.type):
            table = self._strings(values.dictionary)
            codes = np.asarray(values.indices.fill_null(0)).astype(np.intp)
            self.source = table[codes] if len(table) else np.zeros(len(values), STRING)
        else:
            self.source = self._strings(values)
        if default is not None and not isinstance(default, str):
            raise ValueError(f"the value for what misses in column {name!r}, {default!r}, is no string")
        if nulls is not None and default is not None:
            one, text = to_strings(np.asarray([default], object))
            self._kept.append(text)
            self.source, nulls = np.where(nulls, one, self.source), None
        self.nulls = nulls

    def _strings(self, values):
        import pyarrow as pa

        if pa.types.is_string_view(values.type) or pa.types.is_null(values.type):
            values = values.cast(pa.large_string())
            self._kept.append(values)
        if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
            raise TypeError(f"column {self.name!r} is {values.type}, the model wants strings; cast the column first")
        strings = np.zeros(len(values), STRING)
        if len(values) == 0:
            return strings
        _, offsets, text = values.buffers()
        offsets = np.frombuffer(offsets, np.int64 if pa.types.is_large_string(values.type) else np.int32)[values.offset : values.offset + len(values) + 1]
        strings["size"] = np.diff(offsets)
        strings["data"] = offsets[:-1].astype(np.uintp) + np.uintp(text.address if text is not None else 0)
        return strings

    def shape(self, row):
        return self.source.shape[1:]

    def view(self, start, stop):
        return self.source[start:stop] if self.nulls is None else None

    def fill(self, start, stop, out):
        if self.nulls is not None and self.nulls[start:stop].any():
            raise RowError(start + _first(self.nulls[start:stop]), f"column {self.name!r} has no value; give one: missing={{{self.name!r}: ...}}")
        out[...] = self.source[start:stop].reshape(out.shape)


class Lists:
    """A list of its own length in each row. What is known of one row is found out when it is asked for."""

    def __init__(self, name, lists, *how):
        self.name, self._lists, self._how = name, lists, how
        self._last = None, None  # a row's shape is asked for, then its values

    def _row(self, row):
        if self._last[0] == row:
            return self._last[1]
        scalar = self._lists[row]
        found = prepare(self.name, scalar.values, *self._how) if scalar.is_valid else None
        if not hasattr(found, "source"):
            raise RowError(row, f"column {self.name!r} has {'no list' if found is None else 'lists of several lengths within'}")
        self._last = row, found
        return found

    def shape(self, row):
        return self._row(row).source.shape

    def view(self, start, stop):
        return None

    def fill(self, start, stop, out):
        for row in range(start, stop):
            try:
                self._row(row).fill(0, len(out[row - start]), out[row - start])
            except RowError as error:
                raise RowError(row, error.reason) from None


def _plain(values):
    """One array of Arrow or numpy: chunks are joined, tensors in an extension of Arrow are numpy's."""
    if isinstance(values, np.ndarray):
        return values
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
        if isinstance(values, pa.ChunkedArray):  # what cannot be joined, and what has no chunk
            values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    if isinstance(values.type, pa.BaseExtensionType):
        if hasattr(values, "to_numpy_ndarray"):
            return values.to_numpy_ndarray()
        tensors = values.to_numpy(zero_copy_only=False)  # Ray's
        return tensors if tensors.dtype.kind != "O" else pa.array([t.tolist() for t in tensors])
    return values


def _to_arrow(name, values):
    import pyarrow as pa

    try:
        return pa.array(values.tolist(), from_pandas=True)  # None and NaN are missing
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise TypeError(f"column {name!r} holds values of several types: {error}") from None


def _from_decimals(name, values, rounding):
    import pyarrow as pa

    if values.type.scale == 0 and values.type.precision <= 18:
        return values.cast(pa.int64())
    if values.type.precision > 15 and not rounding:  # a double tells apart numbers of 15 digits
        raise TypeError(f"column {name!r} is {values.type}, which has more digits than a double; rounding=True takes the nearest")
    return values.cast(pa.float64())


def _is_list(arrow_type):
    import pyarrow as pa

    return pa.types.is_list(arrow_type) or pa.types.is_large_list(arrow_type) or pa.types.is_fixed_size_list(arrow_type)


def _prepare_lists(name, values, wanted, default, rounding):
    import pyarrow.compute as pc

    # Lists of one length, at each depth, are one array.
    shape, inner = [len(values)], values
    while _is_list(inner.type) and inner.null_count == 0:
        lengths = pc.min_max(pc.list_value_length(inner))
        if len(inner) and lengths["min"].as_py() != lengths["max"].as_py():
            break
        shape.append(lengths["min"].as_py() if len(inner) else 0)
        inner = inner.flatten()
    if not _is_list(inner.type):
        flat = prepare(name, inner, wanted, default, rounding)
        flat.source = flat.source.reshape(shape)
        if flat.nulls is not None:
            flat.nulls = flat.nulls.reshape(shape)
        return flat
    return Lists(name, values, wanted, default, rounding)


@functools.lru_cache(maxsize=None)
def _has_nan(dtype):
    with np.errstate(invalid="ignore"):
        nan = np.asarray([np.nan]).astype(dtype)
    return bool((nan != nan)[0])


def _first(wrong):
    """The row of the first one."""
    return int(np.unravel_index(np.argmax(wrong), wrong.shape)[0])


def _exactly(given, got, rounding=False):
    """Where `got` are the same numbers as `given`, NaN being the same as NaN."""
    kinds = given.dtype.kind, got.dtype.kind
    if kinds[0] in "biu" and kinds[1] in "iu":
        if kinds[0] == "b":
            return np.ones(given.shape, bool)
        limits = np.iinfo(got.dtype)
        return (given >= limits.min) & (given <= limits.max)
    if kinds[1] == "f" and kinds[0] in "iu":
        return np.isfinite(got) if rounding else got.astype(np.longdouble) == given.astype(np.longdouble)
    with np.errstate(over="ignore", invalid="ignore"):
        if kinds[0] == "f" and kinds[1] in "iu":
            limits = np.iinfo(got.dtype)
            return (given >= limits.min) & (given < 2.0 ** (limits.bits - (kinds[1] == "i"))) & (got.astype(given.dtype) == given)
        if rounding and kinds == ("f", "f"):
            return np.isfinite(got) | ~np.isfinite(given)
        back = got.astype(given.dtype)
        return (back == given) | ((back != back) & (given != given))
