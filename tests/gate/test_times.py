"""Conditions on times: intervals by hand, and how often a gate is wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest

from fusescope.analysis.compare.timing.verdict import decided
from fusescope.analysis.experiment import Experiment, ExperimentRecord, Samples
from fusescope.analysis.gate.condition import parse_condition
from fusescope.analysis.gate.times import judge_times
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from tests.factories import experiment_zip, samples

NAMES = ("unfused", "fused")
LOOKS = (8, 14, 24)


def record(
    baseline: Sequence[float], candidate: Sequence[float], looks: tuple[int, ...] = (8,)
) -> ExperimentRecord:
    data = experiment_zip({"unfused": baseline, "fused": candidate}, looks=looks, control=(1.0,))
    return cast(Experiment, read(Source("e.zip", data))).record


# ln(1.01), -ln(1.01), … four times each: mean 0; winsorised as it is, s = a sqrt(8 / 7),
# SE = s sqrt(7 / (6 * 5)), t(0.975, 5) = 2.571.
WAVES = record([10.0] * 8, [10.1, 10 / 1.01] * 4)
HALF_WIDTH = 2.5706 * math.log(1.01) * math.sqrt(8 / 7) * math.sqrt(7 / 30)


def test_the_interval_is_yuens_over_blocks() -> None:
    judged = judge_times(parse_condition("latency slower 3%"), WAVES, NAMES)
    assert judged.low == pytest.approx(math.expm1(-HALF_WIDTH), rel=1e-3)
    assert judged.high == pytest.approx(math.expm1(HALF_WIDTH), rel=1e-3)
    assert (judged.outcome, judged.level, judged.blocks) == ("passed", pytest.approx(0.95), 8)
    assert judged.value == pytest.approx(0.0, abs=1e-6)


def test_what_the_interval_holds_is_not_told_and_how_many_blocks_would() -> None:
    judged = judge_times(parse_condition("latency slower 1%"), WAVES, NAMES)
    assert (judged.outcome, judged.reason) == ("cannot_tell", "within_noise")
    needed = math.ceil(8 * (HALF_WIDTH / math.log(1.01)) ** 2)
    assert judged.blocks_needed == max(9, needed)
    even = judge_times(parse_condition("speedup < 1"), WAVES, NAMES)
    assert even.outcome == "cannot_tell" and even.blocks_needed is None


def test_several_conditions_and_looks_widen_it() -> None:
    alone = judge_times(parse_condition("speedup < 0.9"), WAVES, NAMES)
    of_two = judge_times(parse_condition("speedup < 0.9"), WAVES, NAMES, timed=2)
    assert of_two.level == pytest.approx(0.975)
    looked = judge_times(
        parse_condition("speedup < 0.9"),
        record([10.0] * 8, [10.1, 10 / 1.01] * 4, looks=LOOKS),
        NAMES,
    )
    assert looked.level == pytest.approx(1 - 0.0221)
    assert of_two.low is not None and alone.low is not None and of_two.low < alone.low


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ("speedup < 2.1", "failed"),  # 2.00x
        ("speedup < 1.9", "passed"),
        ("speedup > 1.9", "failed"),
        ("latency faster 40%", "failed"),  # -50 %
        ("latency faster 60%", "passed"),
        ("latency slower 1%", "passed"),
        ("p50 slower 1%", "passed"),
        ("p99 faster 49%", "failed"),
        ("cpu_time faster 49%", "failed"),
    ],
)
def test_a_side_that_takes_half_the_time(condition: str, outcome: str) -> None:
    halved = record([10.0, 10.2] * 4, [5.0, 5.1] * 4)
    assert judge_times(parse_condition(condition), halved, NAMES).outcome == outcome


def test_a_quantile_is_of_the_runs_of_a_block() -> None:
    """Three runs of 1, 2 and 9 ms in each block, all of 1 ms in the candidate: the lower quartile
    is 1.41 ms, the median 2."""
    made = record([1.0] * 8, [1.0] * 8)
    uneven = samples([1.0] * 8)
    walls = [int(ms * 1e6) for _ in range(8) for ms in (1, 2, 9)]
    variant = made.variant("unfused")
    uneven = Samples(uneven.block, uneven.round, uneven.copy, walls, walls)
    changed = [v if v.name != "unfused" else type(v)(**{**_fields(v), "samples": uneven})
               for v in made.variants]  # fmt: skip
    made = type(made)(**{**_fields(made), "variants": changed})
    assert variant.name == "unfused"
    middle = judge_times(parse_condition("p50 faster 1%"), made, NAMES)
    assert middle.value == pytest.approx(0.5 - 1)
    typical = judge_times(parse_condition("latency faster 1%"), made, NAMES)
    assert typical.value == pytest.approx(1 / math.sqrt(2) - 1)


def _fields(of: object) -> dict[str, object]:
    return {name: getattr(of, name) for name in type(of).__struct_fields__}  # type: ignore[attr-defined]


def test_few_blocks_tell_nothing_and_a_control_that_differs_neither() -> None:
    few = judge_times(parse_condition("speedup < 9"), record([10.0] * 4, [5.0] * 4), NAMES)
    assert (few.outcome, few.reason, few.blocks_needed) == ("cannot_tell", "few_blocks", 5)
    unsteady = judge_times(
        parse_condition("speedup < 9"),
        record([10.0] * 8, [5.0] * 8),
        NAMES,
        is_control_steady=False,
    )
    assert (unsteady.outcome, unsteady.reason) == ("cannot_tell", "control_differs")


def simulated(seed: int, effect: float, scale: float = 0.05) -> ExperimentRecord:
    """A recording that stops at the first look that settles it: blocks drift, and the two variants
    of a block differ by the effect and by heavy-tailed noise (Student's t, 3 degrees of freedom),
    as recorded blocks do."""
    random = np.random.default_rng(seed)
    drift = np.exp(random.normal(0, 0.05, LOOKS[-1]))
    noise = np.exp(random.standard_t(3, (2, LOOKS[-1])) * scale / 2)
    times = [10 * drift * noise[0], 10 * drift * noise[1] * (1 + effect)]
    made = BASE
    for look in LOOKS:
        made = with_times([side[:look] for side in times])
        if decided(made):
            break
    return made


BASE = record([10.0] * 8, [10.0] * 8, looks=LOOKS)


def with_times(times: Sequence[np.ndarray]) -> ExperimentRecord:
    variants = []
    for variant, side in zip(BASE.variants, times, strict=True):
        blocks = list(range(len(side)))
        walls = [int(ms * 1e6) for ms in side]
        ones = [1] * len(side)
        made = Samples(blocks, [0] * len(side), ones, walls, walls)
        variants.append(type(variant)(**{**_fields(variant), "samples": made}))
    return type(BASE)(**{**_fields(BASE), "variants": variants})


def failures(effect: float, count: int, condition: str) -> float:
    asked = parse_condition(condition)
    outcomes = [judge_times(asked, simulated(seed, effect), NAMES).outcome for seed in range(count)]
    assert set(outcomes) <= {"failed", "passed", "cannot_tell"}
    return outcomes.count("failed") / count


def test_a_planted_change_is_found_and_none_is_not() -> None:
    assert failures(0.15, 25, "latency slower 3%") > 0.8
    assert failures(0.0, 25, "latency slower 3%") == 0


@pytest.mark.exhaustive
def test_how_often_a_gate_is_wrong_and_what_it_sees() -> None:
    """docs/ci.md has this table: 1,000 pairs of equal variants, and 200 of each planted change."""
    assert failures(0.0, 1000, "speedup < 1 with 95%") < 0.065
    assert failures(0.0, 1000, "latency slower 3%") < 0.01
    effects = (0.02, 0.03, 0.05, 0.10)
    power = [failures(effect, 200, "speedup < 1 with 95%") for effect in effects]
    assert power == sorted(power) and power[2] > 0.9
    beyond = [failures(effect, 200, "latency slower 3%") for effect in effects]
    assert beyond == sorted(beyond) and beyond[1] < 0.05 and beyond[3] > 0.6
