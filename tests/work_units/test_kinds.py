"""Kinds of work of one trace and of a pair, and what they are called."""

from __future__ import annotations

import pytest

from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from fusescope.analysis.work_units import Work
from fusescope.analysis.work_units.kinds import WorkKind, code_of, common_kinds, kinds_of_work
from tests.serving_traces import DECODE, PREFILL, serving_json


def trace_of(*steps: tuple[str, int]) -> Trace:
    found = read(Source("t.json", serving_json(steps)))
    assert isinstance(found, Trace)
    return found


def test_kinds_are_counted_apart_the_one_of_most_time_first() -> None:
    trace = trace_of((PREFILL, 500), (DECODE, 100), (DECODE, 300))
    decode, prefill = kinds_of_work(trace)
    assert (decode.work, decode.count) == (Work("decode", 4, 4), 2)
    assert (prefill.work, prefill.count) == (Work("prefill", 2, 64), 1)
    assert decode.mean_ns == 1_000_000


def test_a_pair_has_the_kinds_that_both_sides_name() -> None:
    before = trace_of((PREFILL, 500), (DECODE, 100), (DECODE, 300))
    after = trace_of((DECODE, 100), ("step[DECODE bs=8]", 100))
    [(first, second)] = common_kinds(before, after)
    assert (first.work, first.count, second.count) == (Work("decode", 4, 4), 2, 1)


@pytest.mark.parametrize(
    ("work", "code"),
    [
        (Work("decode", 32, 32), "decode-32"),
        (Work("prefill", 15, 15_360), "prefill-15-15360"),
        (Work("mixed", 9, 80), "mixed-9-80"),
        (Work(), "other"),
    ],
)
def test_kinds_have_codes_that_differ(work: Work, code: str) -> None:
    assert code_of(work) == code


def test_a_file_without_names_has_no_choice() -> None:
    assert len(kinds_of_work(trace_of((DECODE, 1), (DECODE, 2)))) == 1
    assert isinstance(kinds_of_work(trace_of((DECODE, 1)))[0], WorkKind)
