"""The ladder: steps that add up, with intervals by hand, and what is not a ladder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fusescope.analysis.charts.waterfall import falling
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.multiple.choice import several_sides
from fusescope.analysis.compare.multiple.comparison import compare_several
from fusescope.analysis.compare.multiple.ladder import Gain, Ladder, ladder, ladder_of
from fusescope.analysis.compare.multiple.rungs import RUNGS, StepCode
from fusescope.analysis.compare.timing.verdict import paired_verdict
from fusescope.analysis.experiment import (
    Engine,
    ExperimentRecord,
    Machine,
    ModelFacts,
    Outcome,
    Peaks,
    Settings,
    VariantRecord,
)
from fusescope.analysis.report.multiple.ladder_json import ladder_values
from fusescope.analysis.wording.multiple.ladder import (
    LADDER_AXIS,
    MEANINGS,
    NAMES,
    ladder_basis,
    ladder_sentence,
    ladder_steps,
    step_result,
    step_sentences,
    step_way,
)
from fusescope.analysis.wording.waterfall import ends_ns
from tests.compare.test_comparison import experiment_of
from tests.factories import experiment_zip, samples

UP = [1.02, 1 / 1.02] * 4
DOWN = UP[::-1]
# ln(time / time of eager) is as far above its middle as below it, four times each: captured up
# where the other two are down.
TORCH = {
    "eager": [10.0] * 8,
    "captured": [9.0 * one for one in UP],
    "unfused": [6.0 * one for one in DOWN],
    "fused": [4.0 * one for one in DOWN],
}


def record_of(
    times: Mapping[str, Sequence[float]],
    engine: str = "torch",
    looks: tuple[int, ...] = (8,),
    control: float = 1.0,
) -> ExperimentRecord:
    """A record of those block times in ms; the first variant is the baseline, in two copies."""
    baseline = next(iter(times))
    variants = [
        VariantRecord(
            name,
            {},
            samples(ms, copies=2 if name == baseline else 1, control=(control,)),
            [],
            None,
        )
        for name, ms in times.items()
    ]
    return ExperimentRecord(
        1, "0.1.0", "2026-01-02T03:04:05Z", ModelFacts("tiny", "zoo", "ab" * 32, 4, 17, ()),
        Machine("Test CPU", "x86_64", 2, 2, 2**30, (), "Linux"), Engine(engine, "1", "CPU"),
        Settings(baseline, 2, False, 0, 3, 3, 1, looks), Outcome(len(times[baseline]), 0, "blocks"),
        Peaks(), variants,
    )  # fmt: skip


def of(times: Mapping[str, Sequence[float]], *compared: str, **more: Any) -> Ladder:
    found = ladder(record_of(times, **more), list(compared or times))
    assert found is not None
    return found


def about(ms: float) -> Any:
    return pytest.approx(ms * 1e6, abs=300)


def test_steps_with_intervals_by_hand() -> None:
    """SE of a single one is ln 1.02 sqrt(8 / 30), of their difference where they go opposite ways
    twice that, where they go together 0; t(1 - 0.05 / 3 / 2, 5) = 3.534, so 0.036139 and twice
    that: 10 - 9 e^0.036139 = 0.6688, 9 - 6 e^0.072278 = 2.5503."""
    found = of(TORCH)
    assert [(rung.variant, rung.time_ns) for rung in found.rungs] == [
        ("eager", about(10)), ("captured", about(9)), ("unfused", about(6)), ("fused", about(4))
    ]  # fmt: skip
    assert [step.code for step in found.steps] == ["capture", "code_generation", "fusion"]
    gains = [step.gain for step in found.steps]
    assert [gain.value for gain in gains] == [about(1), about(3), about(2)]
    assert (gains[0].low, gains[0].high) == (about(0.6688), about(1.3195))
    assert (gains[1].low, gains[1].high) == (about(2.5503), about(3.4184))
    assert (gains[2].low, gains[2].high) == (about(2), about(2))
    assert (found.total.low, found.total.high) == (about(5.8528), about(6.1420))
    assert found.total.value == sum(gain.value for gain in gains) == about(6)
    assert {step.outcome for step in found.steps} == {found.outcome} == {"faster"}
    assert (found.noise, found.blocks, found.alpha) == ("known", 8, pytest.approx(0.05 / 3))
    assert ladder_sentence(found) == (
        "Of 6.00 ms that torch.compile saves against eager, capture brings 1.00 ms, code "
        "generation brings 3.00 ms and fusion brings 2.00 ms."
    )
    assert step_way(found.steps[1]) == "captured → unfused"
    assert step_sentences(found.steps[1]) == (
        "Each operator gets a kernel that the compiler generates for it. It saves 3.00 ms, between "
        "2.55 ms and 3.42 ms."
    )
    assert "".join(part.text for part in ladder_basis(found)) == (
        "Un-profiled wall time, 8 blocks of fresh processes. Each time is that of eager × their "
        "ratio, paired inside blocks: the steps add up to the whole, to the ns. Each interval is "
        "at 98.33 %, so that those of all steps hold together at 95 %."
    )


def test_the_whole_is_what_the_verdict_of_the_first_and_the_last_says() -> None:
    found = of(TORCH, "eager", "fused")
    verdict = paired_verdict(record_of(TORCH), "eager", "fused")
    assert verdict.times_ns is not None and verdict.corrected is not None
    first, last = verdict.times_ns
    assert found.total.value == round(first) - round(last)
    low, high = (first - first / bound for bound in (verdict.corrected.low, verdict.corrected.high))
    assert found.total.low == pytest.approx(low, abs=1.01)
    assert found.total.high == pytest.approx(high, abs=1.01)
    # By way of another baseline its interval is that of the times which the page shows.
    other = of(dict(reversed(TORCH.items())), "unfused", "eager", "fused")
    assert other.baseline == "unfused" and [one.variant for one in other.rungs] == list(TORCH)


def test_a_rung_that_was_not_recorded_is_left_out_and_its_step_has_both_names() -> None:
    def codes(*left_out: str) -> list[str]:
        times = {name: ms for name, ms in TORCH.items() if name not in left_out}
        return [step.code for step in of(times).steps]

    assert codes("captured") == ["capture_and_code_generation", "fusion"]
    assert codes("unfused") == ["capture", "code_generation_and_fusion"]
    # Between two sides every recorded rung stands, whether it is compared or not.
    between = of(TORCH, "fused", "captured")
    assert [step.code for step in between.steps] == ["code_generation", "fusion"]
    assert ladder_sentence(between).startswith("Of 5.00 ms that fused saves against captured, ")


def test_what_is_no_ladder() -> None:
    record = record_of({**TORCH, "freezing": [4.0] * 8})
    for names in (["eager", "captured"], ["unfused", "freezing"], ["freezing"], ["fused"]):
        assert ladder(record, names) is None
    assert ladder(record_of(TORCH, engine="other"), list(TORCH)) is None
    assert ladder(record_of({"eager": [2.0] * 8, "fused": [1.0] * 8}), ["eager", "fused"]) is None
    # What is not a rung is only passed by, also as the baseline.
    found = ladder(record, ["freezing", "eager", "fused"])
    assert found is not None and found.baseline == "freezing" and len(found.steps) == 3


def test_every_way_between_rungs_is_a_step_with_words() -> None:
    for rungs in RUNGS.values():
        ways = set(combinations(rungs.variants, 2)) - {(rungs.variants[0], rungs.variants[-1])}
        assert set(rungs.steps) == ways
        assert len(set(rungs.steps.values())) == len(ways)
    codes = set(get_args(StepCode))
    assert codes == {code for rungs in RUNGS.values() for code in rungs.steps.values()}
    assert set(NAMES) == set(MEANINGS) == codes


BLOCKS = st.lists(st.floats(0.1, 100.0), min_size=8, max_size=8)


@given(st.lists(BLOCKS, min_size=4, max_size=4), st.permutations(list(TORCH)))
def test_steps_add_up_whatever_was_measured(times: list[list[float]], order: list[str]) -> None:
    record = record_of(dict(zip(order, times, strict=True)))
    found = ladder(record, order)
    assert found is not None
    assert [rung.variant for rung in found.rungs] == list(TORCH)
    assert sum(step.gain.value for step in found.steps) == found.total.value
    assert found.total.value == found.first.time_ns - found.last.time_ns
    steps = ladder_steps(found)
    assert ends_ns(steps)[-2] == steps[-1].value_ns == found.last.time_ns
    for gain in (*(step.gain for step in found.steps), found.total):
        assert gain.low is not None and gain.high is not None
        assert gain.low <= gain.value <= gain.high
    for step in found.steps:  # where the baseline is on a side of it, the verdict's interval
        if step.before.variant == order[0]:
            corrected = paired_verdict(record, order[0], step.after.variant).corrected
            assert corrected is not None
            low = step.before.time_ns * (1 - 1 / corrected.low)
            assert step.gain.low == pytest.approx(low, rel=1e-6, abs=2)


def test_steps_inside_the_noise_are_told_as_such() -> None:
    noisy = [1.2, 0.8, 1.1, 0.9] * 2
    times = {**TORCH, "captured": [9.8 * one for one in noisy]}
    found = of(times)
    assert [step.outcome for step in found.steps] == ["cannot_tell", "faster", "faster"]
    assert "capture brings" in ladder_sentence(found)
    assert " (within the noise), code generation brings " in ladder_sentence(found)
    gain = found.steps[0].gain
    assert gain.low is not None and gain.high is not None and gain.low < 0 < gain.value < gain.high
    saving = replace(found.steps[0], gain=replace(gain, value=0.2e6, low=-1.5e6, high=1.9e6))
    assert step_result(saving).startswith(
        "It saves 200 µs as measured, which is within the noise: from 1.50 ms slower to 1.90 ms "
        "faster."
    )
    cost = replace(found.steps[0], gain=replace(gain, value=-0.2e6, low=-1.9e6, high=1.5e6))
    assert step_result(cost).startswith(
        "It costs 200 µs as measured, which is within the noise: from 1.90 ms slower to 1.50 ms "
        "faster."
    )
    unsteady = replace(found.steps[0], gain=replace(gain, value=0.2e6, low=0.1e6, high=0.3e6))
    assert step_result(unsteady).startswith("It saves 200 µs as measured, which cannot be told")
    kinds = [step.kind for step in ladder_steps(found)]
    assert kinds == ["total", "same", "faster", "faster", "total"]
    direct = replace(found.steps[0], direct="slower")
    assert step_result(direct).endswith(
        "Compared with eager alone, captured is shown to be slower."
    )
    nothing = of({name: [10.0 * one for one in noisy[at:] + noisy[:at]]
                  for at, name in enumerate(TORCH)})  # fmt: skip
    assert nothing.outcome == "cannot_tell"
    assert ladder_sentence(nothing).startswith(
        "It cannot be told from noise whether torch.compile is faster than eager. As measured, "
    )
    told = ladder_sentence(replace(nothing, direct="faster"))
    assert "cannot be told" not in told and "which is within the noise: " in told
    assert told.endswith("Compared with eager alone, fused is shown to be faster.")


def test_a_step_that_costs_time() -> None:
    found = of({**TORCH, "captured": [12.0] * 8})
    assert found.steps[0].outcome == "slower" and found.steps[0].gain.value == about(-2)
    assert "against eager, capture costs 2.00 ms, code generation brings" in ladder_sentence(found)
    assert step_result(found.steps[0]).startswith("It costs 2.00 ms, between ")
    assert [step.kind for step in ladder_steps(found)][1] == "slower"
    slower = of({**TORCH, "fused": [12.0] * 8})
    assert ladder_sentence(slower).startswith("torch.compile takes 2.00 ms longer than eager: ")


def test_without_an_interval_and_where_the_baseline_differs_from_itself() -> None:
    few = of({name: ms[:4] for name, ms in TORCH.items()}, looks=(4,))
    assert (few.noise, few.outcome) == ("unknown", "noise_unknown")
    assert few.steps[0].gain == Gain(few.steps[0].gain.value, None, None)
    assert ladder_sentence(few).endswith(" The noise is unknown.")
    assert step_result(few.steps[2]) == "It saves 2.00 ms; the noise is unknown."
    apart = of(TORCH, control=1.2)
    assert apart.noise == "control_differs"
    assert {step.outcome for step in apart.steps} == {apart.outcome} == {"cannot_tell"}
    assert ladder_sentence(apart).endswith(
        "The two copies of the baseline differ, so this machine was not steady."
    )


def test_sides_of_one_recording_form_it_and_it_is_drawn_and_written() -> None:
    data = experiment_zip(
        {"unfused": [6.0] * 8, "eager": [10.0] * 8, "extended": [5.0] * 8, "fused": [4.0] * 8},
        control=(1.0,),
    )
    one = experiment_of(data)
    several = ladder_of(compare_several(several_sides([one])))
    pair = ladder_of(compare(*choose_sides(one, None, "eager", "fused")))
    assert several is not None and pair is not None
    codes = ["one_graph", "basic_and_extended", "layout"]
    assert [s.code for s in several.steps] == [s.code for s in pair.steps] == codes
    assert (several.baseline, pair.baseline) == ("unfused", "eager")
    assert ladder_of(compare(*choose_sides(one, None, "eager", "unfused"))) is None
    two = experiment_of(experiment_zip({"fused": [1.0] * 8, "int8": [2.0] * 8}), "other.zip")
    mixed = compare_several([*several_sides([one]), *several_sides([two])])
    assert ladder_of(mixed) is None
    figure = falling(ladder_steps(pair), LADDER_AXIS)
    assert list(figure.data[0].x) == pytest.approx([10.0, -4.0, -1.0, -1.0, 4.0])
    assert list(figure.data[0].base) == pytest.approx([0.0, 10.0, 6.0, 5.0, 0.0])
    values = ladder_values(pair)
    assert values is not None
    assert values["steps"][0] | {"sentence": ""} == {
        "code": "one_graph", "from": "eager", "to": "unfused", "outcome": "faster",
        "direct": "faster", "sentence": "",
        "gain_ns": {"value": 4_000_000, "low": 4_000_000, "high": 4_000_000},
    }  # fmt: skip
    assert values["total_gain_ns"]["value"] == 6_000_000


def test_steps_are_of_one_engine() -> None:
    """In a recording of several engines each has its own ladder, and no step leads from one engine
    to another."""
    names = {"eager": "torch:eager", "captured": "torch:captured", "unfused": "torch:unfused"}
    times = {names[name]: ms for name, ms in TORCH.items() if name in names}
    other = Engine("jax", "1", "CPU")
    record = record_of({**times, "jax:fused": TORCH["fused"]})
    variants = [
        replace(one, engine=other if one.name.startswith("jax") else None)
        for one in record.variants
    ]
    record = replace(record, variants=variants)
    found = ladder(record, ["torch:eager", "torch:unfused"])
    assert found is not None
    assert [step.code for step in found.steps] == ["capture", "code_generation"]
    assert step_way(found.steps[0]) == "torch:eager → torch:captured"
    assert ladder(record, ["torch:eager", "jax:fused"]) is None
