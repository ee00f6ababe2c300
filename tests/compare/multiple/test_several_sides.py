"""Several sides at once: corrected intervals, the set that may be the fastest, the Pareto front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest

from fusescope.analysis.charts.pareto import pareto as picture
from fusescope.analysis.compare.multiple.choice import several_sides
from fusescope.analysis.compare.multiple.comparison import MultipleComparison, compare_several
from fusescope.analysis.compare.multiple.pareto import pareto
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment, OutputDifference
from fusescope.analysis.wording.multiple.comparison import (
    basis_sentences,
    best_sentence,
    column_text,
    doubt_lines,
    doubts_counted_text,
    front_sentence,
    has_doubts,
    interval_head,
    result_text,
)
from fusescope.analysis.wording.multiple.engines import reading_sentences
from tests.compare.test_comparison import experiment_of, trace_of
from tests.factories import FUSED_OPERATORS, GEMM, UNFUSED_OPERATORS, experiment_zip, profile_json
from tests.whole_files import trace_of as whole_file

# fused takes half the time of unfused in every block, extended 1 % more or less of that in turn.
TIMES = {
    "unfused": [10.0] * 8,
    "eager": [20.0] * 8,
    "fused": [5.0] * 8,
    "extended": [5.05, 4.95] * 4,
}
STEADY = (1.0,)


def several(data: bytes, names: Sequence[str] = ()) -> MultipleComparison:
    return compare_several(several_sides([experiment_of(data)], names))


def members(multiple: MultipleComparison) -> list[str]:
    return [multiple.sides[at].name for at in multiple.best.members]


def test_intervals_hold_together_and_equals_are_not_told_apart() -> None:
    multiple = several(experiment_zip(TIMES, control=STEADY))
    verdicts = {c.candidate.label: c.verdict for c in multiple.comparisons}
    assert {name: v.outcome for name, v in verdicts.items()} == {
        "eager": "slower", "fused": "faster", "extended": "faster"
    }  # fmt: skip
    # d is ln(0.505) and ln(0.495), four times each: winsorised as it is, s = a sqrt(8 / 7) with a
    # half their distance, SE = s sqrt(7 / (6 * 5)); t(1 - 0.05 / 3 / 2, 5) = 3.534.
    a = (math.log(1.01) - math.log(0.99)) / 2
    middle = math.log(2) - (math.log(1.01) + math.log(0.99)) / 2
    half = 3.534 * a * math.sqrt(8 / 30)
    corrected = verdicts["extended"].corrected
    assert corrected is not None and verdicts["extended"].alpha == pytest.approx(0.05 / 3)
    assert corrected.low == pytest.approx(math.exp(middle - half), rel=1e-4)
    assert corrected.high == pytest.approx(math.exp(middle + half), rel=1e-4)
    shown = verdicts["extended"].interval
    assert shown is not None and corrected.low < shown.low < shown.high < corrected.high
    # extended against fused: the mean is nearly 0, so neither is told faster.
    assert members(multiple) == ["extended", "fused"]
    assert [multiple.sides[at].name for at in multiple.best.ruled_out] == ["unfused", "eager"]
    assert multiple.best.noise == "known"
    detectable = math.expm1((3.534 + 0.920) * a * math.sqrt(8 / 30))  # t(0.8, 5) = 0.920
    assert multiple.best.detectable == pytest.approx(detectable, rel=1e-2)
    assert [multiple.sides[at].name for at in multiple.order] == [
        "unfused", "extended", "fused", "eager"
    ]  # fmt: skip
    assert best_sentence(multiple) == (
        "The fastest of the 4 is one of these: extended, fused. At this noise they cannot be told "
        "apart. A difference of 2.3 % between the first and another would have shown. Each of "
        "the others is slower than at least one variant, beyond the noise."
    )
    assert "each interval is at 98.33 %" in basis_sentences(multiple)
    assert reading_sentences(multiple) == (
        "Each latency is that of unfused × a ratio that is paired inside blocks, so with another "
        "baseline, as in a comparison of two others, it may read differently."
    )
    assert str(interval_head(multiple)) == "98.33 % interval"


def test_no_change_would_have_shown_that_two_copies_of_the_baseline_hide() -> None:
    """Copies that are 3 % apart either way in turn: the spread of the pairs would show 2.3 %."""
    multiple = several(experiment_zip(TIMES, control=(1.03, 1 / 1.03)))
    apart = multiple.comparisons[0].verdict.control_change
    assert apart is not None and apart > 0.03
    assert multiple.best.detectable == pytest.approx(apart)


def test_a_pair_without_the_baseline_decides_who_is_the_fastest() -> None:
    times = TIMES | {"extended": [5.5] * 8}
    multiple = several(experiment_zip(times, control=STEADY))
    assert members(multiple) == ["fused"]
    assert (2, 3) in multiple.best.faster and (3, 2) not in multiple.best.faster
    assert best_sentence(multiple) == (
        "fused is the fastest of the 4: every other one is slower than it beyond the noise."
    )


def test_unknown_noise_is_not_noise() -> None:
    few = {name: times[:3] for name, times in TIMES.items()}
    multiple = several(experiment_zip(few, looks=(3,)))
    assert multiple.best.noise == "unknown" and len(multiple.best.members) == 4
    assert best_sentence(multiple) == (
        "fused has the shortest time. The noise is unknown, so extended, unfused, eager may be as "
        "fast."
    )
    assert "Bonferroni" not in basis_sentences(multiple)
    apart = several(experiment_zip(TIMES, control=(1.2,)))
    assert apart.best.noise == "control_differs" and len(apart.best.members) == 4
    assert "the two copies of the baseline differ" in best_sentence(apart)
    assert doubt_lines(several(experiment_zip(TIMES)))[0].endswith(
        " doubts concern the profiles of single pairs: compare those pairs to see them."
    ), "alone, so no more than others"


def test_a_busy_machine_is_a_doubt_about_all_variants() -> None:
    """Load average 9.0 is of the recording, not of a pair's profile, so the table says it."""
    machine = experiment_of(experiment_zip(TIMES)).record.machine
    busy = msgspec.structs.replace(machine, logical_cores=4, load_before=9.0, load_after=1.5)
    multiple = several(experiment_zip(TIMES, changes={"machine": busy}))
    told = "Load average 9.0 before the recording and 1.5 after it, on 4 cores."
    assert [line.startswith(told) for line in doubt_lines(multiple)[:-1]] == [True]
    assert has_doubts(multiple)
    assert doubts_counted_text(multiple).startswith("1 doubt. ")


def test_separate_files_are_corrected_and_told_apart_beyond_what_recordings_differ_by() -> None:
    """Times of all runs are equal: 300, 166 and 290 µs with their gaps."""
    files = [
        trace_of(profile_json(UNFUSED_OPERATORS, runs=8, gap_us=20), "before.json"),
        trace_of(profile_json(FUSED_OPERATORS, runs=8, gap_us=2), "after.json"),
        trace_of(profile_json(UNFUSED_OPERATORS, runs=8, gap_us=18), "between.json"),
    ]
    multiple = compare_several(several_sides(files))
    outcomes = [(c.verdict.outcome, c.verdict.alpha) for c in multiple.comparisons]
    assert outcomes == [("faster", 0.025), ("noise_unknown", 0.025)]
    assert members(multiple) == ["after.json"]
    assert pareto(multiple) is None  # nobody recorded memory or outputs
    assert doubt_lines(multiple)[0] == (
        "after.json, between.json: recorded apart from before.json, so neither machine nor drift "
        "is controlled."
    )


def test_the_time_of_a_file_is_no_latency() -> None:
    """900 and 300 µs of a convolution, which no run is told of."""
    sides = [side_of_trace(whole_file(name, [("conv", "convolution", ns, ns)]))
             for name, ns in (("a", 900_000), ("b", 300_000))]  # fmt: skip
    multiple = compare_several(sides)
    assert column_text(multiple, "latency").label == "time in operators"
    assert column_text(multiple, "light_time").label == "light time"
    shown = [entry.figures["latency"].value for entry in multiple.entries]
    assert shown == pytest.approx([900_000, 300_000])
    assert best_sentence(multiple) == (
        "b took 0.33× the time of a (300 against 900 µs, −66.7 %). Each file has one time, so the "
        "noise is unknown."
    )


def test_another_model_is_not_ranked() -> None:
    other = [(f"x{n}", kind, 70, [(1, 9, n + 2)], [(1, 9, n + 2)])
             for n, kind in enumerate(("Tanh", "Erf", "Exp"))]  # fmt: skip
    files = [
        trace_of(profile_json(operators, runs=8, gap_us=gap_us), name)
        for name, operators, gap_us in (
            ("a", UNFUSED_OPERATORS, 20),
            ("b", FUSED_OPERATORS, 2),
            ("c", other, 2),
        )
    ]
    multiple = compare_several(several_sides(files))
    assert multiple.best.unranked == (2,) and members(multiple) == ["b"]
    assert multiple.comparisons[1].verdict.corrected is None
    assert best_sentence(multiple).endswith(
        "Not ranked, because their times do not compare with those of a: c."
    )
    results = [result_text(entry) for entry in multiple.entries]
    assert results == ["baseline", "faster", "not compared"]


def with_costs(experiment: Experiment, costs: dict[str, tuple[float, int]]) -> Experiment:
    """The experiment with (output difference, peak memory) of variants."""
    variants = [
        msgspec.structs.replace(
            variant,
            output_difference=OutputDifference(None, costs[variant.name][0]),
            peak_memory_bytes=costs[variant.name][1],
        )
        for variant in experiment.record.variants
    ]
    return replace(experiment, record=msgspec.structs.replace(experiment.record, variants=variants))


def test_a_part_of_a_per_cent_of_memory_is_no_reason_to_keep_a_slower_variant() -> None:
    """fused takes twice as long with 19.0 in place of 19.1 MB (0.5 %), int8 with 17 MB (11 %)."""
    times = {"unfused": [5.0] * 8, "fused": [10.0] * 8, "int8": [10.0] * 8}
    costs = {"unfused": (0.0, 19_100), "fused": (0.0, 19_000), "int8": (0.0, 17_000)}
    experiment = with_costs(experiment_of(experiment_zip(times, control=STEADY)), costs)
    multiple = compare_several(several_sides([experiment]))
    found = pareto(multiple)
    assert found is not None
    assert [multiple.sides[at].name for at in found.front] == ["unfused", "int8"]


def test_pareto_front_of_speed_difference_and_memory() -> None:
    times = {"unfused": [10.0] * 8, "fused": [5.0] * 8, "extended": [6.0] * 8, "int8": [2.0] * 8,
             "basic": [5.0] * 8}  # fmt: skip
    experiment = with_costs(
        experiment_of(experiment_zip(times, control=STEADY)),
        {
            "unfused": (0.0, 10),  # fused is faster, with less memory and the same outputs
            "fused": (9e-5, 9),
            "extended": (0.0, 9),  # the same memory as fused, its outputs differ by rounding only
            "int8": (0.3, 20),  # the fastest
            "basic": (0.0, 12),  # more memory than fused, but not told slower
        },
    )
    multiple = compare_several(several_sides([experiment]))
    found = pareto(multiple)
    assert found is not None and found.costs == ("output_difference", "memory")
    names = [side.name for side in multiple.sides]
    assert {names[p.side]: [names[at] for at in p.dominated_by] for p in found.points} == {
        "unfused": ["fused", "extended"], "fused": [], "extended": ["fused"], "int8": [],
        "basic": [],
    }  # fmt: skip
    assert front_sentence(multiple, found) == (
        "Pareto front of latency, output difference and peak memory: fused, int8, basic. Each of "
        "the others is slower, beyond the noise, than a variant that costs no more. Output "
        "differences up to 1e-4 count as equal. Memory within 1 % counts as equal."
    )
    drawn = picture(found, ["<b>unfused</b>", *names[1:]]).data
    assert [(mark.name, mark.marker.symbol) for mark in drawn[:5]] == [
        ("&lt;b&gt;unfused&lt;/b&gt;", "circle-open"), ("fused", "square"),
        ("extended", "diamond-open"), ("int8", "triangle-up"), ("basic", "triangle-down"),
    ]  # fmt: skip
    assert [mark.x[0] for mark in drawn[:5]] == pytest.approx([10.0, 5.0, 6.0, 2.0, 5.0])
    # 0 has a place on the logarithmic axis of differences; memory is in MB.
    assert [mark.y[0] for mark in drawn[:4]] == [1e-8, 9e-5, 1e-8, 0.3]
    assert [mark.y[0] for mark in drawn[5:]] == pytest.approx([10e-6, 9e-6, 9e-6, 2e-5, 12e-6])


def test_which_sides_are_meant() -> None:
    one = experiment_of(experiment_zip(TIMES), "one.zip")
    other = experiment_of(experiment_zip(TIMES, model_name="other"), "other.zip")
    bare = trace_of(profile_json((GEMM,)))

    def labels(*arguments: object) -> list[str]:
        return [side.label for side in several_sides(*arguments)]  # type: ignore[arg-type]

    assert labels([one]) == list(TIMES)
    assert labels([one], ["fused", "eager", "fused"]) == ["fused", "eager"]
    assert labels([one], ["fused", "unfused"]) == ["unfused", "fused"]  # as it was recorded
    assert labels([one], ["fused", "unfused"], "fused") == ["fused", "unfused"]
    assert labels([one], ["fused"], "eager") == ["eager", "fused"]
    assert labels([one, other, bare]) == ["fused", "fused", "p.json"]
    named = compare_several(several_sides([one, other, bare, bare])).sides
    assert [side.name for side in named] == [
        "one.zip · fused", "other.zip · fused", f"p.json ({bare.meta.sha256[:6]}) (3)",
        f"p.json ({bare.meta.sha256[:6]}) (4)",
    ]  # fmt: skip
    for names, code in (((), "too_many_variants"), (("fused",), "too_few_variants")):
        many = experiment_of(experiment_zip({f"v{n}": [1.0] for n in range(9)} | {"fused": [1.0]}))
        with pytest.raises(FuseScopeError) as raised:
            several_sides([many], names)
        assert raised.value.code == code
    with pytest.raises(FuseScopeError, match="'fussed'"):
        several_sides([one], ["fussed", "eager"])
