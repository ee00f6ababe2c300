"""Public rates of the links between devices of one host, by the names that profilers write.

All links of one device together, in one direction: half of what vendors state for both. Boards
without links of their own are connected by PCI Express; those that bridges may connect, as an H100
PCIe, have no rate here. Of HCCS no document of Huawei says which direction its figure counts, and
what InfiniBand or RoCE can carry depends on the network card, which no profile names.
"""

from __future__ import annotations

from dataclasses import dataclass

from fusescope.analysis.operators.device_peaks import device_peaks


@dataclass(frozen=True)
class LinkPeaks:
    """The links of one product, `device`: their name, bytes per second of all together in one
    direction, and the vendor's document that has the figure."""

    device: str
    name: str
    bytes_per_s: float
    source: str


# By the names of products in `device_peaks`: name, 10^9 bytes a second, document. An NVLink carries
# 50 in both directions from the second to the fourth generation, 100 in the fifth; 16 lanes of PCI
# Express 3.0 carry 32 and of 4.0 64; a link of AMD's carries 128 (16 lanes at 32 GT/s), since MI350
# 153.6.
_LINKS = {
    # Six links; twelve; eighteen from Hopper on.
    "NVIDIA V100 SXM": ("NVLink", 150, "NVIDIA V100 Tensor Core GPU datasheet"),
    "NVIDIA V100 PCIe": ("PCI Express 3.0", 16, "NVIDIA V100 Tensor Core GPU datasheet"),
    "NVIDIA A100 80GB SXM": ("NVLink", 300, "NVIDIA A100 Tensor Core GPU datasheet"),
    "NVIDIA H100 SXM": ("NVLink", 450, "NVIDIA H100 Tensor Core GPU datasheet"),
    "NVIDIA H200 SXM": ("NVLink", 450, "NVIDIA H200 Tensor Core GPU datasheet"),
    "NVIDIA B200": ("NVLink", 900, "NVIDIA HGX B200 and DGX B200 datasheets"),
    "NVIDIA L40S": ("PCI Express 4.0", 32, "NVIDIA L40S datasheet"),
    "NVIDIA L4": ("PCI Express 4.0", 32, "NVIDIA L4 datasheet"),
    "NVIDIA A10": ("PCI Express 4.0", 32, "NVIDIA A10 datasheet"),
    "NVIDIA T4": ("PCI Express 3.0", 16, "NVIDIA T4 datasheet"),
    # Seven links, one to each of the other devices of a platform.
    "AMD Instinct MI300X": ("Infinity Fabric", 448, "AMD Instinct MI300X data sheet"),
    "AMD Instinct MI325X": ("Infinity Fabric", 448, "AMD Instinct MI325X data sheet"),
    "AMD Instinct MI355X": ("Infinity Fabric", 537.6, "AMD Instinct MI355X data sheet"),
}


def link_peaks(device: str | None) -> LinkPeaks | None:
    """The links of a trace's device; None where its name is not that of one product with known
    ones."""
    peaks = device_peaks(device)
    known = _LINKS.get(peaks.name) if peaks is not None else None
    if peaks is None or known is None:
        return None
    name, gigabytes, source = known
    return LinkPeaks(peaks.name, name, gigabytes * 1e9, source)
