"""Small parts that sentences share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis import units
from analysis.trace import Value


def capital(text: str) -> str:
    """The text with a capital letter in front."""
    return text[:1].upper() + text[1:]


def listed(texts: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def number(values: Mapping[str, Value], key: str) -> float:
    """That value; NaN where it is none."""
    value = values.get(key)
    return float(value) if isinstance(value, int | float) else float("nan")


def plural(count: Value, noun: str) -> str:
    """'1 block', '2 blocks'."""
    shown = units.count(count) if isinstance(count, int | float) else str(count)
    return f"{shown} {noun}{'' if count == 1 else 's'}"


def saved_text(change_ns: float | None) -> str:
    """A change of time as what became of it: 'gained 7.00 ms', 'lost 46.6 ms'."""
    if not change_ns:
        return "changed by nothing"
    return f"{'gained' if change_ns < 0 else 'lost'} {units.duration(abs(change_ns))}"
