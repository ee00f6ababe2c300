"""Traces of devices that are known by name: their public peaks as roofs, each of its data type."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.roofline import roofline_picture
from fusescope.analysis.compare.roofs import under_roofs
from fusescope.analysis.compare.side import Side, side_of_trace
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.operators.number_names import type_in_name
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.report.exports.roofline_json import roofline_values
from fusescope.analysis.trace import Meta
from fusescope.analysis.wording import device_note, roofline_notes
from fusescope.analysis.wording.roofline import line_name
from tests.product_traces import Product, traced_side

H100 = "NVIDIA H100 80GB HBM3"
# Products (kernel, type, µs, m, k, n) of [8944, 1024] x [1024, 2816]:
# 2 · 8944 · 1024 · 2816 = 51 581 550 592 FLOPs.
SIZE = (8944, 1024, 2816)
FLOPS = 2 * 8944 * 1024 * 2816
HALF = Product("sm90_xmma_gemm_bf16bf16_bf16f32", "c10::BFloat16", 84, *SIZE)
TF32 = Product("sm90_xmma_gemm_f32f32_tf32f32_f32", "float", 150, *SIZE)
FLOAT = Product("ampere_sgemm_128x64_tn", "float", 2000, *SIZE)
COMPLEX = Product("ampere_cgemm_64x64_tn", "c10::complex<float>", 50, *SIZE)


def rows(of: Side, assumptions: Assumptions | None = None) -> pd.DataFrame:
    under = under_roofs(assumptions or Assumptions(), of).operators
    named = by_operator(of.trace)["name"].astype(str)
    return under.assign(name=named).set_index("name")


def test_each_data_type_has_its_own_peak() -> None:
    found = rows(traced_side(H100, HALF, TF32, FLOAT))
    assert found["number_type"].tolist() == ["bfloat16", "tf32", "float32"]
    # 51.58 GFLOP in 84 µs are 614 TFLOP/s, of 989.4; in 150 µs 344 of 494.7; in 2 ms 25.8 of 66.9.
    for kernel, us, peak in (
        (HALF.kernel, 84, 989.4),
        (TF32.kernel, 150, 494.7),
        (FLOAT.kernel, 2000, 66.9),
    ):
        row = found.loc[kernel]
        assert row["attained_flops_per_s"] == pytest.approx(FLOPS / us * 1e6)
        assert row["utilisation"] == pytest.approx(FLOPS / us * 1e6 / (peak * 1e12))
    # Both inputs and the output once: (8944·1024 + 1024·2816 + 8944·2816) · 2 B.
    moved = 2 * (8944 * 1024 + 1024 * 2816 + 8944 * 2816)
    assert found.loc[HALF.kernel, "bytes"] == moved
    assert found.loc[HALF.kernel, "bound_by"] == "compute"  # 691 FLOP/B · 3.35 TB/s are 2 PFLOP/s


def test_the_figures_are_assumed_and_say_whose_they_are() -> None:
    given = traced_side(H100, HALF)
    roofs = under_roofs(Assumptions(), given).roofs
    assert (roofs.peak.value, roofs.peak.basis) == (989.4e12, "assumed")
    assert (roofs.bandwidth.value, roofs.bandwidth.basis) == (3352e9, "assumed")
    assert "NVIDIA H100 SXM" in device_note(roofs) and "whitepaper" in device_note(roofs)
    told = roofline_values(given)["roofs"]["device"]
    assert told["name"] == "NVIDIA H100 SXM" and told["flops_per_s"]["float8"] == 1978.9e12
    comparison = compare(given, traced_side("AMD Instinct MI300X", HALF))
    picture = roofline_picture(comparison)
    assert picture is not None
    assert {re.sub(r"(?<=\d)\s(?=\d)", "", line_name(line)) for line in picture.lines} == {
        "bfloat16 peak ~989 TFLOP/s, baseline",
        "bfloat16 peak ~1307 TFLOP/s, candidate",
        "main memory ~3352 GB/s, baseline",
        "main memory ~5300 GB/s, candidate",
    }
    notes = roofline_notes(comparison.roofs, picture)
    assert any("NVIDIA H100 SXM" in n for n in notes) and any("MI300X" in n for n in notes)


def test_what_a_user_enters_wins() -> None:
    given = traced_side(H100, HALF)
    entered = Assumptions(peak_flops_per_s=1e15)
    assert rows(given, entered)["utilisation"].tolist() == pytest.approx([FLOPS / 84 * 1e6 / 1e15])
    roofs = under_roofs(entered, given).roofs
    assert roofs.bandwidth.value == 3352e9 and roofs.device is not None
    both = Assumptions(peak_flops_per_s=1e15, bandwidth_bytes_per_s=1e12)
    assert under_roofs(both, given).roofs.device is None


@pytest.mark.parametrize(
    ("device", "product", "reason"),
    [
        ("NVIDIA H100", HALF, "no_peak"),  # SXM, PCIe or NVL
        (H100, COMPLEX, "no_type_peak"),
        ("Tesla V100-SXM2-16GB", HALF, "no_type_peak"),  # no bfloat16
    ],
)
def test_nothing_is_guessed(device: str, product: Product, reason: str) -> None:
    given = traced_side(device, product)
    (row,) = rows(given).to_dict("records")
    assert pd.isna(row["utilisation"]) and row["roofline_reason"] == reason
    assert under_roofs(Assumptions(), given).roofs.peak.value is None


def test_kernels_without_shapes_say_their_type_by_their_names() -> None:
    """A replayed graph has no shapes: of 5, 3 and 2 µs two kernels multiply bfloat16, so its peak
    is that of the table of products; without a type in any name it is not known."""
    tensile = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x32x64_MI16x16x1"
    named = traced(("Cijk_Alik_Bljk_SB_MT64x64x32", 3), (tensile, 5), ("gemm_kernel", 2))
    told = under_roofs(Assumptions(), named).roofs.peak
    assert (told.value, told.basis) == (1307.4e12, "assumed")
    silent = under_roofs(Assumptions(), traced(("gemm_kernel", 2))).roofs.peak
    assert (silent.value, silent.reason) == (None, "no_number_type")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Cijk_Alik_Bljk_HHS_BH_MT64x64x32", "float16"),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", "bfloat16"),
        ("sm80_xmma_gemm_tf32f32_tf32f32_f32_tn_n_tilesize128x128x16", "tf32"),
        ("cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_tn_align8", "bfloat16"),
        ("void gemm<__half, float>(int)", "float16"),
        ("ampere_sgemm_128x64_tn", None),
    ],
)
def test_a_type_in_a_name(name: str, kind: str | None) -> None:
    assert type_in_name(name) == kind


def traced(*kernels: tuple[str, int]) -> Side:
    return side_of_trace(
        build_trace(
            Meta("kineto", "PyTorch profiler", device="AMD Instinct MI300X"),
            {
                "name": [name for name, _ in kernels],
                "op_class": ["matrix_product"] * len(kernels),
                "dur_ns": [us * 1000 for _, us in kernels],
            },
        )
    )
