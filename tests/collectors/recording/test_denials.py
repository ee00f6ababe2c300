"""Which fusions a recording is made without, and what becomes of those that cannot be denied."""

from __future__ import annotations

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Said
from fusescope.collectors.record import Recording
from fusescope.collectors.recording.denials import LIMIT, with_denials, with_refused
from fusescope.collectors.recording.refused import Refused
from fusescope.collectors.recording.request import Plan
from fusescope.collectors.workers.jobs import Denied, Fusion


def fusion(name: str, operators: int, written: int = 0) -> Fusion:
    nodes = tuple(f"n{index}" for index in range(operators))
    return Fusion(name, Denied(0, nodes, (), ()), written)


def planned(*names: str, ablate: bool = False) -> Plan:
    return Recording(model="torch:mlp", runtime="torch", variants=names, ablate=ablate).plan()


def found(*made: Fusion, names: tuple[str, ...] = (), refused: Refused | None = None) -> Plan:
    plan, denied = with_denials(
        planned(*names, ablate=not names),
        search=not names,
        ask=lambda: made,
        report=lambda said: None,
        refused=refused or Refused(()),
    )
    assert set(denied) == {name for name in plan.names if name.startswith("without:")}
    return plan


def test_the_largest_are_left_out_each_by_itself() -> None:
    made = [fusion(f"cpp_{n}:{n}", operators=n) for n in range(2, 9)]
    plan = found(*made, fusion("cpp_big:9", 8, written=4))
    chosen = ["cpp_big:9", "cpp_8:8", "cpp_7:7", "cpp_6:6", "cpp_5:5"]
    assert plan.names == ("unfused", "fused", *(f"without:{name}" for name in chosen))
    assert len(chosen) == LIMIT
    assert plan.settings["fused"]["fusions_left_out"] == "cpp_4:4, cpp_3:3, cpp_2:2"


def test_a_named_kernel_must_be_there() -> None:
    names = ("fused", "without:cpp_fused_gelu_1:3")
    assert found(fusion("cpp_fused_gelu_1:3", 2), names=names).names == names
    with pytest.raises(FuseScopeError, match="makes no fused kernel cpp_fused_gelu_1:3"):
        found(fusion("cpp_fused_gelu_1:4", 2), names=names)


def test_a_model_without_fusions_has_nothing_to_leave_out() -> None:
    with pytest.raises(FuseScopeError, match="fuses nothing"):
        found()


def test_what_cannot_be_denied_alone_is_left_out_with_its_reason() -> None:
    refused = Refused(())
    plan = found(fusion("cpp_a:1", 3), fusion("cpp_b:2", 2), refused=refused)
    with refused.unless("without:cpp_a:1"):
        raise FuseScopeError("torch_fusion_stays", variant="without:cpp_a:1", operators="x, y")
    with pytest.raises(FuseScopeError), refused.unless("fused"):
        raise FuseScopeError("torch_nothing_fused")
    said: list[Said] = []
    told = with_refused(plan, refused, said.append)
    assert [one.name for one in refused.left(plan.variants)] == [
        "unfused",
        "fused",
        "without:cpp_b:2",
    ]
    assert told.settings["fused"]["fusions_refused"] == (
        "cpp_a:1: 'without:cpp_a:1' would still compute in one kernel: x, y"
    )
    assert len(said) == 1 and "cpp_a:1 is left out" in str(said[0])
