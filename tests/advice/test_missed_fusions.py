"""Near misses of real engine graphs: what is named, how it folds, and when nothing is said."""

from __future__ import annotations

import string
from dataclasses import replace
from itertools import product
from typing import get_args

import msgspec
import onnx
import pytest

from fusescope.analysis.advice import MissedFusion, missed_fusions
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.patterns import Blocker
from fusescope.analysis.wording.advice import ADVICE, near_miss_remedy, near_miss_sentence
from tests.advice.experiments import compared
from tests.factories import experiment_zip
from tests.pattern_cases import (
    conv_activation,
    conv_bn,
    elementwise,
    gelu,
    layer_norm,
    matmul_add,
    quick_gelu,
    residual,
    skip_layer_norm,
)
from tests.pattern_models import Builder, has_blocked_layout
from tests.readers.test_experiment import read_bytes


def codes(comparison: Comparison) -> dict[str, str]:
    """Blocker by pattern."""
    found = missed_fusions(comparison)
    assert len({miss.pattern for miss in found}) == len(found)
    return {miss.pattern: miss.blocked_by for miss in found}


def many(places: int, *, two: bool) -> onnx.ModelProto:
    """Convolutions with Relu in a row; `two`: something else reads each result before it."""
    b = Builder()
    x = b.input(1, 16, 8, 8)
    results = []
    for _ in range(places):
        c = b.node("Conv", x, b.weight(16, 16, 3, 3), pads=[1, 1, 1, 1])
        x = b.node("Relu", c)
        if two:
            results.append(b.node("GlobalAveragePool", c))
    return b.model(x, *results)


def test_what_is_fused_is_no_miss() -> None:
    for model in (conv_bn(), conv_activation(bn=True), gelu(), layer_norm(), skip_layer_norm()):
        comparison = compared(model)
        assert any(group.kind == "fused" for group in comparison.fusion.groups)
        assert missed_fusions(comparison) == ()


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (conv_bn(two="c"), {"Conv + BatchNormalization": "extra_consumer"}),
        (conv_bn(out="c"), {"Conv + BatchNormalization": "graph_output_between"}),
        (conv_bn(train=True), {"Conv + BatchNormalization": "training_mode"}),
        (conv_bn(weight="input"), {"Conv + BatchNormalization": "non_constant_weight"}),
        (conv_bn(weight="overridable"), {"Conv + BatchNormalization": "overridable_weight"}),
        (conv_activation("Elu"), {"Conv + Elu": "no_kernel"}),
        (conv_activation("Relu", two="c"), {"Conv + Relu": "extra_consumer"}),
        (gelu(root=1.414), {"Gelu": "constant_value"}),
        (gelu(form=3), {"Gelu": "form"}),
        (layer_norm(axis=(1,)), {"LayerNorm": "axis"}),
        (layer_norm(two="d"), {"LayerNorm": "extra_consumer"}),
        (quick_gelu(two="s"), {"QuickGelu": "extra_consumer"}),
        (skip_layer_norm(two="a"), {"SkipLayerNorm": "extra_consumer"}),
        (skip_layer_norm(right=(8,)), {"SkipLayerNorm": "shape_or_broadcast"}),
        (matmul_add(bias=(1,)), {"MatMul + Add": "shape_or_broadcast"}),
        (
            residual(other="x", group=4, channels=60),
            {"Conv + Add + Relu": "no_bias"},
        ),
        (elementwise("Mul", "Add"), {"Mul + Add": "no_kernel"}),
        (elementwise("Sub", "Mul", "Sqrt"), {"Sub + Mul + Sqrt": "no_kernel"}),
    ],
)
def test_the_blocking_condition_is_named(model: onnx.ModelProto, expected: dict[str, str]) -> None:
    comparison = compared(model)
    assert codes(comparison) == expected
    [miss] = missed_fusions(comparison)
    assert near_miss_sentence(miss) and near_miss_remedy(miss)
    assert miss.nodes and set(miss.nodes) <= {node.name for node in model.graph.node}
    assert miss.side == "candidate" and miss.basis == "measured"


def test_half_fused_residuals_say_which_half() -> None:
    if not has_blocked_layout():
        pytest.skip("this processor's engine has no blocked layout")
    [miss] = missed_fusions(compared(residual("Clip"), us={"Clip": 7}))
    assert (miss.pattern, miss.blocked_by) == ("Conv + Add + Clip", "no_kernel")
    assert miss.stake_ns == 7_000  # the Add is gone already


def test_misses_alike_are_one_line_with_their_sum() -> None:
    [miss] = missed_fusions(compared(many(5, two=True), us={"Relu": 4}))
    assert (miss.pattern, miss.blocked_by, miss.count) == ("Conv + Relu", "extra_consumer", 5)
    assert miss.stake_ns == 5 * 4_000
    assert miss.bytes_saved == 5 * 16 * 8 * 8 * 4
    assert len(set(miss.places)) == 5 and miss.nodes == miss.places[0]


def test_the_largest_stake_comes_first() -> None:
    b = Builder()
    c = b.node("Conv", b.input(1, 16, 8, 8), b.weight(16, 16, 3, 3))
    e = b.node("Elu", c)
    model = b.model(b.node("Softplus", b.node("Conv", e, b.weight(16, 16, 3, 3))))
    for slow, fast in (("Elu", "Softplus"), ("Softplus", "Elu")):
        found = missed_fusions(compared(model, us={slow: 50, fast: 5}))
        assert [miss.pattern for miss in found] == [f"Conv + {slow}", f"Conv + {fast}"]
        assert [miss.stake_ns for miss in found] == [50_000, 5_000]


@pytest.mark.parametrize(
    ("model", "variant", "needs"),
    [
        (conv_activation(), "basic", "extended"),
        (gelu(), "basic", "extended"),
        (skip_layer_norm(), "basic", "extended"),
        (layer_norm(opset=13), "basic", "extended"),
    ],
)
def test_a_level_that_is_too_low_is_said(model: onnx.ModelProto, variant: str, needs: str) -> None:
    [miss] = missed_fusions(compared(model, variant, opset=model.opset_import[0].version))
    assert miss.blocked_by == "level"
    assert miss.values == {"level": variant, "needs": needs}
    assert needs in near_miss_remedy(miss)


def test_a_switched_off_optimizer_is_said() -> None:
    comparison = compared(matmul_add(), "without:MatMulAddFusion")
    [miss] = missed_fusions(comparison)
    assert miss.blocked_by == "disabled"
    assert "MatMulAddFusion" in near_miss_sentence(miss)


def test_without_optimisation_there_is_one_finding() -> None:
    comparison = compared(many(3, two=True), "eager")
    assert [miss.blocked_by for miss in missed_fusions(comparison)] == ["optimisation_off"]


@pytest.mark.parametrize(
    ("label", "settings", "code", "says"),
    [
        (
            "rules:O1",
            {"fusion_level": "O1", "fused_groups": "1 × a + b"},
            "own_pass",
            "is fused by",
        ),
        (
            "rules:x.toml",
            {"fusion_level": "O3", "fused_groups": "none"},
            "own_pass",
            "fused nothing",
        ),
        ("custom:mul_add", {"groups": 2}, "own_kernel", "custom kernels run 2 groups of"),
        ("custom:library", {}, "own_kernel", "custom kernels run groups of operators"),
        ("segments:mul_add", {"groups": 2}, "same_cut", "is cut in the same way as custom:mul_add"),
    ],
)
def test_what_fused_in_place_of_the_engine_is_said(
    label: str, settings: dict[str, object], code: str, says: str
) -> None:
    comparison = compared(conv_activation(), "eager")
    variant = comparison.candidate.variant
    assert variant is not None
    told = {"graph_optimization": "none", **settings}
    side = replace(
        comparison.candidate,
        label=label,
        variant=msgspec.structs.replace(variant, name=label, settings=told),
    )
    [miss] = missed_fusions(replace(comparison, candidate=side))
    assert miss.blocked_by == code
    sentence = near_miss_sentence(miss)
    assert says in sentence and label in sentence
    assert "so nothing is fused." not in sentence


def test_an_engine_that_declines_is_not_explained_away() -> None:
    """The candidate's graph is that of a lower level than its settings say."""
    comparison = compared(gelu(), "basic")
    variant = comparison.candidate.variant
    assert variant is not None
    told = replace(comparison.candidate, variant=_with_settings(variant, "all"))
    [miss] = missed_fusions(replace(comparison, candidate=told))
    assert miss.blocked_by == "engine_declined"
    assert "1.31" in near_miss_sentence(miss)


def _with_settings(variant: object, level: str) -> object:
    return msgspec.structs.replace(variant, settings={"graph_optimization": level})


def test_nothing_is_said_without_a_graph_or_of_another_engine() -> None:
    comparison = compared(conv_bn(two="c"))
    side = comparison.candidate
    assert side.experiment is not None
    no_graph = replace(side, experiment=replace(side.experiment, model_graph=None))
    assert missed_fusions(replace(comparison, candidate=no_graph)) == ()
    traces = read_bytes(experiment_zip({"unfused": [10.0] * 6, "fused": [5.0] * 6})).traces
    from fusescope.analysis.compare.side import side_of_trace

    bare = compare(side_of_trace(traces["unfused"]), side_of_trace(traces["fused"]))
    assert missed_fusions(bare) == ()


def test_every_blocker_has_words() -> None:
    assert set(ADVICE) == set(get_args(Blocker))
    placeholders = {
        name
        for advice in ADVICE.values()
        for message in (advice.why, advice.remedy)
        for _, name, _, _ in string.Formatter().parse(message.one)
        if name
    }
    for values in (dict.fromkeys(placeholders, 1), dict.fromkeys(placeholders)):
        for code, tensor in product(get_args(Blocker), ("t", "")):
            miss = MissedFusion("Conv + Relu", ("a",), ("Conv",), tensor, code, values)
            for text in (near_miss_sentence(miss), near_miss_remedy(miss)):
                assert text[0].isupper()
                assert text.endswith(".")
                assert "{" not in text


def test_names_from_a_model_are_fit_to_be_shown() -> None:
    model = conv_bn(two="c")
    hostile = "t\u202e\x1b[31m" + "x" * 500
    for node in model.graph.node:
        for names in (node.input, node.output):
            names[:] = [hostile if name == "t0" else name for name in names]
    [miss] = missed_fusions(compared(model))
    assert miss.blocked_by == "extra_consumer"
    text = near_miss_sentence(miss)
    assert "\x1b" not in text and "\u202e" not in text and len(text) < 250


def test_a_slow_execution_is_at_stake_as_little_as_it_is_in_the_ledger() -> None:
    """Relu takes 4 µs in every run but one, where a pause of 875 µs falls into it."""
    before = compared(many(1, two=True), us={"Relu": 4})
    trace = before.candidate.trace
    relu = trace.operators.loc[trace.operators["op_type"] == "Relu", "operator"].iloc[0]
    calls = trace.calls.copy()
    at = calls.index[calls["operator"] == relu][-1]
    calls.loc[at, "dur_ns"] += 875_000
    side = replace(before.candidate, trace=replace(trace, calls=calls))
    comparison = compare(before.baseline, side)
    [miss] = missed_fusions(comparison)
    rows = comparison.ledger.rows.set_index("pattern")
    assert comparison.ledger.reconciliation.slow_ns
    assert miss.stake_ns == rows.loc["Relu", "after_ns"] == 4_000


def test_a_kernel_that_the_recording_has_is_named_with_its_time() -> None:
    """The copy of `unfused` takes 10 ms, `fused` 5."""
    found = compared(elementwise("Mul", "Add"))
    experiment = found.candidate.experiment
    assert experiment is not None
    record = experiment.record
    own = msgspec.structs.replace(record.variant("unfused"), name="custom:mul_add")
    record = msgspec.structs.replace(record, variants=[*record.variants, own])
    side = replace(found.candidate, experiment=replace(experiment, record=record))
    [miss] = missed_fusions(replace(found, candidate=side))
    assert near_miss_remedy(miss) == (
        "Use a kernel of your own: custom:mul_add of this recording takes 2.00× the time of "
        "fused, un-profiled."
    )
    [miss] = missed_fusions(found)
    assert near_miss_remedy(miss) == "Write your own fused kernel for Mul + Add."
