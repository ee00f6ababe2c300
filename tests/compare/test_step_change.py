"""What a change of a run's time went to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.side import side_of_trace, side_of_variant
from fusescope.analysis.compare.step import StepChange, mean_steps, part_ns, step_change
from fusescope.analysis.messages import language
from fusescope.analysis.readers import read_path
from fusescope.analysis.trace import calls_frame
from fusescope.analysis.wording import step as words
from tests.compare.test_comparison import experiment_of
from tests.factories import experiment_zip
from tests.metrics.test_device import trace
from tests.metrics.test_step import made

SAMPLE = Path(__file__).resolve().parents[2] / "sample_traces" / "mobilenetv2.zip"


def test_the_sample_s_gain_is_less_computing_and_adds_up() -> None:
    sample = read_path(SAMPLE, wanted=lambda record: ("unfused", "fused"))
    comparison = compare(*choose_sides(sample, None, "unfused", "fused"))
    change = step_change(comparison)
    assert change is not None and change.leading == "computing"
    assert set(change.parts) == {"computing", "idle"}, "what neither side has is not told"
    assert sum(change.parts.values()) == change.whole_ns < 0
    before, after = mean_steps(comparison)
    assert before is not None and after is not None
    for part, ns in change.parts.items():
        assert ns == part_ns(after, part) - part_ns(before, part)
    told = words.step_sentence(comparison)
    assert told == (
        "Most of the gain comes from less computing. Shares of the change, as profiled: "
        "computing 94.6 % and idle 5.4 %."
    )
    bars = words.step_bars(comparison)
    assert [bar.role for bar in bars] == ["baseline", "candidate"]
    assert bars[0].length == 1.0 and bars[1].length == after.span_ns / before.span_ns
    for bar in bars:
        assert sum(piece.share for piece in bar.pieces) == pytest.approx(1.0)
    lines = ["".join(part.text for part in line) for line in words.step_lines(comparison)]
    assert lines[1] == "fused: computing 94.8 % and idle 5.2 %."


def test_a_part_has_the_share_that_findings_and_figures_have() -> None:
    """34,020 ns of computing, 62,440 of communication, 3,036 of copies and 504 idle of 100,000."""
    calls = [(0, 0, 34_020), (2, 34_020, 62_440), (1, 96_460, 3_036)]
    side = side_of_trace(made(calls, [(0, 100_000)]))
    bar, _ = words.step_bars(compare(side, side))
    assert [piece.share_text for piece in bar.pieces] == [
        "computing 34.0 %",
        "communication not hidden 62.4 %",
        "copies not hidden 3.0 %",
        "idle 0.5 %",
    ]


def test_nothing_is_said_of_a_change_that_is_not_known() -> None:
    """One profile a side: the noise is unknown. The bars stand, the sentence does not."""
    slow = made([(0, 0, 100), (2, 50, 70)], [(0, 200)])
    comparison = compare(side_of_trace(slow), side_of_trace(trace()))
    assert comparison.verdict.outcome == "noise_unknown"
    assert step_change(comparison) is None and words.step_sentence(comparison) == ""
    bars = words.step_bars(comparison)
    assert [[piece.ns for piece in bar.pieces] for bar in bars] == [
        [100, 20, 0, 80],
        [90, 10, 10, 90],
    ]


@pytest.mark.parametrize(
    ("fused_ms", "names", "expected"),
    [
        (12.0, ("unfused", "fused"), "fused is 44.0 µs shorter … slower."),
        (12.0, ("fused", "unfused"), "unfused is 44.0 µs longer … faster."),
        (8.0, ("unfused", "fused"), ""),  # shorter and faster
    ],
)
def test_bars_that_speak_against_the_verdict_say_so(
    fused_ms: float, names: tuple[str, str], expected: str
) -> None:
    """As profiled fused takes 160 instead of 200 µs in operators, and has two gaps of 2 µs less;
    un-profiled 12 instead of 10 ms."""
    recorded = experiment_of(experiment_zip({"unfused": [10.0] * 8, "fused": [fused_ms] * 8}))
    told = words.step_sentence(compare(*(side_of_variant(recorded, name) for name in names)))
    between = ", although without the profiler, as in the verdict, it is "
    whole = f"As profiled the mean run of {expected}".replace(" … ", between)
    assert (told == whole) if expected else not told.startswith("As profiled")


def test_a_side_that_does_not_tell_has_no_bar() -> None:
    untold = trace(starts=[0, 50, 60, 100, None])
    comparison = compare(side_of_trace(untold), side_of_trace(trace()))
    assert [bar.role for bar in words.step_bars(comparison)] == ["candidate"]
    first, second = words.step_lines(comparison)
    assert first[0].text.startswith("Not known for ") and first[1].role == "name"
    assert "computing 45.0 %" in "".join(part.text for part in second)
    neither = compare(side_of_trace(untold), side_of_trace(untold))
    assert words.step_bars(neither) == words.step_lines(neither) == ()


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"computing": -990, "idle": -10}, "Nearly all of the gain comes from less computing."),
        ({"computing": -990}, "All of the gain comes from less computing."),
        (
            {"computing": -1010, "idle": 10},
            "The gain comes from less computing; other parts take some of it back.",
        ),
        ({"computing": -400, "idle": -600}, "Most of the gain comes from less idle time."),
        (
            {"computing": -400, "communication": -350, "copies": -250},
            "The largest part of the gain comes from less computing.",
        ),
        (
            {"communication": -1200, "idle": 200},
            (
                "The gain comes from less communication that is not hidden; "
                "other parts take some of it back."
            ),
        ),
        ({"copies": 1000}, "All of the loss comes from more time in copies that are not hidden."),
        (
            {"idle": 1300, "computing": -300},
            "The loss comes from more idle time; other parts give some of it back.",
        ),
    ],
)
def test_how_much_of_it(
    parts: dict[str, int], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sum(parts.values())
    leading = max(parts, key=lambda part: parts[part] / whole)
    change = StepChange(whole, parts, leading)  # type: ignore[arg-type]
    monkeypatch.setattr(words, "step_change", lambda _: change)
    with language.speaking("en"):
        assert words.step_sentence(None).startswith(expected)  # type: ignore[arg-type]


def test_a_change_that_the_profiler_made_is_not_explained() -> None:
    sample = read_path(SAMPLE, wanted=lambda record: ("unfused", "fused"))
    comparison = compare(*choose_sides(sample, None, "unfused", "fused"))
    total = comparison.ledger.reconciliation
    assert step_change(comparison) is not None and total.of == "unprofiled_wall"
    whole_ns = step_change(comparison).whole_ns  # type: ignore[union-attr]
    for measured_ns, is_told in ((round(whole_ns / 1.9), True), (round(whole_ns / 2.1), False)):
        ledger = replace(comparison.ledger, reconciliation=replace(total, delta_ns=measured_ns))
        assert (step_change(replace(comparison, ledger=ledger)) is not None) is is_told


def test_the_share_of_idle_time_is_that_of_the_device() -> None:
    """Three runs of 100 ns that are idle for 10, 20 and 60: 30 % of the mean run."""
    busy = (90, 80, 40)
    three = replace(
        made([(0, 0, 1)], [(100 * run, 100) for run in range(3)]),
        calls=calls_frame(
            operator=[0] * 3, run=[0, 1, 2], start_ns=[0, 100, 200], dur_ns=list(busy)
        ),
    )
    comparison = compare(side_of_trace(three), side_of_trace(three))
    mean = mean_steps(comparison)[0]
    assert mean is not None
    assert (mean.span_ns, mean.computing_ns, mean.idle_ns) == (100, 70, 30)
    idle = next(figure for figure in comparison.figures if figure.code == "device_idle")
    assert idle.baseline.value == pytest.approx(0.30)
