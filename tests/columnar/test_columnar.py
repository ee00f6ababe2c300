"""A Trace as Arrow tables and back: nothing about it changes, whatever it holds."""

from __future__ import annotations

import io
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.columnar.columns import read, stored
from fusescope.analysis.columnar.header import TEXTS
from fusescope.analysis.columnar.tables import Columnar, columnar, trace_of
from fusescope.analysis.readers.packed.notes import Note
from fusescope.analysis.readers.packed.tables import Origin
from fusescope.analysis.readers.reader import Reader
from fusescope.analysis.trace import Diagnostic, Meta, Trace, calls_frame, operators_frame
from tests.miniatures import FORMATS, files, only_trace

OFTEN = ("kineto", "ascend_op_summary", "onnxruntime")
EVERY = [
    pytest.param(
        reader, id=reader.name, marks=() if reader.name in OFTEN else pytest.mark.exhaustive
    )
    for reader in FORMATS
]


def through_parquet(table: pa.Table) -> pa.Table:
    """As a disk has it, in row groups of two rows: categories come back in pieces."""
    out = io.BytesIO()
    pq.write_table(table, out, row_group_size=2)
    return pq.ParquetFile(io.BytesIO(out.getvalue())).read()


def again(trace: Trace) -> Trace:
    kept = columnar(trace)
    return trace_of(
        Columnar(kept.header, {name: through_parquet(one) for name, one in kept.tables.items()})
    )


def assert_same(one: Trace, other: Trace) -> None:
    for name in ("runs", "operators", "calls"):
        pd.testing.assert_frame_equal(
            getattr(one, name), getattr(other, name), check_exact=True, check_categorical=True
        )
    assert one.meta == other.meta
    assert one.diagnostics == other.diagnostics
    assert one.originals == other.originals
    assert (one.stacks is None) == (other.stacks is None)
    if one.stacks is not None and other.stacks is not None:
        assert one.stacks.names == other.stacks.names
        for column in ("parents", "rows", "nodes"):
            assert (getattr(one.stacks, column) == getattr(other.stacks, column)).all()
    assert len(one.memory) == len(other.memory)
    for use, use_again in zip(one.memory, other.memory, strict=True):
        assert (use.device, use.peak_in) == (use_again.device, use_again.peak_in)
        assert (use.times_ns == use_again.times_ns).all()
        assert (use.allocated == use_again.allocated).all()
    assert (one.program is None) == (other.program is None)
    if one.program is not None and other.program is not None:
        assert [one.program.names[at] for at in one.program.name_of] == [
            other.program.names[at] for at in other.program.name_of
        ]
        for column in ("runs", "rows", "launched_by"):
            assert (getattr(one.program, column) == getattr(other.program, column)).all()
    assert (one.host is None) == (other.host is None)
    if one.host is not None and other.host is not None:
        for field in fields(one.host):
            mine, again = getattr(one.host, field.name), getattr(other.host, field.name)
            assert type(mine) is type(again)
            if mine is None or isinstance(mine, tuple):
                assert mine == again
            else:
                np.testing.assert_array_equal(mine, again)
                assert mine.dtype == again.dtype
    assert (one.host_waits is None) == (other.host_waits is None)
    if one.host_waits is not None and other.host_waits is not None:
        waits, waits_again = one.host_waits, other.host_waits
        assert [waits.names[at] for at in waits.name_of] == [
            waits_again.names[at] for at in waits_again.name_of
        ]
        assert (waits.starts_ns == waits_again.starts_ns).all()
        assert (waits.ends_ns == waits_again.ends_ns).all()


@pytest.mark.parametrize("reader", EVERY)
def test_every_format_comes_back_as_it_was(reader: Reader) -> None:
    trace = only_trace(files(reader))
    assert_same(trace, again(trace))


def test_every_field_of_a_trace_is_kept() -> None:
    """What is not kept would be gone when a trace is opened again: a new field needs its table in
    analysis/readers/packed/context.py, or its place in `Origin`, and another READER_VERSION. A
    trace with `others` is not kept (tests/store/test_keeping.py)."""
    assert {field.name for field in fields(Trace)} - {"others"} == {
        "meta", "runs", "operators", "calls", "diagnostics",
        "stacks", "memory", "host_waits", "host", "originals", "program",
        "collectives", "captured",
    }  # fmt: skip
    assert {field.name for field in fields(Meta)} == set(Origin.__struct_fields__)
    assert {field.name for field in fields(Diagnostic)} == set(Note.__struct_fields__)


CELLS = {
    "Int64": st.none() | st.integers(-(2**63), 2**63 - 1),
    "Float64": st.none() | st.floats(allow_nan=False),
    "boolean": st.none() | st.booleans(),
    "category": st.none() | st.text(st.characters(exclude_categories=("Cs",)), max_size=4),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "bool": st.booleans(),
}


@given(st.sampled_from(sorted(CELLS)).flatmap(lambda d: st.tuples(st.just(d), st.lists(CELLS[d]))))
def test_a_column_comes_back_as_it_was(drawn: tuple[str, list[object]]) -> None:
    dtype, cells = drawn
    values = pd.Series(pd.array(cells, dtype=dtype))
    column, made, texts = stored("x", values)
    back = through_parquet(pa.table({"x": made})).column("x")
    found = pd.Series(read(column, back, pa.array([], pa.string()) if texts is None else texts))
    pd.testing.assert_series_equal(values, found, check_exact=True, check_categorical=True)


def test_texts_that_no_cell_has_and_their_order_stay() -> None:
    values = pd.Series(pd.Categorical.from_codes([1, -1, 1], ["z", "a", "m"]))
    column, made, texts = stored("x", values)
    assert texts is not None and texts.to_pylist() == ["z", "a", "m"]
    found = pd.Series(read(column, through_parquet(pa.table({"x": made})).column("x"), texts))
    assert list(found.cat.categories) == ["z", "a", "m"]
    assert list(found.cat.codes) == [1, -1, 1]


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([[1], [2]]),
        pd.Series(pd.Categorical([1, 2])),
        pd.Series(pd.Categorical(["a"], ordered=True)),
        pd.Series(pd.to_datetime(["2026-01-01"])),
    ],
)
def test_what_no_reader_makes_is_refused(values: pd.Series) -> None:
    with pytest.raises(ValueError, match="x is "):
        stored("x", values)


def trace() -> Trace:
    base = only_trace(files(next(reader for reader in FORMATS if reader.name == "chrome_trace")))
    return replace(
        base,
        operators=operators_frame(operator=[0, 1], name=["b", "a"], op_type=["Conv", None]),
        calls=calls_frame(
            operator=[1, 0, 1], dur_ns=[5, 6, 7], run=[0, None, 0], hits=[0.5, None, 1]
        ),
    )


def test_tables_that_do_not_fit_are_refused() -> None:
    whole = columnar(trace())
    assert_same(trace(), trace_of(whole))
    calls = whole.tables["calls"]
    wrong = {
        "fewer texts": {TEXTS: whole.tables[TEXTS].slice(1)},
        "a column less": {"calls": calls.drop_columns(["n"])},
        "another operator": {
            "calls": calls.set_column(0, "operator", pa.array(np.array([1, 9, 1])))
        },
        "a null": {"calls": calls.set_column(0, "operator", pa.array([1, None, 1]))},
    }
    for tables in wrong.values():
        with pytest.raises(ValueError):
            trace_of(Columnar(whole.header, {**whole.tables, **tables}))
    rest = {name: table for name, table in whole.tables.items() if name != "runs"}
    with pytest.raises(ValueError, match="other tables"):
        trace_of(Columnar(whole.header, rest))
