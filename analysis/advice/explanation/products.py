"""Matrix products that run at a lower rate than the others, as savings of a unit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusescope.analysis.advice.explanation.explanation import Saving
from fusescope.analysis.advice.kinds.products import slow_product
from fusescope.analysis.advice.subject import Subject
from fusescope.analysis.compare.explanation.explanation import KernelTime
from fusescope.analysis.compare.explanation.product import Product
from fusescope.analysis.operators.factors import factors_of
from fusescope.analysis.trace import Trace, Value


def slow_products(subject: Subject, products: Sequence[Product]) -> list[Saving]:
    """Return what large matrix products would take less at the rate of the others, of a unit, as
    the finding has it, with which of these products each is."""
    found = slow_product(subject)
    if isinstance(found, str):
        return []
    savings = []
    for finding in found:
        values = finding.values
        ns = _number(values["time_ns"])
        executions = _number(values["executions"])
        name, inputs = str(values["operator"]), str(values["inputs"])
        savings.append(
            Saving(
                "product",
                round(_number(values["saved_ns"])),
                max(1, round(executions)),
                (inputs,) if inputs else (),
                (KernelTime(name, executions, round(ns), "matrix_product"),),
                evidence="ordered",
                values={
                    "rate": _number(values["rate"]),
                    "others": _number(values["others"]),
                    **_projection(inputs, products),
                },
                calls=_calls(subject.trace, name, inputs),
            )
        )
    return savings


def _projection(inputs: str, products: Sequence[Product]) -> dict[str, str]:
    """Return which product of a layer has these inputs; nothing where several do or none."""
    factors = factors_of(inputs)
    found = {each.projection for each in products if factors and each.factors == factors}
    projection = found.pop() if len(found) == 1 else None
    return {} if projection is None else {"projection": projection}


def _calls(trace: Trace, name: str, inputs: str) -> np.ndarray:
    """Return the rows of the calls of an operator over tensors of these shapes."""
    texts = zip(trace.texts("name"), trace.texts("inputs"), strict=True)
    of = [at for at, each in enumerate(texts) if each == (name, inputs)]
    calls: np.ndarray = np.flatnonzero(np.isin(trace.calls["operator"].to_numpy(), of))
    return calls


def _number(value: Value) -> float:
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return float(value)
