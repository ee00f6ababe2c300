"""The pass as a whole: rules, verification, and what is told."""

from __future__ import annotations

import string
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.patterns import HeldBack
from fusescope.analysis.wording import rewriting
from fusescope.analysis.wording.rewriting import Held
from fusescope.collectors.fusion import fusing, registry
from fusescope.collectors.fusion.rewrite import NewNode, Place
from fusescope.collectors.fusion.working import Working
from fusescope.collectors.zoo import mobilenetv2, resnet50
from tests.collectors.fusion.fused_models import Passed, difference, outputs, passed
from tests.pattern_models import Builder


def small_net() -> onnx.ModelProto:
    """stem (Conv, BN, Relu), body (Conv, BN, + stem, Relu), head (Flatten, MatMul, Add, Relu)."""
    b = Builder()

    def block(x: str, channels: int) -> str:
        c = b.node("Conv", x, b.weight(8, channels, 3, 3), pads=[1] * 4)
        return b.node("BatchNormalization", c, *(b.weight(8) for _ in range(4)))

    stem = b.node("Relu", block(b.input(2, 4, 6, 6), 4))
    body = b.node("Relu", b.node("Add", block(stem, 8), stem))
    flat = b.node("Flatten", body)
    head = b.node("Add", b.node("MatMul", flat, b.weight(288, 5)), b.weight(5))
    model = b.model(b.node("Relu", head))
    scopes = ["stem"] * 3 + ["body"] * 4 + ["head"] * 4
    for node, scope in zip(model.graph.node, scopes, strict=True):
        node.name = f"{scope}/{node.op_type}"
    return model


def types_in(model: onnx.ModelProto, scope: str) -> list[str]:
    return [node.op_type for node in model.graph.node if node.name.startswith(scope)]


@pytest.mark.parametrize(
    ("level", "stem", "body", "head"),
    [
        ("O0", ["Conv", "BatchNormalization", "Relu"],
         ["Conv", "BatchNormalization", "Add", "Relu"],
         ["Flatten", "MatMul", "Add", "Relu"]),
        ("O1", ["Conv", "Relu"], ["Conv", "Add", "Relu"], ["Flatten", "MatMul", "Add", "Relu"]),
        ("O2", ["FusedConv"], ["Conv", "Add", "Relu"], ["Flatten", "FusedGemm"]),
        ("O3", ["FusedConv"], ["FusedConv"], ["Flatten", "FusedGemm"]),
    ],
)  # fmt: skip
def test_levels(
    level: str, stem: list[str], body: list[str], head: list[str], tmp_path: Path
) -> None:
    result = passed(small_net(), tmp_path, f'level = "{level}"')
    assert types_in(result.after, "stem") == stem
    assert types_in(result.after, "body") == body
    assert types_in(result.after, "head") == head
    assert difference(result.before, result.after) < 1e-5
    if level != "O3":
        assert set(result.reasons()) == {"fusion_level"}


def nodes_in(model: onnx.ModelProto, scope: str) -> list[bytes]:
    graph = model.graph
    return [node.SerializeToString() for node in graph.node if node.name.startswith(scope)]


def test_an_excluded_module_is_left_exactly_as_it_is(tmp_path: Path) -> None:
    result = passed(small_net(), tmp_path, 'exclude = ["head/*"]')
    assert nodes_in(result.after, "head") == nodes_in(result.before, "head")
    assert types_in(result.after, "stem") + types_in(result.after, "body") == ["FusedConv"] * 2
    weights = [{t.name: t for t in m.graph.initializer} for m in (result.before, result.after)]
    read = {name for node in result.after.graph.node if node.name.startswith("head")
            for name in node.input}  # fmt: skip
    kept = read & weights[0].keys()
    assert kept and kept == read & weights[1].keys()
    for name in kept:
        assert weights[0][name] == weights[1][name]
    assert result.reasons() == ["excluded"]


def test_an_included_module_is_all_that_changes(tmp_path: Path) -> None:
    result = passed(small_net(), tmp_path, 'include = ["stem"]')
    assert types_in(result.after, "stem") == ["FusedConv"]
    for scope in ("body", "head"):
        assert nodes_in(result.after, scope) == nodes_in(result.before, scope)
    assert set(result.reasons()) == {"not_included"}


def test_a_module_that_the_model_lacks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        FuseScopeError, match=r"'classifier/\*'.*The modules of this model are: stem, body, head"
    ):
        passed(small_net(), tmp_path, 'exclude = ["classifier/*"]')


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ([["Conv", "BatchNormalization", "Relu"]],
         ["FusedConv", "Conv", "BatchNormalization", "Add", "Relu",
          "Flatten", "MatMul", "Add", "Relu"]),
        ([["Conv", "BatchNormalization"]],
         ["Conv", "Relu", "Conv", "Add", "Relu", "Flatten", "MatMul", "Add", "Relu"]),
        (["conv-bn"],
         ["Conv", "Relu", "Conv", "Add", "Relu", "Flatten", "MatMul", "Add", "Relu"]),
        ([["MatMul", "Add", "Relu"], ["Conv", "BatchNormalization", "Add", "Relu"]],
         ["Conv", "BatchNormalization", "Relu", "FusedConv", "Flatten", "FusedGemm"]),
    ],
)  # fmt: skip
def test_only_the_patterns_that_are_listed(
    patterns: list[object], expected: list[str], tmp_path: Path
) -> None:
    text = repr(patterns).replace("'", '"')
    result = passed(small_net(), tmp_path, f"patterns = {text}")
    assert result.op_types == expected
    assert difference(result.before, result.after) < 1e-5
    assert [asked.applied for asked in result.report.asked] == [
        2 if "conv-bn" in text or entry == ["Conv", "BatchNormalization"] else 1
        for entry in patterns
    ]


def test_patterns_that_find_or_change_nothing_say_so(tmp_path: Path) -> None:
    text = 'level = "O1"\npatterns = ["gelu", ["Conv", "BatchNormalization", "Relu"]]'
    gelu, chain = passed(small_net(), tmp_path, text).report.asked
    assert (gelu.found, gelu.applied, gelu.blocked_by) == (0, 0, "")
    assert (chain.found, chain.applied, chain.blocked_by) == (1, 0, "fusion_level")
    assert "this fusion needs O2" in rewriting.held_back_sentence(chain)


def test_tensors_above_the_limit_are_kept(tmp_path: Path) -> None:
    result = passed(small_net(), tmp_path, "largest_intermediate = 100")
    assert result.op_types.count("FusedConv") == 0
    assert "FusedGemm" in result.op_types  # 2 × 5 floats
    [row, *_] = result.report.opportunities
    assert row.blocked_by == "largest_intermediate"
    assert row.values == {"bytes": 2 * 8 * 6 * 6 * 4, "limit": 100}
    assert "2.30 kB" in rewriting.held_back_sentence(row)


def spoil(
    monkeypatch: pytest.MonkeyPatch, name: str, spoiled: Callable[[Place, NewNode], NewNode]
) -> None:
    """Plants an error in the rewrite of that name."""

    def wrong(rewrite: registry.Rewrite) -> registry.Rewrite:
        right = rewrite.write
        return replace(rewrite, write=lambda place: spoiled(place, right(place)))

    rewrites = tuple(wrong(r) if r.name == name else r for r in registry.REWRITES)
    monkeypatch.setattr(registry, "REWRITES", rewrites)


def off_by_three_percent(_: Place, new: NewNode) -> NewNode:
    return replace(new, weights={name: values * 1.03 for name, values in new.weights.items()})


def test_a_planted_error_is_caught_and_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spoil(monkeypatch, "conv-bn", off_by_three_percent)
    result = passed(small_net(), tmp_path)
    assert types_in(result.after, "stem") == ["Conv", "BatchNormalization", "Relu"]
    assert types_in(result.after, "head") == ["Flatten", "FusedGemm"]  # the others stay
    assert difference(result.before, result.after) < 1e-5
    assert [row.blocked_by for row in result.report.taken_back] == ["verification"] * 2
    for row in result.report.taken_back:
        assert row.outcome == "no"
        assert 0.02 < float(str(row.values["difference"])) < 0.04
        said = rewriting.held_back_sentence(row)
        assert said.startswith("Verification failed: the difference is 0.03,")
        assert "taken back" in said


def test_an_error_behind_an_activation_that_lets_nothing_through(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spoil(monkeypatch, "conv-bn", off_by_three_percent)
    b = Builder()
    c = b.node("Conv", b.input(2, 4, 7, 7), b.weight(8, 4, 3, 3))
    one, low, zero = (b.number(value, (8,)) for value in (1, -42, 0))
    model = b.model(b.node("Relu", b.node("BatchNormalization", c, one, low, zero, one)))
    result = passed(model, tmp_path)
    assert not outputs(result.before)[0].any()
    assert result.op_types == ["Conv", "BatchNormalization", "Relu"]
    assert [row.blocked_by for row in result.report.taken_back] == ["verification"]


def test_what_was_right_before_the_error_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spoil(monkeypatch, "conv-activation",
          lambda _, new: replace(new, attributes={"activation": "Tanh"}))  # fmt: skip
    result = passed(small_net(), tmp_path)
    assert types_in(result.after, "stem") == ["Conv", "Relu"]
    [row] = result.report.taken_back
    assert (row.outcome, row.blocked_by, row.makes) == ("partly", "verification", "Conv")


def test_an_operator_that_the_engine_refuses_is_taken_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spoil(monkeypatch, "conv-activation",
          lambda _, new: replace(new, attributes={"activation": "Nonsense"}))  # fmt: skip
    result = passed(small_net(), tmp_path)
    assert types_in(result.after, "stem") == ["Conv", "Relu"]
    assert [row.blocked_by for row in result.report.taken_back] == ["refused"]


def test_an_error_that_only_the_whole_model_shows_is_taken_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spoil(monkeypatch, "conv-bn", off_by_three_percent)
    monkeypatch.setattr(fusing.Verification, "difference", lambda *_: 0.0)
    result = passed(small_net(), tmp_path)
    assert "whole_model" in result.reasons()
    assert result.report.difference is not None and result.report.difference <= 1e-4
    assert difference(result.before, result.after) < 1e-4


def test_what_another_rewrite_makes_of_the_same_operators_is_verified_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    [right] = [rewrite for rewrite in registry.REWRITES if rewrite.name == "conv-activation"]
    spoil(monkeypatch, "conv-activation",
          lambda _, new: replace(new, attributes={"activation": "Tanh"}))  # fmt: skip
    other = replace(right, name="another-way")
    monkeypatch.setattr(registry, "REWRITES", (*registry.REWRITES, other))
    verified = []

    def difference_of(_: object, __: object, working: Working, name: str) -> float:
        verified.append(working.origins[name].steps[-1].rewrite)
        return 0.0

    monkeypatch.setattr(fusing.Verification, "difference", difference_of)
    b = Builder()
    model = b.model(b.node("Relu", b.node("Conv", b.input(1, 4, 5, 5), b.weight(8, 4, 3, 3))))
    result = passed(model, tmp_path)
    assert verified == ["conv-activation", "another-way"]
    assert result.op_types == ["FusedConv"]
    assert difference(result.before, result.after) < 1e-5


def test_the_verification_draws_the_same_every_time(tmp_path: Path) -> None:
    one = passed(small_net(), tmp_path / "one").report
    other = passed(small_net(), tmp_path / "other").report
    seeded = passed(small_net(), tmp_path / "seeded", seed=5).report
    assert one == other
    found = [[row.difference for row in report.opportunities] for report in (one, seeded)]
    assert found[0] != found[1]


def test_a_model_without_finite_results_is_no_fault_of_the_pass(tmp_path: Path) -> None:
    b = Builder()
    y = b.node("Relu", b.node("Conv", b.input(1, 4, 5, 5), b.weight(8, 4, 3, 3)))
    result = passed(b.model(b.node("Div", y, b.node("Sub", y, y))), tmp_path)
    assert "FusedConv" in result.op_types and result.report.difference is None


def test_bytes_removed_are_those_of_the_tensors_that_go(tmp_path: Path) -> None:
    result = passed(small_net(), tmp_path)
    stem, body, head = result.report.opportunities
    tensor = 2 * 8 * 6 * 6 * 4
    assert stem.bytes_removed == 2 * tensor  # behind Conv and BatchNormalization
    assert body.bytes_removed == 3 * tensor
    assert head.bytes_removed == 2 * (2 * 5 * 4)
    assert [row.scope for row in (stem, body, head)] == ["stem", "body", "head"]


def test_names_of_outputs_and_unused_weights(tmp_path: Path) -> None:
    result = passed(small_net(), tmp_path)
    onnx.checker.check_model(result.after)
    made = {name for node in result.before.graph.node for name in node.output}
    kept = {name for node in result.after.graph.node for name in node.output}
    assert kept < made
    read = {name for node in result.after.graph.node for name in node.input}
    weights = {tensor.name for tensor in result.after.graph.initializer}
    assert weights and weights <= read


@pytest.mark.parametrize(
    ("build", "before", "after"),
    [
        (mobilenetv2.build, 152, 55),
        pytest.param(resnet50.build, 175, 57, marks=pytest.mark.exhaustive),
    ],
)
def test_zoo_models_keep_their_results(
    build: Callable[[], onnx.ModelProto], before: int, after: int, tmp_path: Path
) -> None:
    result = passed(build(), tmp_path)
    assert (result.report.nodes_before, result.report.nodes_after) == (before, after)
    assert result.report.difference is not None and result.report.difference < 1e-4
    assert difference(result.before, result.after) < 1e-4
    assert not result.report.taken_back


def test_the_head_of_a_zoo_model_is_left_alone(tmp_path: Path) -> None:
    result = passed(mobilenetv2.build(), tmp_path, 'exclude = ["head/*", "block6/*"]')
    for scope in ("head/", "block6/"):
        assert nodes_in(result.after, scope) == nodes_in(result.before, scope) != []
    assert result.report.nodes_after > 55


def test_every_reason_has_words() -> None:
    facts = {"difference": None, "tolerance": 1e-4}
    assert "no numbers" in rewriting.held_back_sentence(passed_row("verification", facts))
    for code in get_args(HeldBack):
        values = dict.fromkeys(
            name
            for _, name, _, _ in string.Formatter().parse(rewriting.HELD_BACK[code].one)
            if name
        )
        said = rewriting.held_back_sentence(passed_row(code, values))
        assert said and said[0].isupper()


def passed_row(code: str, values: dict[str, object]) -> Held:
    from fusescope.collectors.fusion.report import Opportunity

    return Opportunity("Conv + Relu", (), (), (), "", "no", blocked_by=code, values=values)


@st.composite
def chains(draw: st.DrawFn) -> onnx.ModelProto:
    """A random chain of operators, some of whose results others read too."""
    b = Builder()
    x = b.input(1, 4, 6, 6)
    results = [x]
    for kind in draw(st.lists(st.sampled_from(range(7)), min_size=2, max_size=9)):
        y = results[-1]
        other = results[draw(st.integers(0, len(results) - 1))]
        results.append(
            [
                lambda y=y: b.node("Conv", y, b.weight(4, 4, 3, 3), pads=[1] * 4),
                lambda y=y: b.node("BatchNormalization", y, *(b.weight(4) for _ in range(4))),
                lambda y=y: b.node("Relu", y),
                lambda y=y, other=other: b.node("Add", y, other),
                lambda y=y: b.node("Mul", y, b.number(0.5)),
                lambda y=y: b.node("Add", b.weight(4, 1, 1), y),
                lambda y=y: b.node("Mul", y, b.node("Sigmoid", y)),
            ][kind]()
        )
    extra = draw(st.integers(0, len(results) - 1))
    returned = {results[-1]} | ({results[extra]} if extra else set())
    return b.model(*sorted(returned))


@given(chains())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_chains_compute_the_same(
    tmp_path_factory: pytest.TempPathFactory, model: onnx.ModelProto
) -> None:
    result: Passed = passed(model, tmp_path_factory.mktemp("chain"))
    pairs = list(zip(outputs(result.before), outputs(result.after), strict=True))
    assert pairs
    for one, other in pairs:
        scale = max(float(np.abs(one).max()), 1e-30)
        assert float(np.abs(one - other).max()) / scale < 1e-4
    covered = [name for row in result.report.opportunities for name in row.operators]
    applied = [name for row in result.report.applied for name in row.operators]
    assert len(applied) == len(set(applied)) and set(covered) <= {
        node.name for node in result.before.graph.node
    }
