"""The explanation of two traces agrees with the verdict and the tables that stand beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fusescope.analysis.advice.explanation import explain_trace
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.comparison import compare_several
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.explanation.explanation_json import explanation_values
from fusescope.analysis.report.explanation.rows import explained_rows
from fusescope.analysis.report.model_tree.rows import tree_rows
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.counted import figure_text
from fusescope.analysis.wording.explanation import explained_parts, leading_sentence
from fusescope.analysis.wording.explanation.changes import change_said
from fusescope.analysis.wording.explanation.savings import saving_said
from fusescope.analysis.wording.findings import limit_parts
from fusescope.analysis.wording.fusion.terms import beside_explanation, no_shares_sentence
from fusescope.analysis.wording.fusion.title import change_title
from fusescope.analysis.wording.multiple.comparison import doubt_lines
from fusescope.analysis.wording.sentences import (
    change_sentence,
    light_work,
    verdict_basis,
    verdict_sentence,
)
from tests.advice.traces import found_in, of_code
from tests.step_traces import Kernel, steps_of

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"
NORM = Kernel("layer_norm_kernel", 5, "normalisation")
PRODUCT = Kernel("gemm_qkv", 40, "matrix_product")
STEP = (NORM, PRODUCT) * 8  # 360 us


def compared(before: Trace, after: Trace) -> Comparison:
    return compare(side_of_trace(before), side_of_trace(after))


@pytest.mark.parametrize(
    ("steps", "marked", "text"),
    [
        (1, True, "worth 1 % of a step. Its kernels take 360 µs and 360 µs."),
        (1, False, "worth 1 % of the file. Its kernels take 360 µs and 360 µs."),
    ],
)
def test_no_noise_is_claimed_beside_an_unknown_one(steps: int, marked: bool, text: str) -> None:
    step = [STEP] * steps
    comparison = compared(steps_of(step, marked=marked), steps_of(step, marked=marked))
    assert comparison.explanation is not None
    sentence = leading_sentence(comparison.explanation)
    assert sentence.startswith("No change stands out: ") and sentence.endswith(text)
    assert comparison.verdict.interval is None and "noise" not in sentence


def test_what_only_one_of_several_steps_waits_for_is_said_of_that_step() -> None:
    """The device waits for a copy for 59 us in one of six steps: 9.83 us is that of none."""
    stalled = (replace(NORM, after_us=60), *STEP[1:])
    early = [(1, 0.1 * at) for at in range(16)]
    usual = [*early, *((1, 3 + 0.1 * at) for at in range(80))]
    late = [*early, *((1, 419 + 0.1 * at) for at in range(80))]  # a step takes 360 us
    wait = [(1, "runtime", "cudaMemcpyAsync", 359_000, 419_000)]
    sides = (
        side_of_trace(steps_of([STEP] * 6, launches=usual, spans=[(1, "runtime", "x", 0, 9)])),
        side_of_trace(steps_of([STEP, stalled] + [STEP] * 4, launches=late, spans=wait)),
    )
    explanation = compare(*sides).explanation
    assert explanation is not None
    sentence = leading_sentence(explanation)
    assert "+9.83 µs per step" in sentence
    assert "In 1 of the candidate's 6 steps it is 59.0 µs, in the others 0 ns." in sentence
    single = explain_trace(sides[1].trace)
    assert single is not None
    (idle,) = [one for one in single.savings if one.values.get("kind") == "copy_waits"]
    told = str(saving_said(idle, single.unit))
    assert told.endswith("In 1 of 6 steps it is 59.0 µs, in the others 0 ns.")
    assert "9.83 µs per step" in told


def test_a_finding_calls_steps_what_the_sentences_call_steps() -> None:
    """The device waits for a copy for 599 us in one of six steps, which is 100 us a step."""
    stalled = (replace(NORM, after_us=600), *STEP[1:])
    early = [(1, 0.1 * at) for at in range(16)]
    late = [*early, *((1, 959 + 0.1 * at) for at in range(80))]
    wait = [(1, "runtime", "cudaMemcpyAsync", 359_000, 959_000)]
    trace = steps_of([STEP, stalled] + [STEP] * 4, launches=late, spans=wait)
    found = of_code(found_in(trace), "idle_by_host")
    assert found is not None
    limit = "".join(part.text for part in limit_parts(found))
    assert limit.endswith("In 1 of 6 steps it is 599 µs, in the others 0 ns.")


def test_a_collective_that_takes_long_in_one_step_is_said_of_that_step() -> None:
    talk, long = (Kernel("ncclDevKernel_AllReduce", us, "communication") for us in (5, 605))
    before = steps_of([(*STEP, talk)] * 6)
    usual = [(*STEP, talk)]
    after = steps_of(usual * 2 + [(*STEP, long)] + usual * 3)
    explanation = compared(before, after).explanation
    assert explanation is not None
    text = " ".join("".join(part.text for part in parts) for parts in explained_parts(explanation))
    assert "+100 µs per step" in text
    assert "In 1 of the candidate's 6 steps it is 605 µs, in the others 5.00 µs." in text
    rows = explained_rows(compared(before, after), [None] * len(explanation.changes))
    assert rows is not None
    [kernel] = rows.rows[0].kernels
    assert (kernel.before_each, kernel.after_each) == ("1 × 5.00 µs", "1 × 105 µs on average")


def test_a_share_names_the_whole_that_it_is_of() -> None:
    """40 us of products go, of 16 us the device waits longer: of the operators' change the products
    are all, of the run's, -25 us, more than that."""
    norm = replace(NORM, by="aten::layer_norm", inputs="float32[8,16]")
    product = replace(PRODUCT, by="aten::mm", inputs="float32[8,16]; float32[16,16]")
    before = (norm, product) * 8
    after = (norm, *(replace(product, us=35, after_us=0 if at else 15) for at in range(8)))
    after = (*after, *[norm] * 7)
    comparison = compared(steps_of([before]), steps_of([after]))
    rows = tree_rows(comparison)
    assert rows is not None
    assert rows.heads[-1] == "Share of the operators' change"
    assert rows.basis.endswith("Shares are of the change of all operators together, −40.0 µs.")
    assert (rows.rows[0].names[0], rows.rows[0].share) == ("aten::mm", "100.0\xa0%")
    assert comparison.ledger.reconciliation.delta_ns == -40_000 + 15_000
    why = no_shares_sentence(comparison.ledger)
    assert why.startswith("Shares of the change are not shown: gains and losses cancel")


def test_where_no_change_stands_out_the_interval_of_the_change_is_said() -> None:
    """Waits of 300 us and 340 us on average, each with a variance of 20,000 us^2: the standard
    error is sqrt(2 * 20,000 / 5) = 89.4 us, and 2.306, t of 8 degrees, times that is 206 us."""
    waits = ((100, 300, 500, 300, 300), (540, 140, 340, 340, 340))
    before, after = (
        steps_of([(replace(NORM, after_us=us), *STEP[1:]) for us in side]) for side in waits
    )
    comparison = compared(before, after)
    assert comparison.verdict.reason == "no_change" and comparison.explained is not None
    sentence = (
        "The 95 % interval of the change of the mean, \u2212166 µs to +246 µs, includes no change."
    )
    assert sentence in leading_sentence(comparison.explained)
    shares = no_shares_sentence(comparison.ledger)
    assert shares.endswith("\u2212166 µs to +246 µs, includes no change.")


def test_a_mean_that_differs_as_units_of_one_file_do_is_said_with_both_times() -> None:
    """Steps of 360 us of kernels wait 100 to 500 us, on average 300 us before and 340 us after,
    in another order: of 230 us of spread that is no change, and still 6.1 % of the time."""
    waits = ((100, 300, 500, 300), (540, 140, 340, 340))
    before, after = (
        steps_of([(replace(NORM, after_us=us), *STEP[1:]) for us in side]) for side in waits
    )
    comparison = compared(before, after)
    explanation = comparison.explanation
    assert explanation is not None and explanation.outcome == "no_change"
    assert (comparison.verdict.outcome, comparison.verdict.reason) == ("cannot_tell", "no_change")
    assert verdict_sentence(comparison) == (
        "No change stands out between t (baseline) and t (candidate)"
    )
    assert verdict_basis(comparison.verdict) == (
        "The two times differ by no more than the runs of one file do. "
        "Profiled step time, means of 4 and 4 steps, not paired."
    )
    assert change_sentence(comparison) == ""
    assert change_title(comparison) == "Fusion groups"
    several = compare_several([side_of_trace(before), side_of_trace(after)])
    assert not any("2 %" in line for line in doubt_lines(several)), "no doubt, but the answer"
    assert leading_sentence(explanation) == (
        "No change stands out: steps of one file differ by as much as the two sides do. The "
        "kernels of a step take 360 µs and 360 µs; with idle time it takes 660 µs and 700 µs on "
        "average."
    )


def test_executions_that_are_more_than_the_kernels_say_that_copies_are_among_them() -> None:
    """Of 8 norms, 8 products and 3 copies 16 are kernels and 11 are light."""
    copy = Kernel("Memcpy DtoD", 2, "copy")
    step = [(*STEP, copy, copy, copy)]
    comparison = compared(steps_of(step), steps_of(step))
    assert comparison.figure("light_count").baseline.value == 11
    told = (light_work(comparison), figure_text(comparison, "light_count").label)
    assert (comparison.figure("copies").baseline.value or 0) == 3
    assert comparison.figure("kernels").baseline.value == 16
    assert told[0].endswith("11 → 11 executions with copies and fills")
    assert told[1] == "light executions, with copies and fills"
    plain = compared(steps_of([STEP]), steps_of([STEP]))
    assert light_work(plain).endswith("8 → 8 executions")
    assert figure_text(plain, "light_count").label == "light executions"


@pytest.mark.parametrize("side", [0, 1])
def test_a_time_without_a_long_execution_says_how_much_it_leaves_out(side: int) -> None:
    """Eight attentions of 30 us are replaced by eight of 24 us; on one side one takes 300 us. The
    table has 240 and 192 us, on that side 270 or 276 us more; the sentence has both parts of it."""
    old, new = (
        [Kernel(name, us, "attention") for _ in range(8)]
        for name, us in (("flash_fwd", 30), ("sage_fwd", 24))
    )
    (old, new)[side][3] = replace((old, new)[side][3], us=300)
    before, after = (
        steps_of([[kernel for one in of for kernel in (NORM, PRODUCT, one)]]) for of in (old, new)
    )
    comparison = compared(before, after)
    assert comparison.explanation is not None
    changes = {change.code: change for change in comparison.explanation.changes}
    replaced, excess_ns = changes["replaced"], (270_000, 276_000)[side]
    assert (replaced.before_ns, replaced.after_ns) == (240_000, 192_000)
    assert abs(changes["outlier"].change_ns) == excess_ns
    text = change_said(replaced, comparison.explanation.unit)
    which, shown = ("baseline", "candidate")[side], ("270 µs", "276 µs")[side]
    assert str(text).endswith(
        f"−48.0 µs per step. That is without the {shown} that one execution of the {which} takes "
        "beyond the others."
    )
    name, column = ("flash_fwd", "sage_fwd")[side], f"per_run_ns_{which}"
    table = comparison.operators
    assert int(table[table["name"] == name][column].sum()) == (510_000, 468_000)[side]
    sign = "−+"[side]
    assert (
        f"The row of {name} also holds the {sign}{shown} of one long execution."
        in beside_explanation(comparison)
    )
    values = explanation_values(comparison.explanation)
    assert values is not None
    (entry,) = [entry for entry in values["changes"] if entry["code"] == "replaced"]
    own, other = ("before", "after") if side == 0 else ("after", "before")
    assert entry["long_ones"] == {own: {"count": 1, "ns": excess_ns}, other: {"count": 0, "ns": 0}}


def test_groups_beside_an_explanation_say_where_fusion_is() -> None:
    """A sum and its activation become one kernel in 8 places, 9 us less each, and products take
    40 us less. Groups join the sum with that kernel, 16 us less, and the activation with none, so
    no line of theirs has the 72 us."""
    add, gelu = Kernel("add_bias", 5), Kernel("gelu_kernel", 7, "activation")
    fused = Kernel("triton_poi_fused_add_gelu_0", 3)
    before = steps_of([(NORM, PRODUCT, add, gelu) * 8])
    after = steps_of([(NORM, replace(PRODUCT, us=35), fused) * 8])
    comparison = compared(before, after)
    sum_ = comparison.ledger.reconciliation
    assert comparison.is_explained
    assert (sum_.groups_ns, sum_.ungrouped_ns) == (-40_000 - 16_000, -56_000)
    assert "has −72.0 µs of it" in beside_explanation(comparison)
    plain = compared(before, steps_of([(NORM, replace(PRODUCT, us=35), add, gelu) * 8]))
    assert plain.is_explained and beside_explanation(plain) == ""


def test_no_row_is_said_to_hold_an_execution_that_is_a_term_of_its_own() -> None:
    """Where slow executions are a term of the sum, rows are without them."""
    slow = [*STEP]
    slow[3] = replace(PRODUCT, us=2_000)
    comparison = compared(
        steps_of([STEP] * 6), steps_of([[replace(NORM, us=9), *STEP[1:]]] * 5 + [slow])
    )
    assert comparison.explanation is not None
    assert "outlier" in {change.code for change in comparison.explanation.changes}
    assert comparison.ledger.reconciliation.slow_ns
    assert "long execution" not in beside_explanation(comparison)


def test_groups_of_a_map_beside_places_of_fusion_say_how_the_two_belong_together() -> None:
    """Of a compiler's map 31 groups, of which one place of what changed may hold several."""
    sample = SAMPLES / "torch_compile"
    traces = [read_path(sample / f"{name}.json.gz") for name in ("eager", "compiled")]
    assert all(isinstance(trace, Trace) for trace in traces)
    comparison = compared(*traces)  # type: ignore[arg-type]
    assert not comparison.is_explained and comparison.ledger.has_gains
    assert beside_explanation(comparison).startswith("What changed, above, follows the order")
