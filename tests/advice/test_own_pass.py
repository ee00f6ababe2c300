"""What our own pass would fuse of what the engine missed, and attention, which is not judged."""

from __future__ import annotations

from dataclasses import replace

import onnx
import pytest

from fusescope.analysis.advice import missed_fusions, unjudged_attention
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.experiment import OwnFusion
from fusescope.analysis.graph import Graph
from fusescope.analysis.patterns import attentions
from fusescope.analysis.wording.advice import attention_sentence, own_pass_sentence, own_pass_text
from fusescope.collectors.models import graphs
from tests.advice.experiments import compared
from tests.pattern_models import Builder


def chains(places: int) -> onnx.ModelProto:
    """Mul + Add chains, which ONNX Runtime has no kernel for, apart from one another."""
    b = Builder()
    x = b.input(1, 16, 8, 8)
    for _ in range(places):
        scaled = b.node("Mul", x, b.weight(1, 16, 1, 1))
        added = b.node("Add", scaled, b.weight(1, 16, 1, 1))
        x = b.node("GlobalAveragePool", added)
    return b.model(x)


def with_own(comparison: Comparison, fusions: tuple[OwnFusion, ...] | None) -> Comparison:
    side = comparison.candidate
    assert side.experiment is not None
    return replace(
        comparison,
        candidate=replace(side, experiment=replace(side.experiment, own_fusions=fusions)),
    )


def test_a_miss_says_how_many_of_its_places_our_own_pass_fuses() -> None:
    comparison = compared(chains(3), us={"Mul": 4, "Add": 6})
    [miss] = missed_fusions(comparison)
    assert (miss.count, miss.own_places) == (3, None)  # not tried
    assert own_pass_text(miss) == own_pass_sentence([miss]) == ""

    fused = tuple(OwnFusion("Mul + Add", names) for names in miss.places[:2])
    [told] = missed_fusions(with_own(comparison, fused))
    assert (told.own_places, own_pass_text(told)) == (2, "2 of 3")
    assert "2 of these places" in own_pass_sentence([told])
    assert "rules:O3" in own_pass_sentence([told])

    part = tuple(OwnFusion("Mul", names[:1]) for names in miss.places)
    [told] = missed_fusions(with_own(comparison, part))
    assert (told.own_places, own_pass_text(told)) == (0, "none")
    assert own_pass_sentence([told]) == ""


def test_time_spent_is_not_time_to_win() -> None:
    """A convolution that cannot take the activation in stays: only the rest could be won."""
    b = Builder()
    x = b.input(1, 16, 8, 8)
    c = b.node("Conv", x, b.weight(16, 16, 3, 3), pads=[1, 1, 1, 1])
    model = b.model(b.node("Relu", c), b.node("GlobalAveragePool", c))
    [miss] = missed_fusions(compared(model, us={"Conv": 90, "Relu": 5}))
    assert miss.stake_ns == 5_000
    assert miss.spent_ns == 95_000


def attention(
    *, scaled: bool = True, masked: bool = False, product: bool = True
) -> onnx.ModelProto:
    b = Builder()
    q, k, v = (b.input(1, 2, 8, 4) for _ in range(3))
    scores = b.node("MatMul", q, b.node("Transpose", k, perm=[0, 1, 3, 2]))
    if scaled:
        scores = b.node("Div", scores, b.weight(1))
    if masked:
        scores = b.node("Add", scores, b.node("Abs", b.input(1, 1, 8, 8)))
    weights = b.node("Softmax", scores, axis=-1)
    return b.model(b.node("MatMul", weights, v) if product else weights)


def graph_of(model: onnx.ModelProto) -> Graph:
    return graphs.from_model(model)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("masked", [True, False])
def test_attention_is_found_however_it_is_written(scaled: bool, masked: bool) -> None:
    [nodes] = attentions(graph_of(attention(scaled=scaled, masked=masked)))
    types = [node.op_type for node in nodes]
    assert types[0] == types[-1] == "MatMul" and "Softmax" in types


def test_a_softmax_at_the_end_is_no_attention() -> None:
    assert attentions(graph_of(attention(product=False))) == []


def test_attention_is_named_and_not_judged() -> None:
    found = unjudged_attention(compared(attention(), us={"MatMul": 20, "Softmax": 3}))
    assert found is not None and len(found.places) == 1
    assert found.spent_ns == 10_000 + 3_000 + 20_000  # FusedMatMul, Softmax, MatMul
    text = attention_sentence(found)
    assert "in 1 place," in text and "does not judge" in text
    assert unjudged_attention(compared(chains(1))) is None
