"""Advice that holds for devices of several vendors names what each of them calls it."""

from __future__ import annotations

import pytest

from fusescope.analysis.advice import Subject, findings
from fusescope.analysis.readers.pytorch.kineto import KINETO
from fusescope.analysis.wording.findings import remedy_text
from fusescope.analysis.wording.findings.host import CAUSES
from fusescope.analysis.wording.findings.texts import TEXTS
from tests.advice.traces import of_code
from tests.product_traces import Product, traced_side


def test_advice_to_launch_a_graph_is_not_of_one_vendor_only() -> None:
    remedies = [text.remedy for text in CAUSES.values()]
    remedies += [text.remedy for text in TEXTS.values() if text.remedy is not None]
    of_graphs = [one.one for one in remedies if "CUDA" in one.one and "raph" in one.one]
    assert len(of_graphs) >= 3
    for text in of_graphs:
        assert "HIP graphs" in text and "graph mode of CANN" in text


def test_counters_are_recorded_with_the_tool_of_the_vendor() -> None:
    """Kineto's traces are of NVIDIA, AMD and Ascend devices; its counters only of NVIDIA's."""
    hint = str(KINETO.fields["counters"])
    assert "NVIDIA" in hint
    assert "rocprofv3 --pmc" in hint and "aic_metrics" in hint


@pytest.mark.parametrize(
    ("kernel", "device", "named"),
    [
        ("nvjet_tst_{}", "unknown", "cuBLASLt"),
        ("gemm_{}", "NVIDIA H100 80GB HBM3", "cuBLASLt"),
        ("Cijk_Alik_Bljk_BBS_BH_MT{}", "unknown", "hipBLASLt"),
        ("gemm_{}", "AMD Instinct MI300X", "hipBLASLt"),
        ("aclnnMatmul_MatMulV3_{}", "Ascend 910B4", ""),
    ],
)
def test_a_product_is_tuned_by_the_library_that_runs_it(
    kernel: str, device: str, named: str
) -> None:
    """Two products at 229 TFLOP/s and one at 115, on devices of three vendors."""
    products = [
        Product(kernel.format("128x128x64"), "c10::BFloat16", 600, 4096, 4096, 4096),
        Product(kernel.format("256x128x64"), "c10::BFloat16", 1200, 4096, 4096, 8192),
        Product(kernel.format("64x64x64"), "c10::BFloat16", 1200, 4096, 4096, 4097),
    ]
    one = of_code(findings(Subject(traced_side(device, *products))), "slow_product")
    assert one is not None
    told = remedy_text(one)
    assert [name for name in ("cuBLASLt", "hipBLASLt") if name in told] == (
        [named] if named else []
    )
