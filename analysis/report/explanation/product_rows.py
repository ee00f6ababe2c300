"""Matrix products of two phases of serving as a table: a row each, with both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fusescope.analysis import units
from fusescope.analysis.compare.explanation.explanation import Explanation
from fusescope.analysis.compare.explanation.product import Product
from fusescope.analysis.report.text import with_unit
from fusescope.analysis.text import clean_text
from fusescope.analysis.units import Column, column_of
from fusescope.analysis.wording.explanation import details
from fusescope.analysis.wording.explanation import product_table as words
from fusescope.analysis.wording.explanation.products import product_name

_MOST = 8  # rows
_LEAST = 0.03  # of the time of all products of a side, below which one has no row
_NAME_CHARS = 60


@dataclass(frozen=True)
class ProductCells:
    """A product on one side: how often, its time in a step, its share of the device's time as text
    and in percent of the width of its bar, and its rate."""

    executions: str
    time: str
    share: str
    width: float
    rate: str


@dataclass(frozen=True)
class ProductRow:
    """A product on both sides, None on a side that has none."""

    name: str
    sides: tuple[ProductCells | None, ProductCells | None]


@dataclass(frozen=True)
class ProductTable:
    """Products, the one of the largest share first; the last row is all of them. `heads` are of the
    columns of a side."""

    title: str
    sides: tuple[str, str]
    heads: tuple[str, str, str, str]
    rows: tuple[ProductRow, ...]
    basis: str


def texts_of(cells: ProductCells | None) -> tuple[str, str, str, str]:
    """Return the cells of one side in the order of the heads, a dash for what is not there."""
    if cells is None:
        return (units.MISSING,) * 4
    return (cells.executions, cells.time, cells.share, cells.rate or units.MISSING)


def product_table(explanation: Explanation) -> ProductTable | None:
    """Return the matrix products of two phases; None of other pairs, and where no file has any."""
    if explanation.difference != "phases" or not any(explanation.products):
        return None
    unit = explanation.unit
    sides = [_by_name(products) for products in explanation.products]
    busy = [max(1, ns) for ns in unit.busy_ns]
    totals = [max(1, sum(each.ns for each in products)) for products in explanation.products]
    largest = {
        key: max(side[key].ns / of for side, of in zip(sides, totals, strict=True) if key in side)
        for key in dict.fromkeys([*sides[0], *sides[1]])
    }
    told = sorted((key for key in largest if largest[key] >= _LEAST), key=lambda key: -largest[key])
    sums = [sum(each.ns for each in products) for products in explanation.products]
    times = column_of([*sums, *(side[key].ns for side in sides for key in told if key in side)])
    rows = [
        ProductRow(
            clean_text(key[0], _NAME_CHARS),
            (_cells(sides[0].get(key), busy[0], times), _cells(sides[1].get(key), busy[1], times)),
        )
        for key in told[:_MOST]
    ]
    before, after = explanation.products
    whole = (_total(before, busy[0], times), _total(after, busy[1], times))
    time = with_unit(details.TIME.text(), times.unit)
    return ProductTable(
        words.TITLE.text(),
        (words.side_text(unit, 0), words.side_text(unit, 1)),
        (words.EXECUTIONS.text(), time, words.SHARE.text(), words.RATE.text()),
        (*rows, ProductRow(words.ALL.text(), whole)),
        words.basis_text(explanation.products, explanation.device),
    )


def _by_name(products: Sequence[Product]) -> dict[tuple[str, int], Product]:
    """Return products by name and place among those of one name, which the other side may have
    too."""
    found: dict[tuple[str, int], Product] = {}
    for each in products:
        name = product_name(each)
        place = sum(1 for known, _ in found if known == name)
        found[name, place] = each
    return found


def _cells(product: Product | None, busy_ns: int, times: Column) -> ProductCells | None:
    if product is None:
        return None
    return ProductCells(
        words.executions_of(product),
        times.number(product.ns),
        units.percent(product.ns / busy_ns),
        min(100.0, 100 * product.ns / busy_ns),
        words.rate_of(product),
    )


def _total(products: Sequence[Product], busy_ns: int, times: Column) -> ProductCells | None:
    """Return what all products of a side take; None where it has none."""
    if not products:
        return None
    ns = sum(each.ns for each in products)
    count = units.count(round(sum(each.count for each in products)))
    share = ns / busy_ns
    return ProductCells(count, times.number(ns), units.percent(share), min(100.0, 100 * share), "")
