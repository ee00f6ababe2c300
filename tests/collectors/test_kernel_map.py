"""Which fusions a compiler's map has, and whether one was denied by itself, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.torch.kernel_map import check, fusions, several
from fusescope.collectors.workers.jobs import Denied

# A mean that two kernels read; the first also stores it. `view` computes nothing.
HELD = {
    "cpp_fused_mean_tanh_0:1": ["mean", "scale", "tanh", "sigmoid"],
    "extern_kernels.addmm:2": ["addmm", "view"],
    "cpp_fused_add_1:3": ["scale", "add", "relu", "exp"],
    "cpp_fused_neg_2:4": ["neg"],
}
BYTES = dict.fromkeys(
    ("mean", "scale", "tanh", "sigmoid", "addmm", "add", "relu", "exp", "neg"), 4
) | {"mean": 1}
FIRST = Denied(
    graph=0,
    nodes=("mean", "sigmoid", "tanh"),
    shared=("scale",),
    others=(("addmm",), ("add", "exp", "relu", "scale"), ("neg",)),
)


def test_fusions_are_kernels_of_several_nodes_of_their_own() -> None:
    first, second = fusions(0, HELD, BYTES)
    assert (first.name, first.denied, first.bytes) == ("cpp_fused_mean_tanh_0:1", FIRST, 9)
    assert second.name == "cpp_fused_add_1:3"
    assert second.denied.nodes == ("add", "exp", "relu")  # `scale` is computed twice
    assert [name for name, _ in several(HELD, BYTES)] == [first.name, second.name]


def apart(**changes: list[str]) -> dict[str, list[str]]:
    """The map after the first kernel was denied."""
    rest = {name: nodes for name, nodes in HELD.items() if name != "cpp_fused_mean_tanh_0:1"}
    return {
        "k:1": ["mean"],
        "k:2": ["scale", "tanh"],
        "k:3": ["scale", "sigmoid"],
        **rest,
        **changes,
    }


def test_one_kernel_apart_and_the_others_as_they_were_is_accepted() -> None:
    check(FIRST, apart(), BYTES, "without:x")
    check(FIRST, apart(**{"k:4": ["scale"]}), BYTES, "without:x")  # stored by itself now


@pytest.mark.parametrize(
    ("changes", "code", "operators"),
    [
        ({"k:2": ["mean", "tanh"]}, "torch_fusion_stays", "mean, tanh"),
        ({"k:2": ["tanh", "neg"]}, "torch_fusion_not_alone", "neg"),
        ({"cpp_fused_add_1:3": ["add", "exp"]}, "torch_fusion_not_alone", "add, exp, relu, scale"),
        ({"cpp_fused_neg_2:4": []}, "torch_fusion_not_alone", "neg"),
    ],
)
def test_anything_else_is_refused(changes: dict[str, Any], code: str, operators: str) -> None:
    with pytest.raises(FuseScopeError) as told:
        check(FIRST, apart(**changes), BYTES, "without:x")
    assert (told.value.code, told.value.values["operators"]) == (code, operators)
