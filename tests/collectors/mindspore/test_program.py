"""The program that MindSpore writes of what it runs, read back."""

from __future__ import annotations

from pathlib import Path

import pytest

from fusescope.collectors.mindspore.program import (
    Given,
    Inside,
    Kernel,
    parse_program,
    read_program,
    scope_in,
    type_in,
)
from tests.collectors.mindspore.program_texts import FUSED, PARTS, UNFUSED


def test_a_graph_kernel_is_one_kernel_with_the_operators_inside() -> None:
    program = parse_program(FUSED)
    assert program.given == (Given("x", "float32", (1, 64, 128, 128), is_weight=False),)
    (kernel,) = program.kernels
    assert kernel == Kernel(
        name="Default/GraphKernel_Mul_Add_fusion-op0",
        op_type="GraphKernel_Mul_Add_fusion",
        reads=("x",),
        writes=("Default/GraphKernel_Mul_Add_fusion-op0",),
        inside=(
            Inside("Default/Mul-op0", "Mul", ""),
            Inside("Default/Add-op0", "Add", ""),
        ),
        info="Fused_Mul_Add_fusion_16913588634434487990",
    )
    assert kernel.operators == ("Mul", "Add")
    assert program.outputs == ("Default/GraphKernel_Mul_Add_fusion-op0",)


def test_without_graph_kernels_each_operator_is_a_kernel_with_its_line_of_code() -> None:
    program = parse_program(UNFUSED)
    assert [(one.name, one.op_type, one.reads) for one in program.kernels] == [
        ("Default/Mul-op0", "Mul", ("x",)),
        ("Default/Add-op0", "Add", ("Default/Mul-op0",)),
    ]
    assert program.kernels[0].code == (("/home/me/net.py", 12),)
    assert program.outputs == ("Default/Add-op0",)


def test_loads_parts_and_dependencies_are_seen_through() -> None:
    program = parse_program(PARTS)
    norm, gelu = program.kernels
    assert norm.reads == ("x", "block.gamma")
    assert norm.writes == (f"{norm.name}:0",)
    assert gelu.reads == (f"{norm.name}:0", "block.gamma")
    assert gelu.operators == ("BiasAdd", "GeLU")  # of two parts here, of nine in MindSpore
    assert program.outputs == (gelu.name,)
    assert [one.is_weight for one in program.given] == [True, False]


def test_modules_and_types_are_in_the_full_name() -> None:
    assert scope_in("Default/block-Block/norm-LayerNorm/LayerNorm-op0") == "block/norm"
    assert scope_in("Default/Mul-op0") == ""
    assert type_in("Default/stem-ConvBn/conv-Conv2d/Conv2D-op12") == "Conv2D"


def test_what_calls_other_parts_than_graph_kernels_is_refused() -> None:
    text = FUSED.replace("graph_kernel: Mul_Add_fusion\n", "")
    with pytest.raises(ValueError, match="branches or loops"):
        parse_program(text)
    with pytest.raises(ValueError, match="no entry"):
        parse_program("")


def test_a_model_of_several_graphs_has_no_program(tmp_path: Path) -> None:
    (tmp_path / "graph_build_0_0001.ir").write_text(UNFUSED)
    assert len(read_program(tmp_path).kernels) == 2
    (tmp_path / "graph_build_1_0002.ir").write_text(UNFUSED)
    with pytest.raises(ValueError, match="2 graphs of the model, not one"):
        read_program(tmp_path)
