"""Kernels of one's own, predicted with the pieces that they need; results by hand."""

from __future__ import annotations

import onnx
import pytest

from fusescope.analysis.advice import Subject, findings
from fusescope.analysis.advice.finding import Gain
from fusescope.analysis.advice.own_kernels import (
    inside_session,
    kernel_for,
    own_kernel,
    pieces_of,
    saved_by,
)
from fusescope.analysis.advice.prediction import chained, in_pieces, skip_normalised
from fusescope.analysis.advice.remedies import remedies
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.patterns import chains, rows
from fusescope.collectors.derive import cut
from fusescope.collectors.kernels import KERNELS, find
from fusescope.collectors.kernels.loading import groups_of
from fusescope.collectors.models.model import constants_to_initializers, infer_shapes, name_nodes
from tests.advice.experiments import compared
from tests.architectures import ARCHITECTURES
from tests.collectors.kernel_models import graph_of
from tests.pattern_models import Builder


def softmaxes(count: int) -> onnx.ModelProto:
    """Add + Softmax between matrix products, `count` times."""
    b = Builder()
    x = b.input(1, 4, 16)
    for _ in range(count):
        x = b.node("Softmax", b.node("Add", x, b.weight(16)), axis=-1)
        x = b.node("MatMul", x, b.weight(16, 16))
    return b.model(x)


def test_the_kernel_for_operators() -> None:
    assert kernel_for(["Div", "Add", "Softmax"]) == "softmax"
    assert kernel_for(["Add", "LayerNormalization", "Gelu"]) == "layer_norm"
    assert kernel_for(["Pow", "ReduceMean", "Add", "Sqrt", "Div"]) == "layer_norm"
    assert kernel_for(["Mul", "Sigmoid"]) == "elementwise"
    for others in (["MatMul", "Add"], ["Where", "Softmax"], ["Softmax", "LayerNormalization"]):
        assert kernel_for(others) == ""
    names = {kernel.name for kernel in KERNELS}
    assert {"softmax", "layer_norm", "elementwise"} <= names


def test_a_kernel_in_pieces_by_hand() -> None:
    """Of 1 ms a half, less three pieces of 80 µs."""
    gain = in_pieces(1e6, 3)
    assert gain.value == pytest.approx(500e3 - 240e3)
    assert gain.low == pytest.approx(-500e3 - 570e3)
    assert gain.high == pytest.approx(1e6 - 120e3)


def test_a_kernel_inside_the_session_counts_what_fused_brings() -> None:
    """The kernel saves 1 ms of fused's 5; against unfused, which takes 10, 5 ms more."""
    comparison = compared(softmaxes(1))
    kernel = Gain(1e6, 0.0, 2e6, "modelled")
    assert inside_session(Subject(comparison.candidate, comparison), kernel) == kernel
    assert comparison.candidate.experiment is not None
    unfused = Subject(side_of_variant(comparison.candidate.experiment, "unfused"))
    assert inside_session(unfused, kernel).value == pytest.approx(6e6, rel=5e-3)


def test_a_chain_inside_by_hand() -> None:
    """Of 100 µs that go, 65 in a chain and 35 in rows."""
    assert chained(100e3, "inside").value == pytest.approx(65e3)
    assert chained(100e3, "inside_rows").value == pytest.approx(35e3)


def test_a_normalisation_that_takes_in_an_addition_may_lose() -> None:
    """Of 37 µs that become 32768 values of 5.3 ns, 173.7 µs; of few values what chains save."""
    few = chained(15e3, "engine")
    loss = skip_normalised(37e3, 32768, few)
    assert loss.value == pytest.approx(37e3 - 5.3 * 32768)
    assert (loss.low, loss.high) == pytest.approx((37e3 - 7 * 32768, 37e3 - 3.5 * 32768))
    assert skip_normalised(37e3, 100, few) == few


def test_what_another_variant_saves_is_paired_inside_blocks() -> None:
    """10 instead of 5 ms: it saves -5 of 5 ms."""
    comparison = compared(softmaxes(1))
    subject = Subject(comparison.candidate, comparison)
    behind = saved_by(subject, "unfused")
    assert behind is not None
    assert (behind.value, behind.low, behind.high) == pytest.approx((-5e6,) * 3, rel=5e-3)
    own = saved_by(subject, "fused")
    assert own is not None and own.value == 0


@pytest.mark.parametrize("name", ["transformer_encoder", "bert", "gelus"])
def test_the_pieces_are_those_that_the_cut_makes(name: str) -> None:
    model = onnx.ModelProto.FromString(ARCHITECTURES[name]().SerializeToString())
    name_nodes(model)
    constants_to_initializers(model.graph)
    infer_shapes(model)
    graph = graph_of(model)
    for kernel in ("softmax", "layer_norm"):
        groups = groups_of(graph, find(kernel))
        taken = {node.name for group in groups for node in group.nodes}
        places = [match for match in rows(graph) if match.nodes[0].name in taken]
        assert len(places) == len(groups)
        made = cut.around(model.graph, groups)
        assert pieces_of(graph, places) in (len(made), len(made) + 1)  # it begins with the others


def test_what_a_kernel_saves_counts_its_cut() -> None:
    """Two places: Add 400 and Softmax 300 µs each; 700 - 400 go at each place, and a half of that
    is saved. Five pieces cost 80 µs each. The samples say that fused takes half as long."""
    comparison = compared(softmaxes(2), us={"Add": 400, "Softmax": 300, "MatMul": 100})
    subject = Subject(comparison.candidate, comparison)
    experiment = subject.side.experiment
    assert experiment is not None
    unfused = Subject(side_of_variant(experiment, "unfused"))
    assert unfused.unprofiled_ns == 10e6 and subject.unprofiled_ns == 5e6
    assert unfused.operators_ns == 2 * (400e3 + 300e3 + 100e3)
    gone_ns = 2 * 300e3 * 10e6 / 1.6e6
    graph = experiment.model_graph
    assert graph is not None
    assert pieces_of(graph, rows(graph)) == 4  # no operators stand before the first
    gain = own_kernel(subject, "softmax")
    assert gain is not None
    assert gain.value == pytest.approx(0.5 * gone_ns - 4 * 80e3 - 5e6, rel=1e-4)
    asked = {one.variant: one for one in remedies(subject, findings(subject))}
    predicted = asked["custom:softmax"].predicted
    assert predicted is not None and predicted.value == pytest.approx(gain.value / 5e6)
    assert list(asked)[-1] == "custom:softmax", "it is predicted to lose"
    assert own_kernel(subject, "elementwise") is not None and chains(graph) == []
