"""The fusion ledger in the report, in JSON and in CSV: figures by hand, and that they add up."""

from __future__ import annotations

import csv
import functools
import io
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Fusion, Group, Kind
from fusescope.analysis.compare.groups.fusion import Operator as Op
from fusescope.analysis.compare.ledger import ledger
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.patterns import Blocker
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report import ledger as report_ledger
from fusescope.analysis.report.exports.fusion_json import fusion_values
from fusescope.analysis.report.exports.ledger_csv import ledger_csv
from fusescope.analysis.report.html import report_html
from fusescope.analysis.report.ledger import ledger_table
from fusescope.analysis.report.pictures.waterfall import Waterfall, waterfall
from fusescope.analysis.report.text import signed_range
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import KNOWN_BY, beside_explanation, slow_parts
from fusescope.analysis.wording.fusion.shares import shown_shares
from fusescope.analysis.wording.waterfall import ends_ns, waterfall_steps
from tests.factories import (
    FUSED_OPERATORS,
    GEMM,
    UNFUSED_OPERATORS,
    Operator,
    experiment_zip,
    profile_json,
)
from tests.report.test_html import Page

SAMPLES = sorted((Path(__file__).resolve().parents[2] / "sample_traces").glob("*.zip"))
TIMES = {"unfused": [10.0] * 8, "fused": [5.0] * 8}
SHAPE = [(1, 4, 8, 8)]
HOSTILE = "<img src=x onerror=\"document.title='pwned'\">\u202e\x1b[31m"


def of_variants(
    times: Mapping[str, Sequence[float]] = TIMES,
    operators: Mapping[str, Sequence[Operator]] | None = None,
) -> Comparison:
    """Unfused against fused: Conv + BatchNormalization + Relu -> FusedConv, Gemm -> Gemm."""
    value = read(Source("e.zip", experiment_zip(times, operators)))
    return with_groups(compare(*choose_sides(value)), *GROUPS)


def with_groups(comparison: Comparison, *groups: Group) -> Comparison:
    """The comparison with these groups in place of those that it found."""
    fusion = Fusion(
        "graphs",
        groups,
        original_nodes=4,
        mapped_nodes=4,
        optimised_nodes=2,
        inserted=((), ()),
    )
    made = ledger(comparison.baseline, comparison.candidate, fusion)
    return replace(comparison, fusion=fusion, ledger=made)


def group(id_: int, before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]]) -> Group:
    original = tuple(Op(*names, scope=names[0].rpartition("/")[0]) for names in before)
    candidate = tuple(Op(*names) for names in after)
    return Group(
        id_,
        "kept" if len(before) == len(after) else "fused",
        "name",
        original,
        original,
        candidate,
        inputs=("t0",),
        outputs=("t3",),
        bytes_inside=(2048, 0),
        difference=(2e-6, 1e-6),
    )


GROUPS = (
    group(
        1,
        [("a/Conv", "Conv"), ("a/BatchNormalization", "BatchNormalization"), ("a/Relu", "Relu")],
        [("a/Conv", "FusedConv")],
    ),
    group(2, [("head/Gemm", "Gemm")], [("head/Gemm", "Gemm")]),
)


def slower(group_us: int) -> Comparison:
    """Both sides run the same two operators, the candidate's first takes `group_us` longer."""
    first = ("a/Conv", "Conv", 100, [(1, 3, 8, 8)], [(1, 4, 8, 8)])
    operators = {
        "unfused": [first, GEMM],
        "fused": [(*first[:2], 100 + group_us, *first[3:]), GEMM],
    }
    value = read(Source("e.zip", experiment_zip(TIMES, operators)))
    conv = group(1, [("a/Conv", "Conv")], [("a/Conv", "Conv")])
    return with_groups(compare(*choose_sides(value)), conv, GROUPS[1])


# --- JSON ----------------------------------------------------------------------------------------


def test_a_group_in_json() -> None:
    values = fusion_values(of_variants())
    assert values["groups"][0] == {
        "id": 1,
        "kind": "fused",
        "known_by": "name",
        "pattern": "Conv + BatchNormalization + Relu",
        "becomes": "FusedConv",
        "scope": "a",
        "inputs": ["t0"],
        "outputs": ["t3"],
        "original": [
            {"name": "a/Conv", "op_type": "Conv"},
            {"name": "a/BatchNormalization", "op_type": "BatchNormalization"},
            {"name": "a/Relu", "op_type": "Relu"},
        ],
        "baseline": [
            {"name": "a/Conv", "op_type": "Conv"},
            {"name": "a/BatchNormalization", "op_type": "BatchNormalization"},
            {"name": "a/Relu", "op_type": "Relu"},
        ],
        "optimised": [{"name": "a/Conv", "op_type": "FusedConv"}],
        # 100 + 30 + 20 µs before, 110 µs after, in every run
        "before_ns": 150_000,
        "after_ns": 110_000,
        "gain_ns": 40_000,
        "slow_before_ns": 0,
        "slow_after_ns": 0,
        "before_median_ns": 150_000,
        "after_median_ns": 110_000,
        # as every block says, no narrower than 24 runs of whole µs allow
        "low": 39_721,
        "high": 40_279,
        # of 5 ms
        "share": pytest.approx(40_000 / 5_000_000),
        "bytes_removed": 2048,
        "output_difference": {"absolute": 2e-6, "relative": 1e-6},
        "hurts": False,
    }
    assert [entry["id"] for entry in values["groups"]] == [1, 2]
    assert (values["original_nodes"], values["mapped_nodes"], values["largest_group"]) == (4, 4, 3)
    assert (values["optimised_nodes"], values["inserted_nodes"]) == (2, 0)
    assert values["boundary_mismatches"] == 0


def test_the_terms_in_json() -> None:
    sum_ = fusion_values(of_variants())["reconciliation"]
    # spans: 200 µs and five gaps of 2 µs; 160 µs and three gaps; un-profiled 10 and 5 ms
    assert sum_["of"] == "unprofiled_wall"
    assert sum_["delta_ns"] == -5_000_000
    assert sum_["groups_ns"] == -40_000
    assert sum_["dispatch_ns"] == 6_000 - 10_000
    assert sum_["profiler_bias_ns"] == (5_000_000 - 166_000) - (10_000_000 - 210_000)
    assert (sum_["ungrouped_ns"], sum_["overlap_ns"], sum_["rounding_ns"]) == (0, 0, 0)
    assert sum_["weak"] is True


@functools.cache
def sample(path: Path) -> Trace | Experiment:
    return read_path(path)


TERMS = (
    "groups_ns",
    "ungrouped_ns",
    "slow_ns",
    "overlap_ns",
    "dispatch_ns",
    "profiler_bias_ns",
    "rounding_ns",
)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "pair",
    [
        ("unfused", "fused"),
        pytest.param(("fused", "unfused"), marks=pytest.mark.exhaustive),
        pytest.param(("eager", "fused"), marks=pytest.mark.exhaustive),
    ],
)
def test_samples_add_up_to_the_nanosecond(path: Path, pair: tuple[str, str]) -> None:
    comparison = compare(*choose_sides(sample(path), None, *pair))
    values = fusion_values(comparison)
    sum_ = values["reconciliation"]
    assert sum(sum_[term] for term in TERMS) == sum_["delta_ns"]
    assert -sum(entry["gain_ns"] for entry in values["groups"]) == sum_["groups_ns"]
    originals = [node["name"] for entry in values["groups"] for node in entry["original"]]
    assert len(originals) == len(set(originals)) == values["original_nodes"]
    assert values["boundary_mismatches"] == 0
    lines = rows_of(ledger_csv(comparison))
    whole = sum_["delta_ns"] + (sum_["outlying_ns"] or 0)
    assert sum(int(line["gain_ns"]) for line in lines) == -whole
    patterns, terms = shown_shares(comparison.ledger)
    shown = [round(1000 * (share or 0)) for share in (*patterns, *terms.values())]
    assert sum(shown) == 1000  # 100.0 % as it reads
    picture = waterfall(comparison)
    assert picture is not None
    assert_steps_meet(picture)
    assert min(ends_ns(waterfall_steps(comparison))) >= 0


def test_no_groups_are_null_and_not_zero() -> None:
    empty = with_groups(of_variants())
    nothing = replace(empty, fusion=Fusion("none"))
    values = fusion_values(nothing)
    assert values["source"] == "none"
    assert values["groups"] == []
    assert values["ablation"] is None
    assert ledger_table(nothing) is None
    page = Page(report_html(nothing))
    assert "It is not known which operators became which." in page.text


def test_a_profile_without_unprofiled_runs_has_no_bias() -> None:
    first, second = (
        read(Source(name, profile_json(operators, 6)))
        for name, operators in (("a.json", UNFUSED_OPERATORS), ("b.json", FUSED_OPERATORS))
    )
    values = fusion_values(with_groups(compare(*choose_sides(first, second)), *GROUPS))
    assert values["reconciliation"]["profiler_bias_ns"] is None
    assert values["reconciliation"]["of"] == "run_span"
    assert values["reconciliation"]["delta_ns"] == -44_000


# --- CSV -----------------------------------------------------------------------------------------


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_csv_has_every_group_and_the_terms() -> None:
    lines = rows_of(ledger_csv(of_variants()))
    assert [line["line"] for line in lines[:2]] == ["group", "group"]
    assert lines[0]["original"] == "a/Conv; a/BatchNormalization; a/Relu"
    assert (lines[0]["before_ns"], lines[0]["after_ns"], lines[0]["gain_ns"]) == (
        *("150000", "110000", "40000"),
    )
    terms = {line["line"]: line["gain_ns"] for line in lines[2:]}
    assert terms["idle time"] == "4000"
    assert sum(int(line["gain_ns"]) for line in lines) == 5_000_000


# --- the waterfall -------------------------------------------------------------------------------


def assert_steps_meet(picture: Waterfall) -> None:
    """Each bar starts where the one before it ended, and all of them are inside the picture."""
    bars = picture.bars
    for before, after in itertools.pairwise(bars):
        ends = (after.left, after.left + after.width)
        assert any(before.end == pytest.approx(end, abs=1e-9) for end in ends)
    assert all(bar.left >= -1e-9 and bar.left + bar.width <= 1 + 1e-9 for bar in bars)
    assert bars[-2].end == pytest.approx(bars[-1].end, abs=1e-9)


def test_the_waterfall_leads_from_one_time_to_the_other() -> None:
    picture = waterfall(of_variants())
    assert picture is not None
    assert [(bar.label, bar.text) for bar in picture.bars] == [
        ("unfused", "10.0 ms"),
        ("profiler bias, baseline", "−9.79 ms"),  # 10 ms un-profiled, 210 µs profiled
        ("Conv + BatchNormalization + Relu", "−40.0 µs"),
        ("idle time", "−4.00 µs"),
        ("profiler bias, candidate", "+4.83 ms"),
        ("fused", "5.00 ms"),
    ]
    assert picture.bars[1].note == "mean profiled run 210 µs"
    kinds = ["total", "term", "faster", "term", "term", "total"]
    assert [bar.kind for bar in picture.bars] == kinds
    assert picture.bars[0].width == pytest.approx(1.0)
    assert picture.bars[-1].width == pytest.approx(0.5)
    assert_steps_meet(picture)


def test_the_waterfall_never_goes_below_zero() -> None:
    """A profiler that costs more than the run: its gains are larger than the whole time."""
    comparison = of_variants({"unfused": [0.03] * 8, "fused": [0.02] * 8})
    assert min(ends_ns(waterfall_steps(comparison))) >= 20_000
    picture = waterfall(comparison)
    assert picture is not None
    assert picture.ticks[0].at == 0
    assert_steps_meet(picture)


# --- the report ----------------------------------------------------------------------------------


def test_the_ledger_is_text_that_needs_no_script() -> None:
    page = Page(report_html(of_variants()))
    assert "What fusion bought" in page.text
    assert "All original operators are accounted for: 4 of 4. 0 boundary mismatches" in page.text
    assert "Conv + BatchNormalization + Relu" in page.text
    assert "→ FusedConv" in page.text
    assert "−40.0 µs" in page.text
    assert "2.05 kB" in page.text
    assert "the whole run, mean un-profiled wall time" in page.text
    assert "−5.00 ms" in page.text
    assert "How the fusion ledger adds up" in page.text
    assert "A fusion group is the smallest set" in page.text
    patterns = [a for a in page.of("details") if a.get("class") == "pattern"]
    assert len(patterns) == 2
    assert len(page.of("svg")) >= 2  # the group before and after


def test_weak_attribution_is_said_beside_the_ledger() -> None:
    """4.96 of 5 ms are the profiler's."""
    value = read(Source("e.zip", experiment_zip(TIMES)))
    html = report_html(compare(*choose_sides(value)))
    section = html.partition('<section id="fusion">')[2].partition("</section>")[0]
    assert "operators explain only part of the change" in section.lower()


def test_names_of_a_group_leave_out_the_module_beside_them() -> None:
    table = ledger_table(of_variants())
    assert table is not None
    member = table.patterns.visible[0].members[0]
    assert member.scope == "a"
    assert [shown for shown, _ in member.original.shown] == ["Conv", "BatchNormalization", "Relu"]
    assert member.original.shown[0][1] == "a/Conv"


def test_a_group_that_hurts_is_said_in_words() -> None:
    table = ledger_table(slower(60))
    assert table is not None
    worst = table.patterns.visible[0]
    assert (worst.pattern, worst.hurts, worst.gain.kind) == ("Conv", 1, "slower")
    assert (worst.gain.text, table.units.time) == ("+60.0", "µs")
    html = report_html(slower(60))
    assert '<b class="hurts">slower' in html
    assert '<b class="hurts">' not in report_html(slower(0))


def test_long_ledgers_are_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    operators = [(f"n{n}", "Relu", 50, [(1, 4, 8, 8)], [(1, 4, 8, 8)]) for n in range(9)]
    value = read(Source("e.zip", experiment_zip(TIMES, {"unfused": operators, "fused": operators})))
    groups = [group(n, [(f"n{n}", "Relu")], [(f"n{n}", "Relu")]) for n in range(9)]
    comparison = with_groups(compare(*choose_sides(value)), *groups)
    monkeypatch.setattr(report_ledger, "MAX_GROUPS", 4)
    table = ledger_table(comparison)
    assert table is not None
    (row,) = table.patterns.visible
    assert (row.groups, len(row.members), row.cut) == ("9", 4, 5)
    assert (
        "5 more groups with smaller changes are not in this report"
        in Page(report_html(comparison)).text
    )


def test_many_operators_of_a_group_are_counted() -> None:
    names = [(f"chain/n{n}", "Mul") for n in range(30)]
    comparison = with_groups(of_variants(), group(1, names, [("head/Gemm", "Gemm")]))
    table = ledger_table(comparison)
    assert table is not None
    original = table.patterns.visible[0].members[0].original
    assert len(original.shown) + original.more == 30
    assert original.more > 0
    assert f"and {original.more} more" in Page(report_html(comparison)).text


def test_hostile_names_in_groups_stay_text() -> None:
    before = [(f"{HOSTILE}/a", HOSTILE), (f"{HOSTILE}/b", HOSTILE)]
    comparison = with_groups(of_variants(), group(1, before, [(HOSTILE, HOSTILE)]), GROUPS[1])
    html = report_html(comparison)
    page = Page(html)
    assert not page.of("img")
    assert len(page.scripts) == len(Page(report_html(of_variants())).scripts)
    assert "\u202e" not in html
    assert "\x1b" not in html


def test_hostile_names_in_drawn_groups_stay_text() -> None:
    operators = {
        name: [(f"{HOSTILE}/{n}", f"Mul{HOSTILE}", 40, SHAPE, SHAPE) for n in range(count)]
        for name, count in (("unfused", 3), ("fused", 1))
    }
    value = read(Source("e.zip", experiment_zip(TIMES, operators)))
    names = {name: [(o[0], o[1]) for o in many] for name, many in operators.items()}
    comparison = with_groups(
        compare(*choose_sides(value)), group(1, names["unfused"], names["fused"])
    )
    html = report_html(comparison)
    page = Page(html)
    assert len([a for a in page.of("svg") if a.get("class") == "fsg"]) == 2
    assert not page.of("img")
    assert "\u202e" not in html
    assert "\x1b" not in html


def test_no_number_is_nan_where_one_side_has_no_runs() -> None:
    """Gains are unknown, and a dash says so."""
    events = profile_json(UNFUSED_OPERATORS, 6)
    runless = re.sub(rb'\{[^\n]*"(?:model_run|SequentialExecutor::Execute)"[^\n]*\n', b"", events)
    runless = runless.rstrip().rstrip(b"]").rstrip().rstrip(b",") + b"]"
    first, second = (
        read(Source("a.json", runless)),
        read(Source("b.json", profile_json(FUSED_OPERATORS, 6))),
    )
    comparison = with_groups(compare(*choose_sides(first, second)), *GROUPS)
    html = report_html(comparison)
    assert not re.search(r"\b(nan|NaN|None|inf)\b", Page(html).text)
    values: Any = fusion_values(comparison)
    assert values["groups"][0]["gain_ns"] is None
    assert values["reconciliation"]["delta_ns"] is None


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (5_331_400, 6_142_000, "+5.33 to +6.14 ms"),
        (-29_604.7, 17_471.4, "−29.6 to +17.5 µs"),
        (-702, 168.6, "−702 to +169 ns"),
        (3_200, 142_000, "+3 to +142 µs"),
        (0.0, 2e9, "+0.00 to +2.00 s"),
        (-0.001, 999.6, "+0.00 to +1.00 µs"),
    ],
)
def test_a_range_has_one_unit(low: float, high: float, text: str) -> None:
    assert signed_range(low, high) == text


# --- what was not fused, and what each optimizer is worth -----------------------------------------

CHAIN: tuple[Operator, ...] = (
    ("a/Mul", "Mul", 40, SHAPE, SHAPE),
    ("a/Add", "Add", 30, SHAPE, SHAPE),
    GEMM,
)


def test_a_near_miss_is_said_with_what_to_change() -> None:
    data = experiment_zip(TIMES, {"unfused": CHAIN, "fused": CHAIN})
    comparison = compare(*choose_sides(read(Source("e.zip", data))))
    (miss,) = fusion_values(comparison)["near_misses"]
    assert (miss["pattern"], miss["count"], miss["blocked_by"]) == ("Mul + Add", 1, "no_kernel")
    assert miss["operators"] == ["a/Mul", "a/Add"]
    assert miss["places"] == [["a/Mul", "a/Add"]]
    assert miss["stake_ns"] == 70_000
    page = Page(report_html(comparison))
    assert "Why not fused" in page.text
    assert miss["sentence"] in page.text
    assert miss["remedy"] in page.text
    assert "70.0 µs" in page.text


def test_the_page_on_fusion_names_every_blocker_kind_and_source() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "fusion.md").read_text(encoding="utf-8")
    assert set(get_args(Blocker)) <= set(re.findall(r"`(\w+)`", page))
    kinds = re.findall(r"^\| (\w+) \|", page, re.MULTILINE)
    assert set(get_args(Kind)) <= set(kinds)
    for words in KNOWN_BY.values():
        assert f"| {words} |" in page


def test_without_near_misses_there_is_no_section() -> None:
    html = report_html(of_variants())
    assert '<section id="blocked">' not in html
    assert 'href="#blocked"' not in html


def test_an_ablation_is_a_table_of_its_own() -> None:
    times = {
        "unfused": [20.0] * 6,
        "fused": [10.0] * 6,
        "without:ConvBNFusion": [12.0] * 6,
        "only:ConvBNFusion": [16.0] * 6,
    }
    value = read(Source("e.zip", experiment_zip(times)))
    comparison = compare(*choose_sides(value, None, "unfused", "fused"))
    (row,) = fusion_values(comparison)["ablation"]
    assert row["optimizer"] == "ConvBNFusion"
    assert row["removed"]["value"] == pytest.approx(1.2, rel=1e-3)
    assert row["added"]["value"] == pytest.approx(1.25, rel=1e-3)
    assert row["removed"]["low"] <= row["removed"]["value"] <= row["removed"]["high"]
    assert (row["acts_without"], row["acts_only"]) == (True, True)
    page = Page(report_html(comparison))
    assert "What each optimizer is worth" in page.text
    assert "1.20×" in page.text
    assert "1.25×" in page.text
    assert "do not add up" in page.text
    assert '<section id="ablation">' not in report_html(of_variants())
    # All variants of the recording are in one more table, the baseline of the report first.
    assert "fused is the fastest of the 4: every other one is slower than it beyond" in page.text
    table = page.text.split("All recorded variants")[-1]
    found = [table.index(name) for name in ("baseline", "2.00×", "1.67×", "1.25×")]
    assert found == sorted(found)
    assert '<section id="variants">' not in report_html(of_variants())


def test_the_report_says_of_its_groups_what_the_page_does() -> None:
    """Of the files: 11 slow executions before and 3 after by the medians of their operators."""
    folder = SAMPLES[0].parent / "torch_compile"
    eager, compiled = (read_path(folder / f"{name}.json.gz") for name in ("eager", "compiled"))
    pair = compare(*choose_sides(eager, compiled))
    beside, slow = beside_explanation(pair), "".join(part.text for part in slow_parts(pair.ledger))
    assert "single long ones that it leaves out" in beside
    assert "(11 executions)" in slow and "(3 executions)" in slow
    text = Page(report_html(pair)).text.replace("\N{NO-BREAK SPACE}", " ")
    assert beside in text and slow in text
