"""Words of the table of matrix products of two phases."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis import units
from fusescope.analysis.compare.explanation.explanation import UnitTimes
from fusescope.analysis.compare.explanation.product import Product
from fusescope.analysis.messages import Message, paragraph
from fusescope.analysis.operators.device_peaks import DevicePeaks, device_peaks
from fusescope.analysis.wording.explanation import details
from fusescope.analysis.wording.explanation.works import work_said

TITLE = Message("Matrix products")
ALL = Message("All matrix products")
EXECUTIONS = Message("Executions")
SHARE = Message("Of busy time")
RATE = Message("Rate")
_BASIS = Message(
    "Times of a step as profiled, and their share of the time in which the device is busy. Rates "
    "are modelled: operations, or bytes of weights where memory sets the speed, by the sizes of "
    "the matrices."
)
_AT_MOST = Message(
    "{device:name} reads at most {memory:bandwidth} and computes at most {arithmetic:flop_rate} "
    "with 16-bit numbers, by public figures."
)
_BY_ORDER = (
    Message("The products of the baseline are told apart by their order."),
    Message("The products of the candidate are told apart by their order."),
)
_SIDES = (Message("Baseline: {work}"), Message("Candidate: {work}"))
COLUMNS = (Message("{head}, baseline"), Message("{head}, candidate"))  # where heads are one line
_WEIGHTS = Message("weights {rate:bandwidth}")


def basis_text(
    products: tuple[Sequence[Product], Sequence[Product]], device: str | None = None
) -> str:
    """Return what the figures of the table rest on, what memory and arithmetic of the device of
    both files can do where that is public, and the names of products where the file does not have
    them."""
    peaks = device_peaks(device)
    by_order = [
        message.text()
        for message, some in zip(_BY_ORDER, products, strict=True)
        if any(each.evidence == "ordered" for each in some)
    ]
    return paragraph(_BASIS.text(), "" if peaks is None else _at_most(peaks), *by_order)


def _at_most(peaks: DevicePeaks) -> str:
    return _AT_MOST.text(
        device=peaks.name,
        memory=peaks.bytes_per_s / 1e9,
        arithmetic=peaks.flops_per_s["float16"],
    )


def side_text(unit: UnitTimes, side: int) -> str:
    """Return which side this is and what its step does."""
    return _SIDES[side].text(work=str(work_said(unit.works[side])))


def executions_of(product: Product) -> str:
    """Return how often a product runs in a step, and how long each time where it runs several
    times."""
    count = max(1, round(product.count))
    if count == 1:
        return units.count(count)
    return details.EXECUTIONS.text(count=count, each=round(product.ns / count))


def rate_of(product: Product) -> str:
    """Return operations a second, or bytes of weights a second where memory sets the speed; ''
    where the sizes are not known."""
    if product.factors is None or product.weight_bytes_per_s is None:
        return ""
    if product.computes:
        return units.flop_rate(product.flops_per_s)
    return _WEIGHTS.text(rate=product.weight_bytes_per_s / 1e9)
