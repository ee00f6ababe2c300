"""What a comparison and a report say of the device that a recording ran on."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from fusescope.analysis.compare import Comparison, compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.experiment import (
    Bandwidth,
    DeviceFacts,
    DeviceState,
    Experiment,
    ProductPeak,
    Spread,
)
from fusescope.analysis.metrics.utilisation import main_type
from fusescope.analysis.quantity import Quantity
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.html import report_html
from fusescope.analysis.wording import diagnostic_sentence
from tests.factories import experiment_zip

IDLE = DeviceState(210, 405, 30, 70, 0.0, 4 * 2**20)
AT_WORK = (DeviceState(1980, 2619, 41, 310, 0.9, 2**34, 0), DeviceState(1755, 2619, 52, 0, 1, 1, 0))
H100 = DeviceFacts("cuda", "NVIDIA H100", 80 * 10**9, 50 * 2**20, "570.86", "CUDA 13.0",
                   (IDLE, *AT_WORK))  # fmt: skip
SETTINGS = {
    "provider": "CUDA", "device": "NVIDIA H100", "kernel_times": "device",
    "device_allocated_bytes": 50_000_000, "device_reserved_bytes": 64_000_000,
}  # fmt: skip


MEASURED = msgspec.structs.replace(
    H100,
    products=(
        ProductPeak("float32", 5e13, 4096, Spread(4e13, 4.5e13)),
        ProductPeak("bfloat16", 7e14, 8192, Spread(6e14, 6.5e14)),
    ),
    bandwidth=Bandwidth(None, 3e12, Spread(2.8e12, 2.9e12), 3 * 2**28),
)


def compared(device: DeviceFacts = H100, **changes: Any) -> Comparison:
    """Blocks of 10 and 5 ms by the host's clock, 9 and 4 ms by the device's."""
    times = {"unfused": [10.0] * 6, "fused": [5.0] * 6}

    def recorded(**fields: Any) -> Experiment:
        found = read(Source("a.zip", experiment_zip(times, changes=fields)))
        assert isinstance(found, Experiment)
        return found

    variants = []
    for variant in recorded().record.variants:
        device_ns = [wall - 1_000_000 for wall in variant.samples.wall_ns]
        samples = msgspec.structs.replace(variant.samples, device_ns=device_ns)
        settings = {**variant.settings, **SETTINGS}
        variants.append(msgspec.structs.replace(variant, samples=samples, settings=settings))
    experiment = recorded(variants=variants, device=device, **changes)
    return compare(*(side_of_variant(experiment, name) for name in times))


def said(comparison: Comparison) -> dict[str, str]:
    return {note.code: diagnostic_sentence(note) for note in comparison.diagnostics}


def test_the_time_by_the_devices_own_clock_stands_beside_the_headline() -> None:
    notes = said(compared())
    assert notes["device_events"] == (
        "Candidate: Between two events of the device around it, a run typically takes 4.00 ms; by "
        "the clock of the host, which waits for the device, 5.00 ms."
    )
    assert notes["device_memory"].endswith("50 MB allocated, 64 MB reserved.")
    assert not {"device_busy", "device_state_unknown", "stopped_device"} & set(notes)


@pytest.mark.parametrize(
    ("busy", "used", "warns"),
    [(0.05, 2**30, False), (0.06, 0, True), (0.0, 2**30 + 1, True), (None, None, False)],
)
def test_other_work_on_the_device_is_a_doubt(
    busy: float | None, used: int | None, warns: bool
) -> None:
    before = DeviceState(busy=busy, used_bytes=used)
    notes = compared(msgspec.structs.replace(H100, states=(before, *AT_WORK))).diagnostics
    found = [note.severity for note in notes if note.code == "device_busy"]
    assert found == (["warning"] if warns else [])


def test_where_nothing_tells_clocks_that_is_said() -> None:
    notes = said(compared(DeviceFacts("mps", "Apple M4")))
    assert notes["device_state_unknown"].startswith(
        "Nothing tells clocks and temperature of Apple M4."
    )


def test_a_device_that_failed_is_a_doubt() -> None:
    outcome = compared().baseline.experiment
    assert outcome is not None
    failed = msgspec.structs.replace(outcome.record.outcome, stopped="device", blocks=6)
    expected = "The device failed after 6 blocks, which ended the recording."
    assert said(compared(outcome=failed))["stopped_device"] == expected


def test_a_report_names_the_device_its_driver_and_its_clocks() -> None:
    page = report_html(compared())
    for text in ("NVIDIA H100 (cuda)", "570.86, CUDA 13.0", "1755 – 1980 MHz", "41 – 52 °C"):
        assert text in page


def test_peaks_of_the_device_that_were_measured_are_its_roofs() -> None:
    """By data type; those of the processor are not, whatever the record has of them."""
    comparison = compared(MEASURED)
    of_type = main_type(comparison.baseline.trace)
    for roofs in comparison.roofs:
        assert roofs.tops.by_type == {"float32": 5e13, "bfloat16": 7e14}
        assert roofs.bandwidth == Quantity(3e12, "byte/s", "measured")
        assert roofs.peak.value == (5e13 if of_type == "float32" else None)
        assert roofs.device is None and roofs.caches == ()
    without = compared()
    assert without.roofs[0].tops.by_type is None and without.roofs[0].bandwidth.value is None


def test_a_report_has_the_peaks_of_the_device() -> None:
    page = report_html(compared(MEASURED))
    assert "matrix product peak of the device, bfloat16" in page
    assert "700 TFLOP/s, measured with 8192 × 8192 matrices" in page.replace("\u202f", " ")
    assert "bandwidth of the device's memory".replace("'", "&#39;") in page
