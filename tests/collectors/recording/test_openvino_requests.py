"""What is asked of a recording for OpenVINO, before any engine starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.openvino.names import precision_of, threads_of
from fusescope.collectors.record import Recording, first_variants, variant_names


def asked(**changes: Any) -> Recording:
    names = first_variants("mobilenetv2", "openvino")
    return Recording(
        **{"model": "mobilenetv2", "runtime": "openvino", "variants": names, **changes}
    )


def test_it_takes_the_models_of_onnx_runtime(tmp_path: Path) -> None:
    plan = asked(batch=2, shapes={"input": (2, 3, 64, 64)}).plan()
    assert plan.names == ("marked", "fused")
    assert (plan.model, plan.path) == ("mobilenetv2", None)
    (tmp_path / "net.onnx").write_bytes(b"x")
    plan = asked(model=str(tmp_path / "net.onnx")).plan()
    assert (plan.model, plan.path) == ("net", tmp_path / "net.onnx")


def test_what_copies_results_out_is_no_baseline_by_itself() -> None:
    assert asked().plan().baseline == "fused"
    assert asked(variants=("latency", "marked")).plan().baseline == "latency"
    assert asked(variants=("marked",)).plan().baseline == "marked"
    assert asked(baseline="marked").plan().baseline == "marked"


def test_threads_and_precision_are_in_the_name() -> None:
    (variant,) = asked(variants=("threads:1",)).plan().variants
    assert variant.threads == threads_of(variant.name) == 1
    assert threads_of("fused") == 0
    assert (precision_of("bf16"), precision_of("throughput")) == ("bf16", "f32")
    assert list(variant_names("openvino")) == ["marked", "fused", "latency", "throughput", "bf16"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"ablate": True}, "The engine openvino has nothing for the option --ablate"),
        ({"spin": True}, "nothing for the option --spin"),
        ({"custom_op_library": Path("x.so")}, "nothing for the option --custom-op-library"),
        ({"variants": ("unfused",)}, "Known: marked, fused, latency, throughput, bf16, threads:"),
        ({"variants": ("threads:0",)}, "The engine openvino has no variant 'threads:0'"),
        ({"variants": ("threads:4096",)}, "threads:4096"),
        ({"model": "mobilenetv3"}, "mobilenetv3"),
        ({"model": "jax:mlp"}, "fusescope collect jax:mlp --runtime jax"),
    ],
)
def test_what_cannot_be_recorded_is_one_sentence(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(FuseScopeError) as told:
        asked(**changes).plan()
    assert expected in told.value.text and "\n" not in told.value.text
