"""Two files that should not be compared say why; what fusion itself changes is not a doubt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparability import comparability
from fusescope.analysis.compare.side import Side, side_of_trace, side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Diagnostic, DiagnosticCode, Meta, Trace
from fusescope.analysis.wording import diagnostic_sentence
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json

META = Meta("ascend_kernel_details", "Ascend PyTorch Profiler", "2.1", "910B", "k.csv")


def trace(types: list[str], meta: Meta = META, steps: int = 2, **columns: Any) -> Trace:
    """`steps` steps of one call of 1 µs of each type."""
    count = len(types)
    rows = {
        "name": [f"{kind}_{n}" for _ in range(steps) for n, kind in enumerate(types)],
        "op_type": types * steps,
        "dur_ns": [1000] * count * steps,
        "run": [step for step in range(steps) for _ in range(count)],
        "level": ["device_kernel"] * count * steps,
    }
    return build_trace(meta, rows | {k: v * steps for k, v in columns.items()})


UNFUSED = ["Conv2D", "BatchNorm", "Relu", "MatMul"]


def doubts(first: Trace, second: Trace) -> dict[str, str]:
    found = comparability(side_of_trace(first), side_of_trace(second))
    return {note.code: diagnostic_sentence(note) for note in found}


def test_fusion_itself_raises_no_doubt() -> None:
    assert doubts(trace(UNFUSED), trace(["Conv2D", "MatMul"])) == {}
    # many light operators that become one
    assert doubts(trace(UNFUSED + ["Add"] * 60), trace(["Conv2D", "MatMul"] + ["Add"] * 2)) == {}
    profiles = [
        read(Source("p", profile_json(operators, 6)))
        for operators in (UNFUSED_OPERATORS, FUSED_OPERATORS)
    ]
    assert doubts(*profiles) == {}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "code", "says"),
    [
        ({"tool": "msprof"}, "tools_differ", "Ascend PyTorch Profiler and msprof"),
        ({"format": "ascend_db"}, "formats_differ",
         "kernel_details.csv and its folder' and 'Ascend profiler database (SQLite)'."),
        ({"version": "2.4"}, "versions_differ", "2.1 and 2.4"),
        ({"device": "310P"}, "devices_differ", "910B and 310P"),
    ],
)  # fmt: skip
def test_other_origins(changes: dict[str, str], code: str, says: str) -> None:
    found = doubts(trace(UNFUSED), trace(UNFUSED, replace(META, **changes)))
    assert set(found) == {code}
    assert says in found[code]


def test_an_unknown_version_or_device_is_no_difference() -> None:
    assert doubts(trace(UNFUSED), trace(UNFUSED, replace(META, version=None, device=None))) == {}


def test_other_numbers_of_steps() -> None:
    found = doubts(trace(UNFUSED, steps=3), trace(UNFUSED, steps=5))
    assert found["runs_differ"].startswith("The files contain different numbers of steps: 3 and 5.")
    assert set(found) == {"runs_differ"}


def test_communication_on_one_side() -> None:
    is_communication = trace([*UNFUSED, "hcom"], is_communication=[False] * 4 + [True])
    found = doubts(trace(UNFUSED), is_communication)
    [sentence] = found.values()
    assert sentence.startswith("Only the candidate contains communication (1.00 µs per run)")


CUT = ["cut_short", "gzip_cut_short", "event_cap", "database_half_written", "log_unreadable"]


@pytest.mark.parametrize("code", CUT)
def test_a_file_that_ends_early_is_not_compared(code: DiagnosticCode) -> None:
    cut = replace(trace(UNFUSED), diagnostics=(Diagnostic("warning", code),))
    for pair in ((cut, trace(UNFUSED)), (trace(UNFUSED), cut)):
        with pytest.raises(FuseScopeError) as refused:
            compare(*map(side_of_trace, pair))
        assert refused.value.code == "side_ends_early"


def test_the_whole_runs_of_a_file_that_ends_early_are_compared_with_a_doubt() -> None:
    notes = (Diagnostic("warning", "cut_short"), Diagnostic("warning", "whole_runs_kept", 2))
    found = doubts(replace(trace(UNFUSED), diagnostics=notes), trace(UNFUSED))
    assert found["compared_cut_short"].startswith(
        "The file of the baseline ends early: only 2 runs are complete in it."
    )


def test_a_table_without_its_last_line_end_is_compared_with_a_doubt() -> None:
    notes = (Diagnostic("warning", "open_last_line"),)
    found = doubts(trace(UNFUSED), replace(trace(UNFUSED), diagnostics=notes))
    assert "last line of the file of the candidate has no line end" in found["compared_open_end"]


def test_other_counters_and_units() -> None:
    one = trace(UNFUSED, mac_ratio=[0.5] * 4, **{"mac_time(us)": [1.0] * 4})
    two = trace(UNFUSED, vec_ratio=[0.5] * 4, **{"mac_time(ns)": [1.0] * 4})
    found = doubts(one, two)
    assert "mac_time(us) and mac_time(ns)" in found["counter_units_differ"]
    assert (
        "Only the baseline has the counters mac_ratio. Only the candidate has the counters vec"
        in found["counters_differ"]
    )
    assert set(doubts(one, trace(UNFUSED))) == {"counters_on_one_side"}
    assert doubts(one, one) == {}


def test_kernels_against_framework_operators() -> None:
    framework = trace(UNFUSED)
    framework = replace(
        framework,
        operators=framework.operators.assign(
            level=framework.operators["level"].cat.rename_categories(["framework_op"])
        ),
    )
    found = doubts(trace(UNFUSED), framework)
    assert (
        "kernels of a device, those of the candidate are operators of a framework"
        in found["levels_differ"]
    )


def test_types_on_one_side() -> None:
    plain = trace(UNFUSED)
    blank = plain.operators.assign(op_type=plain.operators["op_type"].cat.set_categories([]))
    found = doubts(plain, replace(plain, operators=blank))
    assert "only the baseline has op types" in found["detail_differs"].lower()


def test_another_model() -> None:
    found = doubts(trace(["Conv2D"] * 53), trace(["Conv2D"] * 12))
    assert found["heavy_counts_differ"].startswith(
        "Convolutions, matrix products and attentions per run: 53 in the baseline, 12 in"
    )
    found = doubts(trace(["Add"] * 63), trace(["Add"] * 3))
    assert found["operator_counts_differ"].startswith("Operators per run: 63 in the baseline, 3 in")


def test_variants_of_a_recording_raise_none() -> None:
    value = read(Source("e.zip", experiment_zip({"unfused": [10.0] * 8, "fused": [5.0] * 8})))
    assert isinstance(value, Experiment)
    sides: list[Side] = [side_of_variant(value, name) for name in value.traces]
    assert list(comparability(*sides)) == []


def test_they_stand_among_the_doubts_of_a_comparison() -> None:
    sides = side_of_trace(trace(UNFUSED)), side_of_trace(trace(UNFUSED, steps=4))
    assert "runs_differ" in {note.code for note in compare(*sides).diagnostics}


def test_what_kernels_are_launched_with_is_no_counter() -> None:
    launched = {"registers per thread": [32.0] * 4, "memory bandwidth (GB/s)": [1.0] * 4}
    assert doubts(trace(UNFUSED, **launched), trace(UNFUSED)) == {}
    both = doubts(trace(UNFUSED, **launched), trace(UNFUSED, **{"grid size": [8.0] * 4}))
    assert both == {}


def test_counters_of_other_names_are_not_missing_where_both_sides_have_their_figure() -> None:
    old = {"scalar_ratio": [0.5] * 4, "memory_bound": [2.0] * 4, "vec_ratio": [0.1] * 4}
    new = {"aic_scalar_ratio": [0.5] * 4, "aiv_mte2_ratio": [0.4] * 4, "aiv_vec_ratio": [0.2] * 4}
    found = doubts(trace(UNFUSED, total_cycles=[9] * 4, **old), trace(UNFUSED, **new))
    said = found["counters_differ"]
    assert "Only the baseline has the counters total_cycles. " in said
    assert "Only the candidate has the counters aiv_mte2_ratio. " in said


def test_figures_of_counters_change_only_between_chips_of_one_kind() -> None:
    """Chips of one core have plain columns, of two those of aic_ and aiv_. Nothing that is a mean
    over cores has a change between both kinds; a sum has."""
    names = ("scalar_ratio", "mte2_ratio", "mac_ratio", "icache_miss_rate")
    one = {name: [0.2] * 4 for name in names} | {"vec_ratio": [0.1] * 4, "cube_fops": [10] * 4}
    two = {f"aic_{name}": [0.4] * 4 for name in names} | {"aiv_vec_ratio": [0.4] * 4}
    two |= {"aic_cube_fops": [20] * 4}
    for before, after, changes in ((one, two, False), (one, one, True), (two, two, True)):
        sides = [side_of_trace(trace(UNFUSED, **of)) for of in (before, after)]
        found = {figure.code: figure for figure in compare(*sides).figures}
        for code in ("cube_ratio", "vector_ratio", "scalar_ratio", "mte2_ratio", "memory_bound",
                     "icache_miss_rate"):  # fmt: skip
            assert (found[code].kind != "none") is changes, code
            assert None not in (found[code].baseline.value, found[code].candidate.value)
        assert found["cube_flops"].kind != "none"


def test_one_side_with_further_counters() -> None:
    more = trace(UNFUSED, mac_ratio=[0.5] * 4, vec_ratio=[0.5] * 4)
    found = doubts(more, trace(UNFUSED, mac_ratio=[0.5] * 4))
    assert "Only the baseline has the counters vec_ratio. The setting" in found["counters_differ"]


@pytest.mark.parametrize("other", [["aten::mm", "aten::add"], ["aten::bmm"] * 4])
def test_how_much_a_profiler_adds_to_a_file_does_not_depend_on_the_other(other: list[str]) -> None:
    """Of 100 us a step 30 are in executions under 20 us, whose operator has a mean of 25."""
    meta = Meta("pytorch", "PyTorch profiler", "2.9", "CPU", "t.json")
    short = trace(
        ["aten::mm"] * 4,
        meta,
        name=["aten::mm"] * 4,
        dur_ns=[15_000, 15_000, 40_000, 30_000],
        level=["op"] * 4,
    )
    beside = trace(other, meta, dur_ns=[50_000] * len(other), level=["op"] * len(other))
    notes = compare(side_of_trace(short), side_of_trace(beside)).diagnostics
    shares = {
        note.values["side"]: note.values["share"] for note in notes if note.code == "biased_rows"
    }
    assert shares == {"baseline": pytest.approx(0.3)}
