"""What ran, joined to the model's tensors by values. Needs no JAX."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from analysis.graph import Graph, Node, Tensor
from collectors.jax.followed import Followed, Ran
from collectors.jax.originals import Deadline, Held, Originals, array_of
from collectors.models.array import Array

MODEL = Graph(
    (
        Node("exp_0", "exp", ("input[0]",), ("exp_0",)),
        Node("max_0", "max", ("exp_0", "constant_0"), ("max_0",)),  # of no effect: all are above
        Node("transpose_0", "transpose", ("max_0",), ("transpose_0",)),
        Node("mul_0", "mul", ("transpose_0", "transpose_0"), ("mul_0",)),
    ),
    (Tensor("constant_0", "float32", (), constant=True),),
    ("input[0]",),
    ("mul_0",),
)
X = np.random.default_rng(0).normal(size=(16, 24)).astype("f4")
VALUES = {"exp_0": np.exp(X), "max_0": np.exp(X), "transpose_0": np.exp(X).T}


class _Known:
    """Stands for the model's values: exact ones."""

    def holding(self, array: Array | None) -> tuple[Held, ...]:
        return tuple(
            Held(name, "", 0.0, 0.0)
            for name, value in VALUES.items()
            if array is not None and array.shape == value.shape and np.array_equal(array, value)
        )


def followed() -> Followed:
    made = Followed(MODEL, cast(Originals, _Known()), Deadline(60))
    made.tensors |= {"input[0]": Tensor("input[0]", "float32", (16, 24))}
    made.tensors |= {"%2": Tensor("%2", "float32", (), constant=True)}
    made.inputs.append("input[0]")
    return made


def ran(name: str, kind: str, reads: str, *, moves: bool = False) -> Ran:
    written = Tensor(f"%{name}", "float32", (16, 24))
    return Ran(name, kind, reads.split(), [written], moves, {"event": name})


def test_an_operator_stands_for_the_one_of_its_kind() -> None:
    found = followed()
    found.ran(ran("exp.1", "exp", "input[0]"), [VALUES["exp_0"]])
    found.ran(ran("max.1", "max", "%exp.1 %2"), [VALUES["exp_0"]])
    assert {name: held.original for name, held in found.held.items()} == {
        "%exp.1": "exp_0", "%max.1": "max_0",
    }  # fmt: skip


def test_what_computes_is_never_what_it_reads_and_what_moves_may_be() -> None:
    """A limit that is out of reach changes no value: it is no other tensor for all that."""
    found = followed()
    found.ran(ran("fusion.1", "fusion", "input[0]"), [VALUES["exp_0"]])  # exp_0 or max_0
    found.ran(ran("copy.1", "copy", "%fusion.1", moves=True), [VALUES["exp_0"]])
    found.ran(ran("clamp.1", "clamp", "%copy.1 %2"), [VALUES["exp_0"]])
    found.ran(ran("clamp.2", "clamp", "%clamp.1 %2"), [VALUES["exp_0"]])
    held = {name: one.original for name, one in found.held.items()}
    assert (held["%fusion.1"], held["%copy.1"], held["%clamp.1"]) == ("exp_0", "exp_0", "max_0")
    assert "%clamp.2" not in held


def test_constants_make_constants_and_stand_for_nothing() -> None:
    found = followed()
    found.ran(ran("broadcast.1", "broadcast_in_dim", "%2"), [VALUES["exp_0"]])
    assert found.held == {} and found.is_constant("%broadcast.1")


def test_the_result_has_the_names_of_the_models_outputs() -> None:
    found = followed()
    found.ran(ran("fusion.1", "fusion", "input[0]"), [VALUES["transpose_0"]])
    found.ran(ran("mul.9", "mul", "%fusion.1"), [VALUES["transpose_0"] ** 2])
    graph, matches = found.result(["%mul.9"])
    assert [(node.name, node.inputs, node.outputs) for node in graph.nodes] == [
        ("fusion.1", ("input[0]",), ("%fusion.1",)), ("mul.9", ("%fusion.1",), ("mul_0",)),
    ]  # fmt: skip
    assert (graph.inputs, graph.outputs) == (("input[0]",), ("mul_0",))
    assert [(m.original, m.optimised, m.by) for m in matches] == [
        ("transpose_0", "%fusion.1", "value")
    ]


def test_what_is_returned_twice_or_as_it_was_given_is_no_cycle() -> None:
    model = Graph(MODEL.nodes, MODEL.tensors, MODEL.inputs, ("exp_0", "max_0", "input[0]"))
    found = followed()
    found.model = model
    found.ran(ran("fusion.1", "fusion", "input[0]"), [VALUES["exp_0"]])
    found.ran(ran("copy.1", "copy", "input[0]", moves=True), [X])
    graph, _ = found.result(["%fusion.1", "%fusion.1", "%copy.1"])
    made = {name: node.name for node in graph.nodes for name in node.outputs}
    assert made == {"exp_0": "fusion.1", "%copy.1": "copy.1", "max_0": "output.1"}
    assert graph.node["output.1"].inputs == ("exp_0",)
    assert graph.outputs == ("exp_0", "max_0", "input[0]")


def test_what_has_no_numbers_is_not_compared() -> None:
    assert array_of(np.array(["a"])) is None
    assert array_of(np.zeros((0, 3), "f4")) is None
    half = array_of(np.ones(3, "f2"))
    assert half is not None and half.dtype == np.float32


def test_complex_numbers_are_compared_by_both_parts() -> None:
    made = array_of(np.array([1 + 2j, 3 - 4j], "c8"))
    assert made is not None and made.tolist() == [[1, 2], [3, -4]]


def test_after_the_deadline_nothing_is_compared() -> None:
    found = followed()
    found.deadline = Deadline(-1)
    with pytest.raises(TimeoutError, match="comparing values was ended"):
        found.ran(ran("exp.1", "exp", "input[0]"), [VALUES["exp_0"]])
