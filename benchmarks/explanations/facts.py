"""Facts that an expert states of pairs of real traces, looked for in what is said of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.explanation.explanation_json import explanation_values
from fusescope.analysis.trace import Trace

_TRACES = Path(__file__).parents[3] / "shared" / "traces"
_SCALES = {"ms": 1e6, "us": 1e3, "TFLOP/s": 1e12}  # of values in ns, and of rates


@dataclass(frozen=True)
class Case:
    """One pair: which facts its explanation has, and which not, and the leading sentence."""

    name: str
    known: tuple[str, ...]
    unknown: tuple[str, ...]
    sentence: str


def cases() -> Iterator[Case]:
    """Yield the pairs of `expert.json`, none where it is not there."""
    path = _TRACES / "expert.json"
    if not path.exists():
        return
    for case in json.loads(path.read_text())["cases"]:
        if case["kind"] == "pair":
            yield _case(case)


def _case(case: dict[str, Any]) -> Case:
    sides = []
    for file in case["files"]:
        trace = read_path(_TRACES / file["path"])
        assert isinstance(trace, Trace)
        sides.append(side_of_trace(trace))
    explanation = compare(sides[0], sides[1]).explanation
    values = explanation_values(explanation)
    assert explanation is not None and values is not None
    numbers = list(_numbers(values))
    count = explanation.unit.counts[0]
    known: list[str] = []
    unknown: list[str] = []
    for fact in case["facts"]:
        (known if _is_there(fact, numbers, count) else unknown).append(fact["name"])
    return Case(case["id"], tuple(known), tuple(unknown), values["sentence"])


def _is_there(fact: dict[str, Any], numbers: list[float], count: int) -> bool:
    """True where a number of the explanation, of one unit or of all, is the fact's."""
    value, scale = fact["value"], _SCALES.get(fact["unit"], 1)
    near = _tolerance(fact["tolerance"], value)
    return any(
        abs(abs(number / scale) - value) <= near or abs(abs(number / scale * count) - value) <= near
        for number in numbers
    )


def _tolerance(text: str, value: float) -> float:
    if text == "exact":
        return 1e-9
    return abs(value) * float(text[:-1]) / 100 if text.endswith("%") else float(text)


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for each in value:
            yield from _numbers(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)
