"""One trace by itself in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.multiple.comparison import compare_several
from fusescope.analysis.compare.side import side_of_trace, side_of_variant
from fusescope.analysis.compare.single import unprofiled_ns
from fusescope.analysis.compare.timing.latency import typical_ns
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.messages import Part
from fusescope.analysis.readers import read
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.timeline.payload import trace_payload
from fusescope.analysis.trace import Meta, calls_frame
from fusescope.analysis.units import duration
from fusescope.analysis.wording.single import trace_facts, trace_parts
from tests.factories import experiment_zip
from tests.metrics.test_step import made


def test_the_mean_run_leads_and_the_timeline_says_which_run_it_shows() -> None:
    """Runs of 100, 400 and 200 ns, of which the operator takes 10: 233 and 223 idle on average, to
    which the last one is nearest, but not near it; three of 200."""
    calls = calls_frame(operator=[0] * 3, run=[0, 1, 2], start_ns=[0, 100, 500], dur_ns=[10] * 3)
    lengths = ([(0, 100), (100, 400), (500, 200)], [(0, 200), (200, 200), (500, 200)])
    uneven, even = (replace(made([(0, 0, 10)], runs), calls=calls) for runs in lengths)
    none_near = "step 3 of 3, the one nearest to the mean of 233 ns (223 ns of it idle)"
    near = "step 2 of 3, the one nearest to the mean (190 ns idle on average)"
    for trace, heading, place in ((uneven, "233 ns", none_near), (even, "200 ns", near)):
        side = side_of_trace(trace)
        assert text(trace_parts(side)) == f"A step of  takes {heading} as profiled"
        assert trace_facts(side).startswith("The mean of 3 steps.")
        caption = str(trace_payload(side)["sides"][0]["caption"])
        assert f"{place}, 200 ns as profiled" in caption


def test_a_run_far_from_the_mean_is_not_drawn_without_a_word() -> None:
    """Runs of 100 and 500 ns: 300 on average, from which both are 67 % apart."""
    calls = calls_frame(operator=[0] * 2, run=[0, 1], start_ns=[0, 100], dur_ns=[10] * 2)
    trace = replace(made([(0, 0, 10)], [(0, 100), (100, 500)]), calls=calls)
    caption = str(trace_payload(side_of_trace(trace))["sides"][0]["caption"])
    assert (
        "step 1 of 2 (far shorter than the mean of 300 ns, on which the other figures rest), "
        "100 ns as profiled" in caption
    )


def test_a_variant_takes_the_time_that_comparisons_show() -> None:
    """The trimmed mean of 10 ms four times and 20 ms four times is √200 = 14.1 ms; the variant
    takes half of that in all blocks but one, so 7.07 ms, and 10 / ∛2 = 7.94 ms by its own blocks:
    5, 5, 10, 10, 10, 10 without the ends."""
    times = {"unfused": [10.0] * 4 + [20.0] * 4, "fused": [5.0] * 3 + [40.0] + [10.0] * 4}
    value = read(Source("e.zip", experiment_zip({**times, "eager": [30.0] * 8})))
    assert isinstance(value, Experiment)
    sides = [side_of_variant(value, name) for name in ("unfused", "fused", "eager")]
    shown = {
        entry.side.label: entry.figures["latency"].value for entry in compare_several(sides).entries
    }
    pair = compare(*choose_sides(value)).figure("latency")
    assert (pair.baseline.value, pair.candidate.value) == (shown["unfused"], shown["fused"])
    for side in sides:
        assert unprofiled_ns(side) == shown[side.label]
        assert duration(shown[side.label]) in text(trace_parts(side))
        assert duration(shown[side.label]) in str(trace_payload(side)["sides"][0]["caption"])
    assert shown["fused"] == pytest.approx(200**0.5 / 2 * 1e6, rel=2e-3)
    own = typical_ns(sides[1].trace, "unprofiled_wall")
    assert own == pytest.approx(10e6 / 2 ** (1 / 3), rel=2e-3)
    assert "paired with those of unfused" in trace_facts(sides[1])
    assert "paired" not in trace_facts(sides[0])


def test_a_variant_alone_says_where_copies_of_its_baseline_are_far_apart() -> None:
    """One copy takes the same time in each block, the other 0.7 to 1.5 times as long."""
    times = {"unfused": [10.0] * 8, "fused": [5.0] * 8}
    for control, is_told in (((0.7, 1.5), True), ((1.001, 0.999), False)):
        value = read(Source("a.zip", experiment_zip(times, control=control)))
        assert isinstance(value, Experiment)
        facts = trace_facts(side_of_variant(value, "fused"))
        assert ("A/A control: two copies of the baseline differ by" in facts) == is_told


def text(parts: Iterable[Part]) -> str:
    return "".join(part.text for part in parts)


def test_what_takes_the_time_of_a_file_without_runs_is_named() -> None:
    """A copy of 20 ns and a kernel of 10 of a device: no operators of a framework."""
    rows = {"name": ["[CUDA memcpy]", "saxpy"], "op_type": ["Memcpy HtoD", "saxpy"]}
    times = {"start_ns": [0, 20], "dur_ns": [20, 10], "level": ["device_kernel"] * 2}
    meta = Meta("nsys", "Nsight Systems", file_name="saxpy.sqlite")
    both = text(trace_parts(side_of_trace(build_trace(meta, {**rows, **times}))))
    assert both.startswith("The kernels and copies of ") and "30.0 ns" in both
    kernel = {name: values[1:] for name, values in (rows | times).items()}
    alone = text(trace_parts(side_of_trace(build_trace(meta, kernel))))
    assert alone.startswith("The kernels of ")
