"""Readers with small windows: what a large file is read in, tried with small ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields

import pandas as pd
import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input import event_windows
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace

_KEPT = 2500  # bytes at the end that are read as one, and hold the last events


@contextmanager
def windows_of(size: int, kept: int = _KEPT) -> Iterator[None]:
    """Readers take files in windows of so many bytes."""
    with pytest.MonkeyPatch.context() as patch:
        sizes = {"window": size, "kept": kept}
        patch.setattr(event_windows.collect_events, "__kwdefaults__", sizes)
        yield


def outcome(source: Source) -> Trace | str:
    """The trace in a file, or the sentence that says why there is none."""
    try:
        value = read(source)
    except FuseScopeError as error:
        return str(error)
    assert isinstance(value, Trace)
    return value


def assert_same(one: Trace | str, other: Trace | str) -> None:
    """All tables, notes and facts are the same, or the sentence."""
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    for name in ("runs", "operators", "calls"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name))
    assert one.diagnostics == other.diagnostics
    assert one.meta == other.meta
    assert _waits(one) == _waits(other)
    assert _host(one) == _host(other)


def _waits(trace: Trace) -> object:
    waits = trace.host_waits
    if waits is None:
        return None
    columns = (waits.name_of, waits.starts_ns, waits.ends_ns)
    return waits.names, [column.tolist() for column in columns]


def _host(trace: Trace) -> object:
    host = trace.host
    if host is None:
        return None
    columns = [getattr(host, field.name) for field in fields(host)]
    return [getattr(column, "tolist", lambda kept=column: kept)() for column in columns]
