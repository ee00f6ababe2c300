"""What ran, joined to the model's tensors by values. Needs no JAX."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from fusescope.analysis.graph import Graph, Node, Tensor
from fusescope.collectors.jax.followed import Followed, Ran
from fusescope.collectors.jax.originals import Deadline, Held, Originals, array_of
from fusescope.collectors.models.array import Array

if TYPE_CHECKING:  # it needs JAX
    from fusescope.collectors.jax.equations import Equation, Traced

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

    def fixed(self, array: Array | None) -> tuple[str, ...]:
        return () if array is None else FIXED.get(tuple(array.reshape(-1)[:3]), ())


# Tensors of a model that depend on no input, by their first numbers: several are equal.
FIXED = {(0, 1, 2): ("iota_0", "iota_1", "sort_0"), (1, 1, 1): ("broadcast_in_dim_0",)}
FIXED_MODEL = Graph(
    (
        Node("iota_0", "iota", (), ("iota_0",)),
        Node("iota_1", "iota", (), ("iota_1",)),
        Node("sort_0", "sort", ("iota_1",), ("sort_0",)),
        Node("broadcast_in_dim_0", "broadcast_in_dim", (), ("broadcast_in_dim_0",)),
    ),
    (),
    (),
    ("sort_0",),
)


def followed(model: Graph = MODEL, *, one_each: bool = False) -> Followed:
    made = Followed(model, cast(Originals, _Known()), Deadline(60), one_each=one_each)
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


COUNTED, ONES = np.arange(24), np.ones(24)


def test_each_fixed_tensor_of_an_eager_run_is_the_next_of_its_operator() -> None:
    found = followed(FIXED_MODEL, one_each=True)
    steps = (
        ("convert.0", COUNTED, True), ("iota.0", COUNTED, False), ("iota.1", COUNTED, False),
        ("argsort.0", COUNTED, False), ("broadcast_in_dim.0", ONES, True), ("fill.0", ONES, False),
    )  # fmt: skip
    for name, values, moves in steps:
        found.ran(ran(name, name.partition(".")[0], "", moves=moves), [values])
    assert {node.name: node.attributes.get("makes") for node in found.nodes} == {
        "convert.0": None, "iota.0": ["iota_0"], "iota.1": ["iota_1"], "argsort.0": ["sort_0"],
        "broadcast_in_dim.0": ["broadcast_in_dim_0"], "fill.0": None,
    }  # fmt: skip


def test_a_program_tells_all_equal_fixed_tensors_that_it_writes_or_computes_on_the_way() -> None:
    found = followed(FIXED_MODEL)
    found.ran(ran("iota.7", "iota", ""), [COUNTED])
    found.ran(ran("fusion.1", "fusion", "input[0]"), [X], [COUNTED, ONES])
    equal = ["iota_0", "iota_1", "sort_0"]
    assert [node.attributes for node in found.nodes] == [
        {"event": "iota.7", "makes": equal}, {"event": "fusion.1", "holds": equal},
    ]  # fmt: skip
    assert found.held == {}


class _Model:
    """Three equations: two that depend on no input, of which one is a mask."""

    graph = Graph(
        (
            Node("ge_0", "ge", (), ("ge_0",)),
            Node("sin_0", "sin", (), ("sin_0",)),
            Node("mul_0", "mul", ("input[0]", "sin_0"), ("mul_0",)),
        ),
        (),
        ("input[0]",),
        ("mul_0",),
    )
    values = (np.tri(8, dtype=bool), np.sin(np.arange(64.0)).reshape(1, 64), X)

    def run(self, inputs: object) -> Iterator[tuple[Equation, list[Array]]]:
        for node, value in zip(self.graph.nodes, self.values, strict=True):
            yield cast("Equation", SimpleNamespace(node=node)), [value]


def test_fixed_tensors_are_known_by_their_values_and_are_no_place_to_cut(tmp_path: Path) -> None:
    mask, waves, _ = _Model.values
    found = Originals(cast("Traced", _Model()), [X], tmp_path, Deadline(60))
    assert found.fixed(mask) == ("ge_0",) and found.fixed(~mask) == ()
    assert found.fixed(mask.astype("f4")) == ()  # numbers of another kind
    assert found.fixed(waves.reshape(64) * (1 + 1e-6)) == ("sin_0",)  # rounded otherwise
    assert found.fixed(waves.reshape(8, 8)) == () and found.fixed(X) == ()
    assert found.holding(waves) == () and [one.original for one in found.holding(X)] == ["mul_0"]
