"""Settings: what a variant told its engine, as the conditions of patterns see it."""

from __future__ import annotations

from typing import Literal

from fusescope.analysis.compare.side import Side
from fusescope.analysis.graph import Graph
from fusescope.analysis.patterns import LEVELS, Conditions, Level

ENGINE = "onnxruntime"  # the one whose conditions are known
_PROVIDER = "CPUExecutionProvider"  # and the one of its execution providers
OTHER_MODEL = "model:"  # how variants begin that run one
DYNAMIC = "dynamic"  # the variant whose dimensions are as the model declares them
_LEVEL_OF: dict[str, Level] = {
    "eager": "none",
    "unfused": "none",
    "basic": "basic",
    "extended": "extended",
    "fused": "all",
    DYNAMIC: "all",
}


def conditions_of(side: Side) -> Conditions | None:
    """What the engine was told for this side; None for engines, execution providers and variants
    not known, and for another model than the recorded one, whose graph is not in the recording."""
    if side.experiment is None or side.variant is None or is_other_model(side):
        return None
    record = side.experiment.record
    if not is_of_engine(side) or _has_other_provider(side):
        return None
    kind, _, optimizer = side.own_name.partition(":")
    if kind not in ("without", "only"):
        optimizer = ""
    level = _level(side.variant.settings.get("graph_optimization"), kind)
    if level is None or record.model.opset is None:
        return None
    return Conditions(
        level=level,
        opset=record.model.opset,
        disabled=frozenset((optimizer,)) if kind == "without" else frozenset(),
        only=optimizer if kind == "only" else None,
        blocked_layout=_has_blocked_layout(side.graph) or level != "all" or bool(optimizer),
    )


def conditions_untimed(variant: str, opset: int | None, made: Graph) -> Conditions | None:
    """What the engine was told for a variant that is no more than a level of it, of which nothing
    but the graph `made` is known; None for other variants."""
    level = _LEVEL_OF.get(variant)
    if level is None or opset is None:
        return None
    blocked = _has_blocked_layout(made) or level != "all"
    return Conditions(level=level, opset=opset, blocked_layout=blocked)


def is_of_engine(side: Side) -> bool:
    """Whether FuseScope recorded the side with the engine whose conditions are known."""
    return side.engine is not None and side.engine.name == ENGINE


def is_other_model(side: Side) -> bool:
    """Whether another model than the recorded one ran."""
    return side.variant is not None and side.own_name.startswith(OTHER_MODEL)


def why_no_conditions(side: Side) -> Literal["other_engine", "other_model", "other_provider"]:
    """Why `conditions_of` has none."""
    if is_other_model(side):
        return "other_model"
    is_provider = is_of_engine(side) and _has_other_provider(side)  # others call theirs CPU
    return "other_provider" if is_provider else "other_engine"


def _has_other_provider(side: Side) -> bool:
    """Whether an execution provider ran it that is not the one whose conditions are known."""
    return side.provider not in ("", _PROVIDER)


def is_dynamic(side: Side) -> bool:
    """Whether FuseScope recorded the side with the dimensions of its inputs left open."""
    return side.variant is not None and side.own_name == DYNAMIC


def _level(told: object, kind: str) -> Level | None:
    if told in LEVELS:
        return LEVELS[LEVELS.index(told)]
    return "all" if kind in ("without", "only") else _LEVEL_OF.get(kind)


def _has_blocked_layout(graph: Graph | None) -> bool:
    """True where the engine moved anything to channel blocks, which it does at level all and not
    on every processor."""
    return graph is not None and any(node.domain.endswith("nchwc") for node in graph.nodes)
