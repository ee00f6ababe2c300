"""Matrix products of a unit in sentences: which of a layer they are, their time and rate, and what
the slowest could win."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.compare.explanation.product import Faster, Product
from fusescope.analysis.messages import Message, Said, listed
from fusescope.analysis.operators.projections import Projection

# As engineers call them in every language.
NAMES: dict[Projection, str] = {
    "q": "q", "k": "k", "v": "v", "qkv": "qkv", "attention_output": "o_proj", "gate": "gate",
    "up": "up", "gate_up": "gate/up", "down": "down", "lm_head": "lm_head",
}  # fmt: skip
_MOST = 5  # products that are told
_LEAST = 0.03  # of the time of all of them, below which one is not told
_KNOWN = 0.5  # of their time, of which it must be known which of a layer they are
_MUCH = 0.1  # of a unit, below which they are not told of one trace

# By the side that they are of: the baseline, the candidate.
_SHARES = Message(
    "Matrix products take {before:percent} of the device's time in the baseline and "
    "{after:percent} in the candidate."
)
_SHARE_OF_ONE = (
    Message("In the baseline matrix products take {share:percent} of the device's time."),
    Message("In the candidate matrix products take {share:percent} of the device's time."),
)
_OF_TRACE = Message("The matrix products of most time: {products}.")
_COMPUTES = Message("{name:name} {ns:duration} ({n:count} × {each:duration}, {rate:flop_rate})")
_READS = Message(
    "{name:name} {ns:duration} ({n:count} × {each:duration}, weights at {rate:bandwidth})"
)
_PLAIN = Message("{name:name} {ns:duration} ({n:count} × {each:duration})")
_FASTER = (
    Message(
        "In the baseline {name:name} could gain most: at the {others:flop_rate} that the other "
        "matrix products reach together it would take **{ns:duration}** less."
    ),
    Message(
        "In the candidate {name:name} could gain most: at the {others:flop_rate} that the other "
        "matrix products reach together it would take **{ns:duration}** less."
    ),
)
_WEIGHTS_OF_OTHER = (
    Message(
        "The baseline's file has no shapes of these products: their weights are those of the same "
        "products of the candidate."
    ),
    Message(
        "The candidate's file has no shapes of these products: their weights are those of the same "
        "products of the baseline."
    ),
)


def shares_said(
    products: tuple[Sequence[Product], Sequence[Product]], whole_ns: tuple[int, int]
) -> list[Said]:
    """Return which share of the device's time, in ns, matrix products take on each side that has
    any."""
    shares = [
        sum(each.ns for each in some) / max(1, whole)
        for some, whole in zip(products, whole_ns, strict=True)
    ]
    if all(products):
        return [_SHARES.of(before=shares[0], after=shares[1])]
    return [
        message.of(share=share)
        for message, share, some in zip(_SHARE_OF_ONE, shares, products, strict=True)
        if some
    ]


def weights_said(products: Sequence[Product], side: int) -> list[Said]:
    """Return where the weights of a side are from, which its own file does not have."""
    return [_WEIGHTS_OF_OTHER[side].of()] if any(each.is_of_other for each in products) else []


def products_of_trace(products: Sequence[Product], unit_ns: int) -> list[Said]:
    """Return the matrix products of a unit of one trace with their rates; nothing where they are
    little of it, or most are no known part of a layer."""
    known = [each for each in products if each.projection is not None]
    known_ns, ns = (sum(each.ns for each in some) for some in (known, products))
    if len(known) < 2 or known_ns < _KNOWN * ns or ns < _MUCH * unit_ns:
        return []
    return [_OF_TRACE.of(products=products_text(known))]


def products_text(products: Sequence[Product]) -> str:
    """Return the products of most time, each with how often and how long it takes, and its rate."""
    least_ns = _LEAST * sum(each.ns for each in products)
    told = [each for each in products if each.ns >= least_ns][:_MOST]
    return listed([str(_product(each)) for each in told])


def faster_said(found: Faster, side: int) -> Said:
    """Return what products of a side would save at the rate of the others."""
    return _FASTER[side].of(
        name=product_name(found.product), others=found.others_per_s, ns=found.ns
    )


def product_name(product: Product) -> str:
    """Return what engineers call a product, else the module around it, else its kernel."""
    if product.projection is not None:
        return NAMES[product.projection]
    return product.module or product.kernel


def projection_of_kernel(products: Sequence[Product], kernel: str) -> str | None:
    """Return what engineers call the product that a kernel of this short name computes; None where
    it computes several, or no known one."""
    found = {each.projection for each in products if each.kernel == kernel}
    projection = found.pop() if len(found) == 1 else None
    return None if projection is None else NAMES[projection]


def _product(each: Product) -> Said:
    rate, message = None, _PLAIN
    if each.factors is not None and each.computes:
        rate, message = each.flops_per_s, _COMPUTES
    elif each.weight_bytes_per_s is not None:
        rate, message = each.weight_bytes_per_s / 1e9, _READS
    count = max(1, round(each.count))
    return message.of(
        name=product_name(each), ns=each.ns, n=count, each=round(each.ns / count), rate=rate
    )
