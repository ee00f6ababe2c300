"""What is asked of a recording for torch, before any engine starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.record import Recording, first_variants
from fusescope.collectors.workers.placement import Placement

MAKES = "def make():\n    return None\n"


def asked(**changes: Any) -> Recording:
    names = first_variants("", "torch")
    return Recording(**{"model": "torch:mlp", "runtime": "torch", "variants": names, **changes})


def test_a_ladder_is_recorded_where_nothing_is_named() -> None:
    plan = asked().plan()
    assert plan.names == ("eager", "captured", "unfused", "fused")
    assert (plan.model, plan.path, plan.baseline) == ("torch:mlp", None, "unfused")


def test_a_function_of_a_file_is_a_model(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MAKES)
    recording = asked(model=f"{tmp_path}/net.py:make", baseline="eager")
    plan = recording.plan()
    assert (plan.model, plan.path, plan.baseline) == ("net-make", tmp_path / "net.py", "eager")
    assert recording.prepare_job(plan, tmp_path).model == f"{tmp_path}/net.py:make"


def test_what_torch_wrote_itself_is_a_model(tmp_path: Path) -> None:
    path = tmp_path / "fx_graph_runnable.py"
    path.write_text("mod = None\n")
    recording = asked(model=str(path))
    plan = recording.plan()
    assert (plan.model, plan.path) == ("fx_graph_runnable", path)
    assert recording.prepare_job(plan, tmp_path).model == str(path)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"model": "torch:mpl"}, "There is no built-in model torch:mpl"),
        ({"model": "net.onnx"}, "FILE.py:FUNCTION"),
        ({"model": "net.py"}, "FILE.py:FUNCTION"),
        ({"model": "net.py:1st"}, "FILE.py:FUNCTION"),
        ({"model": "net.py:make"}, "There is no such Python file (net.py)"),
        ({"variants": ("fusd",)}, "Did you mean 'fused'?"),
        ({"variants": ("int8",)}, "Known: eager, captured, unfused, fused, freezing"),
        ({"variants": ()}, "No variant"),
        ({"batch": 4}, "--batch is for ONNX models"),
        ({"shapes": {"x": (1,)}}, "--shape is for ONNX models"),
        ({"input_ranges": {"x": (0.0, 1.0)}}, "--input-range is for ONNX models"),
        ({"custom_op_library": Path("lib.so")}, "--custom-op-library is for ONNX models"),
        ({"runtime": "tourch"}, "Did you mean 'torch'?"),
        ({"placement": Placement(dtype="bfloat61")}, "Did you mean 'bfloat16'?"),
        (
            {"placement": Placement(dtype="float16"), "runtime": "mindspore", "model": "mynet"},
            "The engine mindspore has nothing for the option --dtype",
        ),
    ],
)
def test_what_cannot_be_recorded_is_one_sentence(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(FuseScopeError) as told:
        asked(**changes).plan()
    assert expected in told.value.text
    assert "\n" not in told.value.text
