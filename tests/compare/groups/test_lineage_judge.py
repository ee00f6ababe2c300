"""The referee of tests/lineage_judge.py finds what is planted, and nothing in what is right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="optimised graphs need the extra 'collect'")
ort = pytest.importorskip("onnxruntime", reason="optimised graphs need the extra 'collect'")

from tests.architectures import Model, feeds
from tests.lineage_judge import Pair, Side, judge, same


@dataclass(frozen=True)
class Claim:
    original: tuple[str, ...]
    optimised: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


Case = tuple[Pair, list[Claim], list[str]]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Conv+Relu fused to FusedConv, Sigmoid and Tanh kept, Identity gone, a Cast inserted."""
    m = Model(3)
    x = m.input("x", [1, 4, 6, 6])
    y = m.op("Relu", m.conv(x, 4, 8))
    y = m.op("Tanh", m.op("Sigmoid", m.op("Identity", y)))
    model = m.build(y)
    fused = onnx.ModelProto.FromString(model.SerializeToString())
    graph = fused.graph
    conv, relu, _, sigmoid, tanh = graph.node
    conv.op_type, conv.domain, conv.output[0] = "FusedConv", "com.microsoft", relu.output[0]
    conv.attribute.append(onnx.helper.make_attribute("activation", "Relu"))
    cast = onnx.helper.make_node("Cast", [relu.output[0]], ["cast"], name="cast", to=1)
    sigmoid.input[0] = "cast"
    kept = [onnx.NodeProto.FromString(n.SerializeToString()) for n in (conv, cast, sigmoid, tanh)]
    del graph.node[:]
    graph.node.extend(kept)
    fused.opset_import.append(onnx.helper.make_opsetid("com.microsoft", 1))
    folder = tmp_path_factory.mktemp("judge")
    for name, proto in (("model", model), ("fused", fused)):
        onnx.save(proto, str(folder / f"{name}.onnx"))
    out = {node.name: node.output[0] for node in model.graph.node}
    claims = [
        Claim(("/Conv", "/Relu"), ("/Conv",), ("x",), (out["/Relu"],)),
        Claim(("/Identity",), (), (out["/Relu"],), (out["/Identity"],)),
        Claim(("/Sigmoid",), ("/Sigmoid",), (out["/Identity"],), (out["/Sigmoid"],)),
        Claim(("/Tanh",), ("/Tanh",), (out["/Sigmoid"],), (out["/Tanh"],)),
    ]
    given = [feeds(model, seed) for seed in (0, 1)]
    pair = Pair(*(Side(folder / f"{name}.onnx", given) for name in ("model", "fused")))
    return pair, claims, ["cast"]


def rules(
    case: Case, change: Callable[[list[Claim]], list[Claim]], inserted: list[str]
) -> set[str]:
    pair, claims, _ = case
    return {found.rule for found in judge(pair, change(list(claims)), inserted)}


def test_what_is_right_has_no_findings(case: Case) -> None:
    assert judge(*case) == []


def test_a_node_in_no_group_or_in_two(case: Case) -> None:
    assert rules(case, lambda claims: claims[:-1], ["cast"]) == {"partition"}
    assert rules(case, lambda claims: [*claims, claims[0]], ["cast"]) == {"partition"}
    assert rules(case, lambda claims: claims, []) == {"partition"}


def test_a_boundary_that_the_model_does_not_have(case: Case) -> None:
    def change(claims: list[Claim]) -> list[Claim]:
        return [replace(claims[0], outputs=()), *claims[1:]]

    assert rules(case, change, ["cast"]) == {"boundary"}


def test_an_operator_in_its_neighbour_s_group(case: Case) -> None:
    def change(claims: list[Claim]) -> list[Claim]:
        conv, identity, sigmoid, tanh = claims
        return [
            replace(conv, original=("/Conv",), outputs=("/Conv_output_0",)),
            Claim(("/Relu", "/Identity"), (), ("/Conv_output_0",), identity.outputs),
            sigmoid,
            tanh,
        ]

    assert rules(case, change, ["cast"]) == {"values", "gone"}


def test_two_groups_in_one(case: Case) -> None:
    def change(claims: list[Claim]) -> list[Claim]:
        both = Claim(
            ("/Sigmoid", "/Tanh"), ("/Sigmoid", "/Tanh"), claims[2].inputs, claims[3].outputs
        )
        return [*claims[:2], both]

    assert rules(case, change, ["cast"]) == {"smaller"}


def test_a_computing_node_that_is_called_inserted(case: Case) -> None:
    def change(claims: list[Claim]) -> list[Claim]:
        return [*claims[:3], replace(claims[3], optimised=())]

    assert rules(case, change, ["cast", "/Tanh"]) == {"gone", "inserted"}


def test_the_same_values_in_another_layout() -> None:
    a = np.random.default_rng(0).standard_normal((2, 20, 3, 4)).astype(np.float32)
    padded = np.concatenate([a, np.zeros((2, 12, 3, 4), np.float32)], axis=1)
    blocked = padded.reshape(2, 2, 16, 3, 4).transpose(0, 1, 3, 4, 2).reshape(2, 32, 3, 4)
    for other in (a.reshape(2, -1), a.transpose(0, 2, 3, 1), padded, blocked, a.astype(np.float64)):
        assert same(a, other, 1e-6)
    wrong = a.copy()
    wrong[1, 7, 2, 3] += 0.1
    for other in (wrong, -a, a[:, ::-1], blocked[:, ::-1], a[:, :19]):
        assert not same(a, other, 1e-6)
    whole = np.arange(-3, 3, dtype=np.int8)
    assert same(whole, (whole.astype(np.int16) + 128).astype(np.uint8), 1e-6)
    assert not same(whole, whole + 1, 1e-6)
