"""Writes fused_mul_add.onnx, whose operators are FusedMulAdd, and mul_add.onnx, its unfused twin.

    python make_model.py [FOLDER]

fused_mul_add.onnx defines FusedMulAdd by an ONNX function (Mul, then Add), so it runs anywhere; an
engine that has a kernel of that name and domain runs the kernel instead. mul_add.onnx is for tools
that know no functions.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DOMAIN = "fusescope.example"  # as in fused_mul_add.c
OPERATOR = "FusedMulAdd"
SHAPE = ["batch", 64, 128, 128]  # 4 MB a sample
OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]


def definition() -> onnx.FunctionProto:
    """y = x * a + b: what FusedMulAdd stands for."""
    return helper.make_function(
        DOMAIN,
        OPERATOR,
        ["x", "a", "b"],
        ["y"],
        [
            helper.make_node("Mul", ["x", "a"], ["product"], name="Mul"),
            helper.make_node("Add", ["product", "b"], ["y"], name="Add"),
        ],
        OPSETS[:1],
    )


def calls() -> list[onnx.NodeProto]:
    """y = (x * scale + shift) * x + shift, as two operators."""
    return [
        helper.make_node(
            OPERATOR, ["x", "scale", "shift"], ["t"], name="first/FusedMulAdd", domain=DOMAIN
        ),
        helper.make_node(
            OPERATOR, ["t", "x", "shift"], ["y"], name="second/FusedMulAdd", domain=DOMAIN
        ),
    ]


def operators() -> list[onnx.NodeProto]:
    """The same as four."""
    return [
        helper.make_node("Mul", ["x", "scale"], ["p"], name="first/Mul"),
        helper.make_node("Add", ["p", "shift"], ["t"], name="first/Add"),
        helper.make_node("Mul", ["t", "x"], ["q"], name="second/Mul"),
        helper.make_node("Add", ["q", "shift"], ["y"], name="second/Add"),
    ]


def model(
    name: str, nodes: Sequence[onnx.NodeProto], functions: Sequence[onnx.FunctionProto] = ()
) -> onnx.ModelProto:
    """A model of these nodes."""
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, SHAPE)],
        [
            numpy_helper.from_array(np.array(1.5, np.float32), "scale"),
            numpy_helper.from_array(np.array(0.25, np.float32), "shift"),
        ],
    )
    return helper.make_model(graph, opset_imports=OPSETS, ir_version=8, functions=functions)


def main(folder: Path) -> None:
    """Writes both files."""
    for name, made in (
        ("fused_mul_add", model("fused_mul_add", calls(), [definition()])),
        ("mul_add", model("mul_add", operators())),
    ):
        onnx.checker.check_model(made)
        path = folder / f"{name}.onnx"
        onnx.save(made, path)
        print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
