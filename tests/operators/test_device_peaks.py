"""Public peaks of devices: only names of one product have any, each by data type."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.operators.device_peaks import device_peaks

ROOT = Path(__file__).resolve().parents[2]


# Names as CUDA, ROCm, TensorRT and CANN write them; figures of the vendors' documents, dense.
@pytest.mark.parametrize(
    ("name", "product", "data_type", "tera", "gigabytes"),
    [
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM", "bfloat16", 989.4, 3352),
        ("NVIDIA H100 PCIe", "NVIDIA H100 PCIe", "float8", 1513, 2000),
        ("NVIDIA H100 NVL", "NVIDIA H100 NVL", "float16", 835.5, 3900),
        ("NVIDIA H200", "NVIDIA H200 SXM", "tf32", 494.5, 4800),
        ("NVIDIA A100-SXM4-40GB", "NVIDIA A100 40GB", "int8", 624, 1555),
        ("NVIDIA A100 80GB PCIe", "NVIDIA A100 80GB PCIe", "tf32", 156, 1935),
        ("A100-SXM4-80GB", "NVIDIA A100 80GB SXM", "float64", 19.5, 2039),
        ("Tesla V100-SXM2-16GB", "NVIDIA V100 SXM", "float16", 125, 900),
        ("NVIDIA B200", "NVIDIA B200", "float8", 4500, 8000),
        ("NVIDIA L40S", "NVIDIA L40S", "float32", 91.6, 864),
        ("Tesla T4", "NVIDIA T4", "int8", 130, 320),
        ("NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090", "bfloat16", 165.2, 1008),
        ("AMD Instinct MI250X", "AMD Instinct MI250X (one die)", "float16", 191.5, 1638.4),
        ("AMD Instinct MI300X VF", "AMD Instinct MI300X", "bfloat16", 1307.4, 5300),
        ("AMD Instinct MI355X", "AMD Instinct MI355X", "float8", 5033.2, 8000),
        ("Ascend310P3", "Ascend 310P3", "int8", 140, 204.8),
    ],
)
def test_names_of_products(
    name: str, product: str, data_type: str, tera: float, gigabytes: float
) -> None:
    found = device_peaks(name)
    assert found is not None and found.source
    assert found.name == product
    assert found.flops_per_s[data_type] == pytest.approx(tera * 1e12)
    assert found.bytes_per_s == pytest.approx(gigabytes * 1e9)


@pytest.mark.parametrize(
    "name",
    [
        None, "", "CPU", "GPU", "NVIDIA A100-SXM4-80GB MIG 1g.10gb", "NVIDIA H100", "NVIDIA A10G",
        "NVIDIA A100-PG509-200", "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GH200 480GB",
        "NVIDIA H100 80GB HBM3 MIG 3g.40gb", "GRID A100X-40C", "AMD Instinct MI250X/MI250",
        "AMD GPU, compute capability 9.4", "gfx942", "Ascend910B", "TPU v4", "NVIDIA Example GPU",
        "NVIDIA H100 80GB HBM3, NVIDIA H100 PCIe", "NVIDIA H100 80GB HBM3, CPU",
        "Tesla V100-DGXS-32GB",
    ],
)  # fmt: skip
def test_no_figure_is_guessed(name: str | None) -> None:
    """Parts of a device, families, several kinds at once and what is not in the table."""
    assert device_peaks(name) is None


def test_several_devices_of_one_kind_are_that_kind() -> None:
    assert device_peaks("NVIDIA H200, NVIDIA H200") is device_peaks("NVIDIA H200") is not None


def test_types_that_a_device_lacks_have_no_peak() -> None:
    volta = device_peaks("Tesla V100-PCIE-32GB")
    assert volta is not None
    assert set(volta.flops_per_s) == {"float64", "float32", "float16"}


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_text_around_a_name_is_passed_over(before: str, after: str) -> None:
    name = f"{before}X H200X{after}"
    assert device_peaks(name) is None
    assert device_peaks("A" * 100_000 + " H200") is None


@pytest.mark.parametrize("page", ["devices.md", "zh/devices.md"])
def test_the_docs_have_the_figures(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for name in ("NVIDIA H200", "AMD Instinct MI300X", "Tesla T4", "Ascend310P3"):
        found = device_peaks(name)
        assert found is not None
        rates = [found.flops_per_s.get(kind) for kind in ("float64", "float32", "tf32")]
        shown = [f"{rate / 1e12:g}" if rate else "–" for rate in rates]
        assert f"| {found.name} | {' | '.join(shown)} |" in text
        assert f"| {found.bytes_per_s / 1e9:g} | {found.source} |" in text
