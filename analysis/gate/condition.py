"""Condition: what must not be true of a comparison, as users write it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages.errors.gating.conditions import ConditionsError
from fusescope.analysis.spelling import nearest

Relation = Literal["<", "<=", ">", ">=", "==", "!="]
Direction = Literal["slower", "faster", "up", "down"]
# ratio: t_baseline / t_candidate; time: a time of runs; value: a figure of the candidate, or its
# change; count: of fusions and operators; loss: a part of the baseline's time; cause: what changed
# between two traces, as a part of it.
Kind = Literal["ratio", "time", "value", "count", "loss", "cause"]

DEFAULT_CONFIDENCE = 0.95

QUANTITIES: Mapping[str, Kind] = MappingProxyType(
    {
        "speedup": "ratio",
        "latency": "time",
        "p50": "time",
        "p90": "time",
        "p95": "time",
        "p99": "time",
        "cpu_time": "time",
        "small_op_ratio": "value",
        "short_op_ratio": "value",
        "light_operators": "value",
        "light_time": "value",
        "compute_utilisation": "value",
        "bytes_moved": "value",
        "memory": "value",
        "output_difference": "value",
        "agreement_top1": "value",
        "agreement_top5": "value",
        "operators": "count",
        "fusion.lost": "count",
        "fusion.won": "count",
        "fusion.changed": "count",
        "fusion.count": "count",
        "fusion.lost_gain": "loss",
        "explanation.slower": "cause",
        "explanation.cause": "cause",
    }
)
WITH_ARGUMENT = "fusion.count"
# What is counted in operators of both sides, and figures whose change is.
_OF_BOTH = ("fusion.lost", "fusion.won", "fusion.changed", "fusion.lost_gain")
_CHANGE_OF_OPERATORS = (
    "small_op_ratio", "short_op_ratio", "light_operators", "light_time", "bytes_moved",
)  # fmt: skip
_BOUNDS: tuple[Relation, ...] = ("<=", ">=", "<", ">")
_EXACT: tuple[Relation, ...] = ("==", "!=")
# What is measured is never equal to something.
_RELATIONS: Mapping[Kind, tuple[Relation | Direction, ...]] = MappingProxyType(
    {
        "ratio": _BOUNDS,
        "time": ("slower", "faster"),
        "value": (*_BOUNDS, "up", "down"),
        "count": (*_BOUNDS, *_EXACT),
        "loss": _BOUNDS,
        "cause": ("slower",),
    }
)
NOISY: tuple[Kind, ...] = ("ratio", "time", "loss")  # that have an interval
_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_ARGUMENT = re.compile(r"\(\s*([\w.:]+)\s*\)")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Condition:
    """One condition that fails a gate where it is true.

    `limit` is a ratio, a count or a fraction (3 % is 0.03); with a direction, that of the change.
    `confidence` is that of the interval which has to be beyond the limit; None where there is none
    to choose.
    """

    text: str
    quantity: str
    relation: Relation | Direction
    limit: float
    argument: str = ""
    confidence: float | None = None

    @property
    def kind(self) -> Kind:
        """What is judged."""
        return QUANTITIES[self.quantity]

    @property
    def is_structural(self) -> bool:
        """Whether it is of graphs alone, so that nothing has to be measured."""
        return self.kind == "count"

    @property
    def needs_one_engine(self) -> bool:
        """Whether it holds operators of one side against those of the other, which are the same
        things only where one engine ran both."""
        is_change = self.relation in ("up", "down") and self.quantity in _CHANGE_OF_OPERATORS
        return is_change or self.quantity in _OF_BOTH


def parse_condition(text: str) -> Condition:
    """The condition of a text such as `speedup < 0.97 with 95%`, `p50 slower 3%`,
    `fusion.count(BiasGelu) < 12` (docs/ci.md has the language).

    Raises FuseScopeError that names the character where it is not understood.
    """
    return _Parser(text).condition()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def condition(self) -> Condition:
        quantity = self._quantity()
        kind = QUANTITIES[quantity]
        argument = self._argument(quantity)
        relation = self._relation(kind)
        limit = self._limit(relation, kind)
        confidence = self._confidence(kind)
        self._skip()
        if self._at < len(self._text):
            raise self._error("condition_goes_on")
        text = " ".join(self._text.split())
        return Condition(text, quantity, relation, limit, argument, confidence)

    def _quantity(self) -> str:
        start = self._skip()
        found = self._take(_NAME)
        name = found.group() if found else ""
        if name not in QUANTITIES:
            self._at = start
            raise self._error(
                "condition_of_unknown",
                known=", ".join(QUANTITIES),
                nearest=nearest(name, QUANTITIES) if name else None,
            )
        return name

    def _argument(self, quantity: str) -> str:
        self._skip()
        found = self._take(_ARGUMENT)
        if (found is None) == (quantity == WITH_ARGUMENT):
            if found is not None:
                self._at = found.start()
            raise self._error("condition_argument", quantity=quantity, example=WITH_ARGUMENT)
        return found.group(1) if found else ""

    def _relation(self, kind: Kind) -> Relation | Direction:
        self._skip()
        rest = self._text[self._at :]
        if kind == "cause" and _NUMBER.match(rest):
            return "slower"  # explanation.slower 5%
        for relation in _RELATIONS[kind]:
            found = _WORD.match(rest)
            word = found.group() if found and relation.isalpha() else rest[: len(relation)]
            if word == relation:
                self._at += len(relation)
                return relation
        raise self._error("condition_without_relation", known=", ".join(_RELATIONS[kind]))

    def _limit(self, relation: Relation | Direction, kind: Kind) -> float:
        start = self._skip()
        value, is_percent = self._number()
        if relation in ("slower", "faster", "up", "down") and (not is_percent or value < 0):
            self._at = start
            raise self._error("condition_wants_percent", relation=relation)
        if kind in ("ratio", "count") and (value < 0 or is_percent):
            self._at = start
            raise self._error("condition_wants_number")
        return value

    def _confidence(self, kind: Kind) -> float | None:
        self._skip()
        noisy = DEFAULT_CONFIDENCE if kind in NOISY else None
        found = _WORD.match(self._text[self._at :])
        if found is None or found.group() != "with":
            return noisy
        if noisy is None:
            raise self._error("condition_without_noise")
        self._at += len("with")
        start = self._skip()
        value, is_percent = self._number("condition_confidence")
        if not is_percent or not 0.5 <= value < 1:
            self._at = start
            raise self._error("condition_confidence")
        return value

    def _number(self, otherwise: ConditionsError = "condition_wants_number") -> tuple[float, bool]:
        found = self._take(_NUMBER)
        if found is None or not math.isfinite(float(found.group())):
            if found is not None:
                self._at = found.start()
            raise self._error(otherwise)
        value = float(found.group())
        is_percent = self._text[self._at : self._at + 1] == "%"
        self._at += is_percent
        return (value / 100 if is_percent else value), is_percent

    def _skip(self) -> int:
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._at

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def _error(self, code: ConditionsError, **values: str | None) -> FuseScopeError:
        """`code` at the place reached so far."""
        found = _WORD.match(self._text[self._at :])
        return FuseScopeError(
            code,
            condition=self._text,
            position=self._at + 1,
            found=found.group() if found else "",
            **values,
        )
