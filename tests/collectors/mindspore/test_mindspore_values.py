"""Which of the model's tensors MindSpore's kernels write, by values that its dump has."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np

from fusescope.analysis.compare.groups.lineage import Lineage, lineage
from fusescope.collectors.mindspore.dumped import Values
from fusescope.collectors.mindspore.program import Given, Inside, Kernel, Program, parse_program
from fusescope.collectors.mindspore.variant_graph import (
    Originals,
    graph_of,
    model_graph,
    told_otherwise,
)
from fusescope.collectors.models.array import Array
from tests.collectors.mindspore.program_texts import FUSED, PARTS, UNFUSED

X = np.random.default_rng(0).standard_normal((1, 64, 8, 8)).astype("f4")
FUSED_KERNEL = "Default/GraphKernel_Mul_Add_fusion-op0"


def dump(folder: Path, kernel: Kernel, array: Array, place: int = 0) -> None:
    """As MindSpore names the file."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{kernel.op_type}.{kernel.name.replace('/', '_')}.0.0.179567214634"
    np.save(folder / f"{name}.output.{place}.DefaultFormat.Float32.npy", array)


def model(folder: Path) -> Originals:
    program = parse_program(UNFUSED)
    dump(folder, program.kernels[0], X * 2)
    dump(folder, program.kernels[1], X * 2 + 1)
    values = Values(folder, program.kernels)
    graph = model_graph(program, values, "/home/me/net.py")
    assert graph.node["Default/Mul-op0"].attributes == {"source": "net.py:12"}
    assert graph.tensor["Default/Mul-op0"].shape == (1, 64, 8, 8)
    return Originals(graph, Values(folder, graph.nodes).array)


def test_the_kernel_that_holds_both_operators_is_one_verified_group(tmp_path: Path) -> None:
    originals = model(tmp_path / "model")
    program = parse_program(FUSED)
    dump(tmp_path / "fused", program.kernels[0], X * 2 + 1)
    values = Values(tmp_path / "fused", program.kernels)
    graph, matches = graph_of(program, values.array, originals, "")
    found = lineage(originals.graph, graph, matches)
    (group,) = found.groups
    assert group.original == ("Default/Mul-op0", "Default/Add-op0")
    assert group.optimised == (FUSED_KERNEL,)
    assert found.mismatches == () and found.unexplained == ()
    assert graph.node[FUSED_KERNEL].attributes["listed"] == "Default/Mul-op0, Default/Add-op0"
    assert [(row.original, row.by, row.absolute) for row in matches] == [
        ("Default/Add-op0", "name", 0.0)
    ]


def test_each_operator_in_a_kernel_of_its_own_is_a_group_by_itself(tmp_path: Path) -> None:
    originals = model(tmp_path / "model")
    mul = Kernel("Default/GraphKernel_Mul_split-op0", "GraphKernel_Mul_split", ("x",),
                 ("Default/GraphKernel_Mul_split-op0",))  # fmt: skip
    add = Kernel("Default/GraphKernel_Add_split-op0", "GraphKernel_Add_split", mul.writes,
                 ("Default/GraphKernel_Add_split-op0",))  # fmt: skip
    program = Program(parse_program(UNFUSED).given, (mul, add), add.writes)
    values = {mul.name: X * 2, add.name: X * 2 + 1}
    graph, matches = graph_of(program, values.get, originals, "")
    groups = lineage(originals.graph, graph, matches).groups
    assert [group.original for group in groups] == [("Default/Mul-op0",), ("Default/Add-op0",)]
    assert [group.optimised for group in groups] == [(mul.name,), (add.name,)]
    assert groups[0].known_by == "value"


def test_a_kernel_that_writes_other_values_stands_for_nothing(tmp_path: Path) -> None:
    originals = model(tmp_path / "model")
    assert originals.matches("%a", X * 2 + 0.5) == []
    assert [row.original for row in originals.matches("%a", X * 2)] == ["Default/Mul-op0"]
    assert originals.matches("%a", None) == []


def test_one_of_several_outputs_has_its_place_in_the_name(tmp_path: Path) -> None:
    program = parse_program(PARTS)
    norm = program.kernels[0]
    dump(tmp_path, norm, X, place=0)
    dump(tmp_path, norm, X[0], place=1)
    (tmp_path / "Parameter.x.0.0.1.output.0.DefaultFormat.Float32.npy").write_bytes(b"no array")
    values = Values(tmp_path, program.kernels)
    found = values.array(f"{norm.name}:0")
    assert found is not None and found.shape == X.shape
    assert values.array(program.kernels[1].name) is None


def test_what_akg_wrote_of_a_kernel_is_held_against_the_program() -> None:
    (kernel,) = parse_program(FUSED).kernels

    def info(*names: str) -> bytes:
        described = [{"name": one, "ptr_address": f"Default/{one}-op9_3561"} for one in names]
        return json.dumps({"op": f"{kernel.info}", "op_desc": described}).encode()

    assert told_otherwise([kernel], {kernel.info: info("Mul", "Add")}) == 0
    assert told_otherwise([kernel], {kernel.info: info("Mul")}) == 1
    assert told_otherwise([kernel], {kernel.info: info("Add", "Mul")}) == 1
    assert told_otherwise([kernel], {}) == 0


def test_what_a_run_changes_is_no_constant_and_its_operators_run() -> None:
    """`count += x; return count * 2 + x`: MindSpore dumps nothing of a graph kernel in place."""
    given = (Given("count", "float32", (4,), True), Given("x", "float32", (4,), False))
    assign = Kernel("AssignAdd-op0", "AssignAdd", ("count", "x"), ("AssignAdd-op0",))
    mul = Kernel("Mul-op0", "Mul", ("count",), ("Mul-op0",))
    add = Kernel("Add-op0", "Add", ("Mul-op0", "x"), ("Add-op0",))
    unfused = Program(given, (assign, mul, add), add.writes)
    x = np.arange(4, dtype="f4")
    values = {assign.name: x, mul.name: x * 2, add.name: x * 3}

    def fused(*kernels: Kernel) -> Lineage:
        program = Program(given, kernels, kernels[-1].writes)
        own = {kernels[-1].name: x * 3}
        return lineage(original, *graph_of(program, own.get, Originals(original, values.get), ""))

    original = model_graph(unfused, cast(Values, SimpleNamespace(array=values.get)), "")
    assert original.inputs == ("count", "x") and not original.tensor["count"].constant
    in_place = Kernel(
        "GraphKernel_AssignAdd-op0", "GraphKernel_AssignAdd", ("count", "x"), ("own",),
        inside=(Inside("AssignAdd", "AssignAdd", ""),),
    )  # fmt: skip
    both = Kernel("GraphKernel_Mul_Add-op0", "GraphKernel_Mul_Add", ("count", "x"), ("sum",),
                  inside=(Inside("Mul", "Mul", ""), Inside("Add", "Add", "")))  # fmt: skip
    found = fused(in_place, both)
    assert [(group.original, group.optimised, group.fate) for group in found.groups] == [
        (("AssignAdd-op0",), (in_place.name,), "runs"),
        (("Mul-op0", "Add-op0"), (both.name,), "runs"),
    ]
    assert found.mismatches == () and found.unexplained == ()
