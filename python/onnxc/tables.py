"""Runs a model over the rows of a table, batch by batch: which columns are which inputs, and which rows failed, by number.

This knows no cluster. onnxc.ray and onnxc.spark bring it to the batches of theirs.
"""
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import abi, table_inputs, table_outputs
from .element_types import ELEMENT_TYPES
from .library import Column, Library
from .session import RunError
from .table_inputs import RowError
from .values import STRING

ROWS_AT_ONCE = 4096  # what a run takes of a batch: columns become one array, and that is read, while it is in the cache

_TYPES = {name: dtype for name, dtype, _ in ELEMENT_TYPES.values()}


class TableModel:
    """A model with what it takes of a table and gives to it. onnxc.ray.Predictor has the arguments.

    A row's outputs must not depend on other rows: batches are cut as is convenient.
    TypeError, ValueError: model and arguments do not fit each other; the text says why.
    """

    def __init__(self, library: Library, *, inputs: Mapping[str, str | Sequence[str]] | None = None, outputs: Sequence[str] | Mapping[str, str] | None = None,
                 missing: Mapping[str, Any] | None = None, keep: Sequence[str] | bool = False, errors: str = "raise", error_column: str = "error",
                 rounding: bool = False, batch: bool | None = None) -> None:
        if not isinstance(library, Library):
            raise TypeError("a model travels as onnxc.Library(model), which is compiled where the program starts, not on each worker")
        if errors not in ("raise", "null"):
            raise ValueError(f'errors is "raise" or "null", not {errors!r}')
        if isinstance(keep, str):
            raise TypeError(f"keep is a list of columns or True, not {keep!r}")
        self.library, self.keep, self.rounding, self.missing = library, keep, rounding, dict(missing or {})
        self.error_column = error_column if errors == "null" else None
        self.sources = self._sources(inputs)
        self.outputs = self._chosen(outputs)
        if unknown := set(self.missing) - set(self.columns()):
            raise ValueError(f"missing names {', '.join(sorted(map(repr, unknown)))}; the model's inputs take the columns {', '.join(map(repr, self.columns()))}")
        leading = [column.dims[0] if column.dims else 0 for column in library.inputs]
        inner = {d for column in library.inputs for d in column.dims[1:]}
        can_batch = bool(leading) and all(d < 0 and d != abi.INT64_MIN and d not in inner for d in leading)
        if batch and not can_batch:
            raise ValueError(f"{library.name} has no open batch dimension in front of each input")
        self.batched = can_batch if batch is None else batch
        self.strips = not self.batched and batch is None and any(d < 0 or d == 1 for d in leading)
        self.rows_at_once = 1
        self.whole: set[str] = set()  # the outputs that are a row's as they are
        if self.batched:
            self.rows_at_once = min(ROWS_AT_ONCE, *(library.symbols[-1 - d][2] for d in leading))
        self.outputs = [(self._by_rows(output, leading), name) for output, name in self.outputs]

    def columns(self) -> list[str]:
        """The columns that the inputs take."""
        return list(dict.fromkeys(name for names in self.sources for name in names))

    def kept(self, columns: Sequence[str]) -> list[str]:
        """Those of a table's `columns` that its result has, too. ValueError: there is none of that name, or an output has it."""
        made = [column for _, column in self.outputs] + ([self.error_column] if self.error_column else [])
        kept = list(columns) if self.keep is True else list(self.keep or ())
        if absent := [name for name in [*self.columns(), *kept] if name not in columns]:
            raise ValueError(f"there is no column {', '.join(map(repr, absent))}; there are {', '.join(map(repr, columns))}. "
                             'inputs={"input": "column"} or {"input": ["column", ...]} says what is what')
        if twice := [name for name in [*made, *kept] if [*made, *kept].count(name) > 1]:
            raise ValueError(f"two columns of the result would be called {twice[0]!r}; outputs={{{made[0]!r}: ...}} renames, keep=[...] chooses")
        return kept

    def run(self, columns: Mapping[str, Any], count: int, place: str = "", first: int = 0) -> tuple[list[np.ndarray], dict[int, str]]:
        """The outputs for `count` rows of `columns` (Arrow's arrays or numpy's), and what is wrong with those that failed, which the outputs leave out.

        place, first: what a message calls the table ("in partition 3"), and the number of its first row
        RowError: a row failed, unless errors="null".
        """
        session = self.library.session()
        feeds = [[self._prepare(column, name, columns[name]) for name in names] for column, names in zip(self.library.inputs, self.sources)]
        pieces: list[list[np.ndarray]] = [[] for _ in self.outputs]
        failed: dict[int, str] = {}
        rooms: dict[str, np.ndarray] = {}
        for span in self._spans(feeds, count):
            todo = [span]
            while todo:
                start, stop = todo.pop()
                try:
                    results = self._run(session, feeds, rooms, start, stop)
                except (RunError, ValueError) as error:
                    if not isinstance(error, RowError) and stop - start > 1:  # some row of them: by halves
                        middle = (start + stop) // 2
                        todo += [(middle, stop), (start, middle)]
                        continue
                    row, reason = (error.row, error.reason) if isinstance(error, RowError) else (start, str(error))
                    if self.error_column is None:
                        raise RowError(first + row, f"{reason}{place and f' ({place})'}; {self._shown(columns, row)}") from None
                    failed[row] = reason
                    middle = (row + 1 + stop) // 2  # so that many such rows do not make it quadratic
                    todo += [part for part in ((middle, stop), (row + 1, middle), (start, row)) if part[0] < part[1]]
                else:
                    for piece, result in zip(pieces, results):
                        piece.append(result)
        return [table_outputs.joined(piece, output) for piece, (output, _) in zip(pieces, self.outputs)], failed

    def _sources(self, inputs) -> list[list[str]]:
        """For each input its columns."""
        inputs = dict(inputs or {})
        for column in self.library.inputs:
            if column.kind != abi.TENSOR:
                raise TypeError(f"input {column.name!r} is no tensor: no column holds it")
        known = [column.name for column in self.library.inputs]
        if unknown := [name for name in inputs if name not in known]:
            raise ValueError(f"no input is called {', '.join(map(repr, unknown))}; there are {', '.join(map(repr, known))}")
        sources = []
        for column in self.library.inputs:
            given = inputs.get(column.name, column.name)
            names = [given] if isinstance(given, str) else list(given)
            if len(names) != 1 and (len(column.dims) != 2 or column.dims[1] not in (len(names), *(d for d in column.dims[1:] if d < 0))):
                raise ValueError(f"input {column.name!r} has the shape {_shape(column)}, and inputs names {len(names)} columns for it")
            sources.append(names)
        return sources

    def _chosen(self, outputs) -> list[tuple[Column, str]]:
        """The outputs, with their columns."""
        known = {column.name: column for column in self.library.outputs}
        names = outputs if isinstance(outputs, Mapping) else {name: name for name in (known if outputs is None else outputs)}
        if unknown := [name for name in names if name not in known]:
            raise ValueError(f"no output is called {', '.join(map(repr, unknown))}; there are {', '.join(map(repr, known))}")
        for name in names:
            if known[name].kind != abi.TENSOR or known[name].type_name not in table_outputs.ARROW:
                what = known[name].type_name or "no tensor"
                raise TypeError(f"output {name!r} is {what}: no column holds it; leave it out: outputs=[...]")
        return [(known[name], column) for name, column in names.items()]

    def _by_rows(self, output, leading) -> Column:
        """The output of many rows: its first axis counts them."""
        first = output.dims[0] if output.dims else None
        if self.batched and (first is None or first >= 0):
            raise TypeError(f"output {output.name!r} has the shape {_shape(output)}, nothing for each row; "
                            "leave it out: outputs=[...]; or batch=False runs row by row")
        if not self.batched and not (self.strips and (first == 1 or first in leading)):
            self.whole.add(output.name)
            return output._replace(dims=(-1, *output.dims))
        return output

    def _prepare(self, column, name, values):
        wanted = None if column.type_name == "string" else _TYPES[column.type_name]
        return table_inputs.prepare(name, values, wanted, self.missing.get(name), self.rounding)

    def _spans(self, feeds, count) -> Iterator[tuple[int, int]]:
        """Rows that one run may take: lists of one length each."""
        lists = [feed for group in feeds for feed in group if isinstance(feed, table_inputs.Lists)]
        start = 0
        groups = itertools.groupby(range(count), lambda row: tuple(_shape_or_none(feed, row) for feed in lists)) if lists else [((), range(count))]
        for _, rows in groups:
            end = start + len(list(rows))
            for begin in range(start, end, self.rows_at_once):
                yield begin, min(begin + self.rows_at_once, end)
            start = end

    def _run(self, session, feeds, rooms, start, stop) -> list[np.ndarray]:
        arrays = {column.name: self._array(column, group, rooms, start, stop) for column, group in zip(self.library.inputs, feeds)}
        results = session.run([output.name for output, _ in self.outputs], arrays)
        for k, (output, _) in enumerate(self.outputs):
            if output.name in self.whole:
                results[k] = results[k][None]
            if len(results[k]) != stop - start:
                raise TypeError(f"output {output.name!r} has the shape {list(results[k].shape)} for {stop - start} rows, nothing for each; "
                                "leave it out: outputs=[...]; or batch=False runs row by row")
        return results

    def _array(self, column, group, rooms, start, stop) -> np.ndarray:
        """One input for the rows [start, stop): the column's own memory or, in `rooms`, what every run fills anew."""
        leads = self.batched or (self.strips and column.dims[:1] and (column.dims[0] < 0 or column.dims[0] == 1))
        wanted = column.dims[1:] if leads else column.dims
        if len(group) > 1:
            shape = (len(group),)
        else:
            shape = given = group[0].shape(start)
            if all(d >= 0 for d in wanted) and np.prod(given, dtype=int) == np.prod(wanted, dtype=int):
                shape = wanted
            elif len(given) != len(wanted) or any(d >= 0 and d != e for d, e in zip(wanted, given)):
                raise RowError(start, f"column {group[0].name!r} has the shape {list(given)} in this row, the model wants {_shape(column)[-len(wanted):] if wanted else []}")
        view = group[0].view(start, stop) if len(group) == 1 else None
        if view is not None:
            array = view.reshape(stop - start, *shape)
            return array if leads else array[0]
        if column.name not in rooms or rooms[column.name].shape[1:] != shape:
            rooms[column.name] = np.empty((self.rows_at_once, *shape), STRING if column.type_name == "string" else _TYPES[column.type_name])
        array = rooms[column.name][: stop - start]
        for k, feed in enumerate(group):
            feed.fill(start, stop, array if len(group) == 1 else array[:, k])
        return array if leads else array[0]

    def _shown(self, columns, row) -> str:
        """The values of a row, shortened."""
        texts = []
        for name in self.columns():
            value = columns[name][row]
            value = value.as_py() if hasattr(value, "as_py") else value.tolist() if isinstance(value, np.generic | np.ndarray) else value
            text = repr(value)
            texts.append(f"{name}={text if len(text) <= 40 else text[:37] + '...'}")
        return ", ".join(texts[:8]) + (", ..." if len(texts) > 8 else "")


def _shape(column) -> list:
    return ["?" if d < 0 else d for d in column.dims]


def _shape_or_none(feed, row):
    try:
        return feed.shape(row)
    except RowError:
        return None  # fill() says why
