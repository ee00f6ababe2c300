"""What the runs of a trace are called: one word in its headline, its facts and its explanation."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from fusescope.analysis import wording
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.doctor import examine
from fusescope.analysis.trace import RunWord, Trace, runs_frame
from fusescope.analysis.wording.doctor import read_sentence
from fusescope.analysis.wording.explanation import leading_sentence
from fusescope.analysis.wording.explanation.waterfall import axis
from fusescope.analysis.wording.sentences import verdict_basis
from fusescope.analysis.work_units import run_word
from tests.step_traces import Kernel, steps_of

LAYER = (Kernel("gemm", 50, "matrix_product"), Kernel("norm", 7, "normalisation"))


def steps(kind: str, count: int = 3, us: int = 50) -> Trace:
    """A trace of as many runs of this kind, whose products take so long."""
    layer = (replace(LAYER[0], us=us), LAYER[1])
    trace = steps_of([layer * 4] * count)
    trace.runs["kind"] = pd.Categorical([kind] * len(trace.runs))
    return trace


@pytest.mark.parametrize(
    ("kind", "word", "headline", "facts"),
    [
        ("step", "steps", "A step of ", "The mean of 3 steps."),
        ("annotation", "steps", "A step of ", "The mean of 3 steps."),
        (
            "repeat",
            "repetitions",
            "One repetition of ",
            "The mean of 3 repetitions.",
        ),
        ("model_run", "runs", "A run of ", "The mean of 3 runs."),
    ],
)
def test_the_headline_has_the_word_of_the_runs(
    kind: str, word: RunWord, headline: str, facts: str
) -> None:
    trace = steps(kind)
    side = side_of_trace(trace)
    assert run_word(trace) == word
    said = "".join(part.text for part in wording.trace_parts(side))
    assert said.startswith(headline) and said.endswith(" as profiled")
    assert wording.trace_facts(side).startswith(facts)


def test_a_pair_has_it_where_both_sides_do() -> None:
    found = compare(side_of_trace(steps("step")), side_of_trace(steps("step", 2)))
    assert "Profiled step time, means of 3 and 2 steps, not paired." in verdict_basis(found.verdict)
    one = compare(side_of_trace(steps("step", 1)), side_of_trace(steps("step", 1)))
    assert "Profiled step time, one step each, not paired." in verdict_basis(one.verdict)
    assert run_word(steps("step"), steps("model_run")) == "runs"


def test_beside_runs_that_were_not_profiled_no_run_is_a_step() -> None:
    """As in a recording with MindSpore, whose profiler calls the runs of a model steps."""
    trace = steps("step")
    runs = pd.concat([trace.runs, runs_frame(run=[3, 4], dur_ns=[9_000] * 2)], ignore_index=True)
    recorded = replace(trace, runs=runs.astype({"kind": "category"}))
    assert (run_word(trace), run_word(recorded)) == ("steps", "runs")
    assert "3 profiled runs and 2 un-profiled runs" in read_sentence(examine(recorded))
    assert "3 steps" in read_sentence(examine(trace))


@pytest.mark.parametrize(
    ("kind", "word"), [("step", "step"), ("model_run", "run"), ("iteration", "run")]
)
def test_an_explanation_has_the_word_of_the_runs(kind: str, word: str) -> None:
    """Each of 4 products of a run takes 30 us more."""
    found = compare(*map(side_of_trace, (steps(kind, 1), steps(kind, 1, us=80))))
    assert found.explanation is not None
    text = leading_sentence(found.explanation)
    assert f"+120 µs per {word}." in text
    assert f"A {word} takes 348 µs instead of 228 µs" in text
    several = compare(*map(side_of_trace, (steps(kind), steps(kind, us=80)))).explanation
    assert several is not None
    assert f"On average a {word} takes 348 µs" in leading_sentence(several)
    assert axis(several.unit).text(unit="ms") == f"mean time per {word}, ms"
    same = compare(*map(side_of_trace, (steps(kind), steps(kind)))).explanation
    assert same is not None
    assert f"no cause is worth 1 % of a {word}." in leading_sentence(same)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (3, 2, "Fewer than 5 steps a side, so the noise is unknown."),
        (6, 2, "A side has fewer than 5 steps, so the noise is unknown."),
    ],
)
def test_too_few_steps_for_a_noise_are_said_of_the_side_that_has_them(
    before: int, after: int, said: str
) -> None:
    sides = (side_of_trace(steps("step", before)), side_of_trace(steps("step", after, us=90)))
    assert wording.verdict_sentence(compare(*sides)).endswith(said)
