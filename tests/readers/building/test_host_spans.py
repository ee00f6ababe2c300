"""The activity of the host: in which order its spans are, what of many stays, and its names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.host_activity import (
    ANNOTATION,
    FRAME,
    OPERATOR,
    RUNTIME,
    HostActivity,
    told_apart,
)
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.building.call_stacks import Moments
from fusescope.analysis.readers.building.host import spans as host_spans
from fusescope.analysis.readers.building.host.spans import HostSpans, host_activity
from fusescope.analysis.trace import Diagnostic

NAMES = ("outer", "inner", "launch", "inn\u200ber")
LANES = (("7", "1"), ("7", "2"), ("8", "1"))
Span = tuple[int, int, int, int, int]  # thread, start, length, name, kind


def made(
    spans: list[Span], *launches: tuple[int, int, int]
) -> tuple[HostActivity | None, list[Diagnostic]]:
    columns = np.array(spans, dtype="int64").reshape(-1, 5).T
    of = np.array(launches, dtype="int64").reshape(-1, 3).T
    return host_activity(HostSpans(*columns), Moments(*of), NAMES, LANES, Limits())


def told(host: HostActivity | None) -> list[tuple[str, str, int, int, int]]:
    assert host is not None
    return [
        (host.lane_names[lane], host.names[name], int(start), int(end), int(kind))
        for lane, name, start, end, kind in zip(
            host.lanes, host.name_of, host.starts_ns, host.ends_ns, host.kind_of, strict=True
        )
    ]


def test_spans_are_by_thread_and_start_and_the_longer_first() -> None:
    """A name without its invisible character is the other one; thread 1 of process 7 is idle."""
    host, notes = made(
        [
            (2, 5, 1, 2, RUNTIME), (1, 4, 2, 3, FRAME), (1, 9, 0, 2, RUNTIME),
            (1, 4, 6, 0, ANNOTATION), (1, 4, 2, 1, OPERATOR),
        ],
        (1, 40, 3), (2, 5, 1), (1, 9, 0),
    )  # fmt: skip
    assert host is None or not notes
    assert told(host) == [
        ("process 7 thread 2", "outer", 4, 10, ANNOTATION),
        ("process 7 thread 2", "inner", 4, 6, FRAME),
        ("process 7 thread 2", "inner", 4, 6, OPERATOR),
        ("process 7 thread 2", "launch", 9, 9, RUNTIME),
        ("process 8 thread 1", "launch", 5, 6, RUNTIME),
    ]


def test_launches_are_found_by_the_row_of_the_call() -> None:
    host, _ = made([(1, 4, 6, 0, FRAME)], (1, 40, 3), (1, 5, 1), (2, 9, 0))
    assert host is not None and host.lane_names == ("process 7 thread 2", "process 8 thread 1")
    lanes, times = host.launches_of(np.array([0, 1, 2, 3, 4]))
    assert (lanes.tolist(), times.tolist()) == ([1, 0, -1, 0, -1], [9, 5, 0, 40, 0])


def test_of_too_many_the_longest_stay_and_the_others_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(host_spans, "MAX_SPANS", 2)
    host, (note,) = made([(0, 1, 5, 0, FRAME), (0, 2, 1, 1, FRAME), (0, 9, 3, 2, RUNTIME)])
    assert (note.code, note.count, note.severity) == ("host_spans_left", 1, "warning")
    assert told(host) == [
        ("thread 1", "outer", 1, 6, FRAME),
        ("thread 1", "launch", 9, 12, RUNTIME),
    ]


def test_without_spans_nothing_is_known_of_the_host() -> None:
    assert made([], (0, 4, 1)) == (None, [])


TIMES = st.integers(-5, 5) | st.sampled_from((-(2**60), 2**60))


@given(st.lists(st.tuples(st.integers(0, 2), TIMES, st.integers(0, 3), st.just(0), st.just(0))))
def test_the_order_is_that_of_python(spans: list[Span]) -> None:
    host, _ = made(spans)
    found = [] if host is None else [one[2:4] for one in told(host)]
    expected = sorted((lane, start, -length) for lane, start, length, *_ in spans)
    assert found == [(start, start - length) for _, start, length in expected]


def test_new_names_that_are_alike_become_one_and_threads_stay_apart() -> None:
    host, _ = made([(0, 1, 5, 0, FRAME), (0, 2, 1, 1, FRAME), (1, 9, 3, 2, RUNTIME)])
    assert host is not None and host.names == ("outer", "inner", "launch")
    less = host.renamed(("x", "x", "launch"), ("t", "t"))
    assert (less.names, less.name_of.tolist()) == (("x", "launch"), [0, 0, 1])
    assert less.lane_names == ("t", "t #2")


def test_threads_of_one_name_are_numbered_once_each() -> None:
    assert told_apart(["t", "t #2", "t", "u", "t"]) == ("t", "t #2", "t #3", "u", "t #4")
    assert told_apart(["t"] * 50_000)[-1] == "t #50000"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("lanes", [1, 0]), ("lanes", [0, 2]), ("starts_ns", [3, 2]), ("ends_ns", [3, 1]),
        ("name_of", [0, -1]), ("kind_of", [0, 4]), ("launch_rows", [4, 4]), ("launch_ns", [1]),
        ("launch_lanes", [0, 9]),
    ],
)  # fmt: skip
def test_columns_that_no_reader_makes_are_refused(column: str, value: list[int]) -> None:
    fine = {
        "lanes": [0, 0], "starts_ns": [1, 2], "ends_ns": [3, 3], "name_of": [0, 1],
        "kind_of": [0, 1], "launch_rows": [1, 4], "launch_lanes": [0, 1], "launch_ns": [5, 2],
    }  # fmt: skip
    HostActivity(("a", "b"), ("t", "u"), **{k: np.array(v) for k, v in fine.items()})
    wrong = {k: np.array(v) for k, v in {**fine, column: value}.items()}
    with pytest.raises(ValueError, match="host activity"):
        HostActivity(("a", "b"), ("t", "u"), **wrong)
