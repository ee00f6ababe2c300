"""What is asked of a recording for jax, before any engine starts, and what became of a program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.jax.programs import library_fusions, mixed_fusion
from fusescope.collectors.record import Recording, first_variants


def asked(**changes: Any) -> Recording:
    names = first_variants("", "jax")
    return Recording(**{"model": "jax:mlp", "runtime": "jax", "variants": names, **changes})


def test_eager_unfused_and_fused_where_nothing_is_named(tmp_path: Path) -> None:
    plan = asked().plan()
    assert plan.names == ("eager", "unfused", "fused")
    assert (plan.model, plan.path, plan.baseline) == ("jax:mlp", None, "unfused")
    (tmp_path / "net.py").write_text("def make():\n    return None\n")
    recording = asked(model=f"{tmp_path}/net.py:make")
    plan = recording.plan()
    assert (plan.model, plan.path) == ("net-make", tmp_path / "net.py")
    assert recording.prepare_job(plan, tmp_path).model == f"{tmp_path}/net.py:make"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"model": "jax:mpl"}, "Did you mean 'jax:mlp'?"),
        ({"model": "torch:mlp"}, "torch:mlp does not name a model for jax"),
        ({"model": "fx_graph_runnable.py"}, "FILE.py:FUNCTION"),
        ({"model": "net.py:make"}, "There is no such Python file (net.py)"),
        ({"variants": ("captured",)}, "Known: eager, unfused, fused"),
        ({"runtime": "onnxruntime"}, "fusescope collect jax:mlp --runtime jax"),
        ({"runtime": "onnxruntime", "model": "n.py:f"}, "Add --runtime torch, --runtime jax or"),
        ({"runtime": "onnxruntime", "model": "fx_graph_runnable.py"}, "is Python code"),
        ({"ablate": True}, "JAX has no way to leave out one fusion at a time"),
        ({"batch": 4}, "--batch is for ONNX models, not for the engine jax"),
    ],
)
def test_what_cannot_be_recorded_is_one_sentence(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(FuseScopeError) as told:
        asked(**changes).plan()
    assert expected in told.value.text and "\n" not in told.value.text


PROGRAM = """HloModule jit_f

%wrapped (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %add.1 = f32[8]{0} add(%p, %p), metadata={op_name="jit(f)/add"}
}

%several (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  %c = f32[] constant(2)
  %mul.1 = f32[8]{0} multiply(%q, %q)
  ROOT %tanh.1 = f32[8]{0} tanh(%mul.1)
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %one = f32[8]{0} fusion(%x), kind=kLoop, calls=%wrapped
  ROOT %both = f32[8]{0} fusion(%one), kind=KIND, calls=%several, backend_config={"kind":"__ynn_fusion"}
}
"""  # noqa: E501 - as XLA writes it


def test_a_fusion_of_several_operators_is_found_unless_a_library_made_it() -> None:
    loop, custom = PROGRAM.replace("KIND", "kLoop"), PROGRAM.replace("KIND", "kCustom")
    assert mixed_fusion(loop) == ("both", ["multiply", "tanh"])
    assert library_fusions(loop) == ""
    assert mixed_fusion(custom) is None
    assert library_fusions(custom) == "ynn_fusion ×1"
