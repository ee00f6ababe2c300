"""Causes: what changed between two sides, fusion or something else that the files show."""

from __future__ import annotations

import re
from typing import Literal

import msgspec
import numpy as np

from fusescope.analysis.compare.groups.fusion import Fusion, Kind
from fusescope.analysis.compare.ledger import Ledger
from fusescope.analysis.compare.multiple.rungs import StepCode, steps_between
from fusescope.analysis.compare.side import Side, environments_differ
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.text import clean_text

CauseCode = Literal[
    "fusion", "lost_fusion", "engine", "precision", "device", "layout", "one_graph", "capture",
    "code_generation", "compilation",
]  # fmt: skip
# Steps between an engine's variants that are not fusion, although what fuses takes them, too.
OTHER_STEPS: tuple[CauseCode, ...] = ("one_graph", "capture", "code_generation", "compilation")
_FUSES: tuple[StepCode, ...] = ("fusion", "all_optimisations", "basic", "extended", "layout")

_FUSED: tuple[Kind, ...] = ("fused", "folded", "removed")
_SPLIT: tuple[Kind, ...] = ("split",)
_DTYPE = re.compile(r"^([a-z]+\d+)\[[^\]]*\](?::(\w+))?")
_REORDERS = ("Reorder", "Transpose", "TransData")
_MIN_SHARE = 0.5  # of the time: what most of it ran in
_PRECISIONS = ("float", "bfloat", "int8", "uint8")


class Cause(msgspec.Struct, frozen=True):
    """One thing that differs; `before` and `after` say how, '' where there is nothing to say."""

    code: CauseCode
    before: str = ""
    after: str = ""


def causes(baseline: Side, candidate: Side, fusion: Fusion, ledger: Ledger) -> tuple[Cause, ...]:
    """What changed: the engine, precision, device and layout where the files tell of them, what
    else lies between two variants of an engine, then fusion.

    Fusion comes first where it alone changed: where groups with fewer operators than before make up
    at least half of all gains and losses of groups. Where groups with more operators do, fusions
    were lost. Layouts of two engines are not set beside each other: each has its own.
    """
    sides = (baseline, candidate)
    found: list[Cause] = []
    apart = environments_differ(baseline, candidate)
    if apart:
        found.append(Cause("engine", *engine_names(baseline, candidate)))
    precisions = [precision_of(side) for side in sides]
    if all(precisions) and precisions[0] != precisions[1]:
        found.append(Cause("precision", *precisions))
    devices = [clean_text(side.trace.meta.device or "", 80) for side in sides]
    if all(devices) and devices[0] != devices[1]:
        found.append(Cause("device", *devices))
    layouts = [_commonest(side, 2) for side in sides]
    if all(layouts) and layouts[0] != layouts[1] and not apart:
        found.append(Cause("layout", *layouts))
    steps = () if apart else _steps(baseline, candidate)
    others = [Cause(code) for code in OTHER_STEPS if code in steps]
    if others:  # steps of the engine say whether fusion is one of them, whichever side comes first
        fuses = any(code in _FUSES for code in steps)
        return (*found, *others, *([Cause("fusion")] if fuses else []))
    if _make_up_half(ledger, _FUSED):
        return (*found, Cause("fusion"))
    if _make_up_half(ledger, _SPLIT):
        return (*found, Cause("lost_fusion"))
    if not apart and "layout" not in {cause.code for cause in found} and _reorders(fusion):
        found.append(Cause("layout"))
    return tuple(found)


def _steps(baseline: Side, candidate: Side) -> tuple[StepCode, ...]:
    if baseline.environment != candidate.environment:
        return ()
    engine = baseline.engine.name if baseline.engine else ""
    return steps_between(engine, baseline.own_name, candidate.own_name)


def engine_names(baseline: Side, candidate: Side) -> tuple[str, str]:
    """What the engines of two sides are called beside each other, with their environments or their
    providers where these alone differ. ('', '') where a side does not say."""
    one, other = baseline.engine, candidate.engine
    if one is None or other is None:
        return "", ""
    if one.name != other.name:
        return clean_text(one.name, 60), clean_text(other.name, 60)
    if baseline.environment != candidate.environment:
        return clean_text(baseline.environment, 60), clean_text(candidate.environment, 60)
    return clean_text(baseline.provider, 60), clean_text(candidate.provider, 60)


def _make_up_half(ledger: Ledger, kinds: tuple[Kind, ...]) -> bool:
    rows = ledger.rows
    size = rows["gain_ns"].abs().fillna(0.0)
    theirs = float(size[rows["kind"].isin(kinds)].sum())
    return theirs > 0 and theirs >= float(size.sum()) / 2


def _reorders(fusion: Fusion) -> bool:
    """Whether operators that change the layout stand between the groups of one side alone."""
    counts = [
        sum(operator.op_type.startswith(_REORDERS) for operator in inserted)
        for inserted in fusion.inserted
    ]
    return (counts[0] > 0) != (counts[1] > 0)


def precision_of(side: Side) -> str:
    """The type of numbers in which most of the time was spent; '' where that is not known."""
    if side.is_quantised:
        return "int8"
    dtype = _commonest(side, 1)
    return dtype if dtype.startswith(_PRECISIONS) else ""


def _commonest(side: Side, part: int) -> str:
    """The type (1) or layout (2) of the first input of most of the operators' time."""
    table = by_operator(side.trace)
    inputs = table["inputs"].array
    found = [_DTYPE.match(str(text)) for text in inputs.categories]
    labels = np.array(
        [*((match[part] or "") if match else "" for match in found), ""], dtype=object
    )
    time = table["total_ns"].astype(float).groupby(labels[inputs.codes]).sum()
    if time.empty or float(time.max()) < _MIN_SHARE * float(time.sum()):
        return ""
    return str(time.idxmax())
