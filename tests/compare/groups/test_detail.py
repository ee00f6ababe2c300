"""A file of less detail beside one of more: like is compared with like, and nothing is made up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.detail import with_shared_detail
from fusescope.analysis.compare.side import Side, side_of_trace
from fusescope.analysis.readers import read_path
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from fusescope.analysis.wording import diagnostic_sentence
from tests.conftest import SHARED_TRACES

ASCEND = SHARED_TRACES / "third_party/ascend_torch_npu"

# name, op type, inputs
Operator = tuple[str, str | None, str | None]
MUL, ADD = ("mul_kernel", None, None), ("add_kernel", None, None)
BARE: Sequence[Operator] = (MUL, ADD)
TOLD: Sequence[Operator] = (
    ("mul_kernel", "Mul", "float32[8]"),
    ("mul_kernel", "Mul", "float32[64]"),
    ("add_kernel", "Add", "float32[8]"),
)


def side(
    operators: Sequence[Operator],
    *runs: Sequence[tuple[int, int]],
    starts: Sequence[int | None] | None = None,
    is_communication: Sequence[int] = (),
) -> Side:
    """Runs of calls (operator, duration in ns), back to back."""
    calls = [(run, *call) for run, of_run in enumerate(runs) for call in of_run]
    begin = [sum(dur for _, _, dur in calls[:at]) for at in range(len(calls))]
    names, types, inputs = zip(*operators, strict=True)
    lengths = [sum(dur for _, dur in of_run) for of_run in runs]
    trace = Trace(
        meta=Meta("ascend_kernel_details", "Ascend PyTorch Profiler"),
        runs=runs_frame(
            run=range(len(runs)),
            kind=["step"] * len(runs),
            start_ns=[sum(lengths[:run]) for run in range(len(runs))],
            dur_ns=lengths,
            profiled=[True] * len(runs),
        ),
        operators=operators_frame(
            operator=range(len(names)),
            name=list(names),
            op_type=list(types),
            level=["device_kernel"] * len(names),
            inputs=list(inputs),
            is_communication=[at in is_communication for at in range(len(names))],
        ),
        calls=calls_frame(
            operator=[operator for _, operator, _ in calls],
            run=[run for run, _, _ in calls],
            start_ns=begin if starts is None else list(starts),
            dur_ns=[dur for _, _, dur in calls],
        ),
    )
    return side_of_trace(trace)


def pairs(found: Comparison) -> list[tuple[str, float | None, float | None]]:
    """Name and times per run of both sides of each joined operator."""
    table = found.operators
    columns = (table["name"], table["per_run_ns_baseline"], table["per_run_ns_candidate"])
    rows = [
        (str(name), *(None if pd.isna(ns) else float(ns) for ns in times))
        for name, *times in zip(*columns, strict=True)
    ]
    return sorted(rows, key=repr)  # type: ignore[arg-type]


# In each run: a small product, a sum, a large product, a small product again.
PLAIN = [(0, 10), (1, 7), (0, 90), (0, 12)]
KNOWN = [(0, 11), (2, 7), (1, 80), (0, 13)]


@pytest.mark.parametrize("is_swapped", [False, True])
def test_calls_of_one_name_are_told_apart_by_their_order(is_swapped: bool) -> None:
    bare, told = side(BARE, PLAIN, PLAIN), side(TOLD, KNOWN, KNOWN)
    found = compare(*((told, bare) if is_swapped else (bare, told)))
    wanted = [("add_kernel", 7.0, 7.0), ("mul_kernel", 22.0, 24.0), ("mul_kernel", 90.0, 80.0)]
    assert pairs(found) == [(name, *(ns[::-1] if is_swapped else ns)) for name, *ns in wanted]
    assert set(found.operators["side"]) == {"both"}
    types = found.op_types.set_index("op_type")["per_run_ns_baseline"].to_dict()
    assert types == ({"Mul": 104.0, "Add": 7.0} if is_swapped else {"Mul": 112.0, "Add": 7.0})
    assert [group.kind for group in found.fusion.groups] == ["kept"] * 3
    (note,) = [note for note in found.diagnostics if note.code == "detail_borrowed"]
    poor = "candidate" if is_swapped else "baseline"
    assert dict(note.values) == {"on": poor, "names": 1, "types": 3}
    assert diagnostic_sentence(note) == (
        f"The {poor} was recorded with less detail than the other file. Operators of 1 name are "
        "told apart as there, by the order of calls. The types of 3 operators are taken from "
        "there, by name. Times and counts are its own."
    )
    untyped = replace(note, values={**note.values, "types": 0})
    assert "types" not in diagnostic_sentence(untyped)


def test_no_shape_is_made_up_and_no_time_changes() -> None:
    bare, told = side(BARE, PLAIN, PLAIN), side(TOLD, KNOWN, KNOWN)
    first, second, _ = with_shared_detail(bare, told)
    assert second is told
    assert first.trace.operators["inputs"].isna().all()
    assert list(first.trace.calls["dur_ns"]) == list(bare.trace.calls["dur_ns"])
    names = first.trace.operators["name"].astype(str)
    called = names.to_numpy()[first.trace.calls["operator"]]
    assert list(called) == ["mul_kernel", "add_kernel", "mul_kernel", "mul_kernel"] * 2


@pytest.mark.parametrize(
    ("bare", "told"),
    [
        ([PLAIN, PLAIN[:-1]], [KNOWN, KNOWN]),  # one call less in one run
        ([PLAIN, PLAIN], [KNOWN, [*KNOWN[2:], *KNOWN[:2]]]),  # another order in one run
    ],
    ids=["fewer calls", "another order"],
)
def test_where_the_runs_differ_no_call_is_given_to_an_operator(
    bare: Sequence[Sequence[tuple[int, int]]], told: Sequence[Sequence[tuple[int, int]]]
) -> None:
    sides = side(BARE, *bare), side(TOLD, *told)
    first, _, notes = with_shared_detail(*sides)
    assert len(first.trace.operators) == 2
    assert [note.values["names"] for note in notes] == [0]
    # All calls of a name beside some of them would be a speedup that nobody measured.
    partners = compare(*sides).operators.set_index("name")["side"]
    assert sorted(partners["mul_kernel"]) == ["baseline", "candidate", "candidate"]
    assert partners["add_kernel"] == "both"


def test_calls_without_start_times_have_no_order() -> None:
    bare = side(BARE, PLAIN, starts=[None] * 4)
    assert len(with_shared_detail(bare, side(TOLD, KNOWN))[0].trace.operators) == 2


def test_two_files_of_the_same_detail_are_left_alone() -> None:
    for one in (side(BARE, PLAIN), side(TOLD, KNOWN)):
        first, second, notes = with_shared_detail(one, one)
        assert (first, second, notes) == (one, one, ())


def test_communication_is_typed_whatever_its_group_of_ranks_is_called() -> None:
    bare = side(
        [("hcom_allReduce__868_0_1", None, None), MUL], [(0, 50), (1, 5)], is_communication=[0]
    )
    told = side(
        [("hcom_allReduce__586_0_1", "hcom_allReduce_", None), TOLD[0]],
        [(0, 70), (1, 5)],
        is_communication=[0],
    )
    assert pairs(compare(bare, told)) == [
        ("hcom_allReduce__868_0_1", 50.0, 70.0),
        ("mul_kernel", 5.0, 5.0),
    ]


@pytest.mark.usefixtures("shared_traces")
def test_two_levels_of_one_real_step_join_whole() -> None:
    files = [ASCEND / f"2025-01-level{level}-rank0" for level in (0, 1)]
    found = compare(*(side_of_trace(read_path(file)) for file in files))
    assert set(found.operators["side"]) == {"both"} and len(found.operators) == 161
    # All-reduce apart, the same kernels under a profiler that asks for more.
    assert (
        found.operators.loc[found.operators["op_class"] != "communication", "speedup"]
        .between(0.5, 2.0)
        .all()
    )
