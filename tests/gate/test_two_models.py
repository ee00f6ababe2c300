"""Fusions of one model that another one has lost."""

from __future__ import annotations

import itertools

import pytest

from fusescope.analysis.compare.groups.fusion import Fusion, Group, Operator
from fusescope.analysis.gate.fusion_changes import FusionChanges
from fusescope.analysis.gate.two_models import changes_between

_numbers = itertools.count(1)


def group(names: str, became: str, scope: str = "") -> Group:
    """'a:MatMul b:Add' became 'Gemm'; fewer operators are a fusion."""
    original = tuple(
        Operator(name, op_type, scope) for name, op_type in (n.split(":") for n in names.split())
    )
    after = tuple(Operator(f"{original[0].name}_", op_type, scope) for op_type in became.split())
    kind = "fused" if len(after) < len(original) else "kept"
    return Group(next(_numbers), kind, "name", original, original, after)  # type: ignore[arg-type]


def changes(old: list[Group], new: list[Group]) -> FusionChanges:
    found = changes_between(Fusion("graphs", tuple(old)), Fusion("graphs", tuple(new)))
    assert found is not None
    return found


GEMM = group("a:MatMul b:Add", "Gemm", "l0")
GELU = group("c:Div d:Erf e:Add f:Mul g:Mul", "Gelu", "l0/act")


def test_equal_models_lose_nothing_however_their_operators_are_called() -> None:
    assert changes([GEMM, GELU], [GEMM, GELU]).changes == ()
    renamed = [group("m1:MatMul a1:Add", "Gemm", "layer.0"),
               group("c1:Div d1:Erf e1:Add f1:Mul g1:Mul", "Gelu", "layer.0.act")]  # fmt: skip
    assert changes([GEMM, GELU], renamed).changes == ()


def test_a_fusion_that_is_gone_is_beside_what_runs_in_its_place() -> None:
    apart = [group(f"{name}:{kind}", kind, "l0/act") for name, kind in
             (("c", "Div"), ("d", "Erf"), ("e", "Add"), ("f", "Mul"), ("g", "Mul"))]  # fmt: skip
    (change,) = changes([GEMM, GELU], [GEMM, *apart]).changes
    assert (change.what, change.before) == ("lost", ("Gelu",))
    assert change.after == ("Div", "Erf", "Add", "Mul", "Mul")
    (back,) = changes([GEMM, *apart], [GEMM, GELU]).changes
    assert (back.what, back.before, back.after) == ("won", change.after, ("Gelu",))


def test_operators_that_only_the_new_model_has_are_among_those_that_run_there() -> None:
    """d became x and y; z is new, too, but behind the last one that is known."""
    apart = [group(f"{name}:{kind}", kind) for name, kind in
             (("c", "Div"), ("x", "Tanh"), ("y", "Neg"), ("e", "Add"), ("z", "Exp"))]  # fmt: skip
    (change,) = changes([GEMM, GELU], [GEMM, *apart]).changes
    assert change.after == ("Div", "Tanh", "Neg", "Add")


def test_operators_of_other_names_are_found_by_their_module() -> None:
    other = [group("t:Tanh", "Tanh", "l0/act"), group("u:Tanh", "Tanh", "l1/act")]
    (change,) = changes([GEMM, GELU], [GEMM, *other]).changes
    assert change.after == ("Tanh",)
    (gone,) = changes([GEMM, GELU], [GEMM]).changes
    assert gone.after == ()


def test_of_several_alike_as_many_are_lost_as_are_missing() -> None:
    old = [group(f"m{n}:MatMul a{n}:Add", "Gemm", f"l{n}") for n in range(5)]
    new = [group(f"x{n}:MatMul y{n}:Add", "Gemm", f"l{n}") for n in (0, 3, 4)]
    found = changes(old, new)
    assert [one.group.original[0].scope for one in found.of("lost")] == ["l1", "l2"]
    assert found.lost_types == {"Gemm": 2} and found.operators[1] == {"Gemm": 3}


@pytest.mark.parametrize(
    ("became", "what"), [("MatMul Gelu", "lost"), ("QuickGelu", "changed"), ("Gelu", None)]
)
def test_what_became_of_the_same_operators(became: str, what: str | None) -> None:
    other = group("c:Div d:Erf e:Add f:Mul g:Mul", became, "l0/act")
    assert [one.what for one in changes([GELU], [other]).changes] == ([what] if what else [])


def test_without_groups_that_were_verified_nothing_is_claimed() -> None:
    assert changes_between(Fusion("inferred", (GELU,)), Fusion("graphs", (GELU,))) is None
