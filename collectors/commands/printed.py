"""The time that a command prints: where it stands in its output, and in which unit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import shown
from fusescope.collectors.commands import traces
from fusescope.collectors.commands.units import Unit, unit_of

Kind = Literal["wall", "text", "json"]
VALUE = "{value}"
MOST_TIMES = 10_000
_NUMBER = r"([-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?(?:[eE][-+]?\d+)?|[-+]?\.\d+)"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]+)[)\]]")
_UNIT_WORDS = re.compile(r"\s*([^\s,;)\]]+(?:\s+per\s+\w+)?)")


@dataclass(frozen=True)
class TimeReading:
    """How the time of a run is found: its wall time, a `pattern` with one group in what it prints,
    or a `path` into JSON, that it prints or writes into `file`. `text` is what the user gave."""

    kind: Kind = "wall"
    text: str = "wall"
    unit: Unit | None = None
    pattern: re.Pattern[str] | None = None
    file: str = ""
    path: tuple[str, ...] = ()


def time_reading(text: str, unit: str) -> TimeReading:
    """Return what `--time` says: 'wall'; text with {value}; 're:' and an expression with one group;
    'json:key.key', also 'json:FILE.json:key.key'. Raises FuseScopeError for what is none of these,
    and where no unit is known."""
    if text == "wall":
        if unit:
            raise FuseScopeError("command_unit_of_wall")
        return TimeReading()
    made, guessed = _reading(text)
    found = unit_of(unit) if unit else guessed
    if found is None:
        if unit:
            raise FuseScopeError("command_unit_unknown", unit=shown(unit, 40))
        raise FuseScopeError("command_unit_missing", time=shown(text, 80))
    return replace(made, unit=found)


def values_of(reading: TimeReading, output: str, errors: str, folder: Path) -> list[float]:
    """Return every value that a run printed, in its order: on its standard output, else on its
    standard error; of JSON in a file of the `folder`. Empty where there is none."""
    if reading.kind == "json":
        return _json_values(reading, output, folder)
    assert reading.pattern is not None
    for text in (output, errors):
        found = [match[1] for match in reading.pattern.finditer(_COLOURS.sub("", text))]
        values = [value for one in found if one and (value := _number(one)) is not None]
        if values:
            return values[:MOST_TIMES]
    return []


def _reading(text: str) -> tuple[TimeReading, Unit | None]:
    """How the time is found, and its unit as far as the text says it."""
    if text.startswith("re:"):
        return _expression(text)
    if text.startswith("json:"):
        return _json(text)
    before, value, after = text.partition(VALUE)
    if not value or VALUE in after:
        raise FuseScopeError("command_time_form", time=shown(text, 80))
    pattern = re.compile(_spaced(before) + _NUMBER + _spaced(after))
    return TimeReading("text", text, pattern=pattern), _unit_beside(before, after)


def _expression(text: str) -> tuple[TimeReading, Unit | None]:
    try:
        pattern = re.compile(text.removeprefix("re:"), re.MULTILINE)
    except (re.error, RecursionError, OverflowError) as error:
        reason = str(error)
        raise FuseScopeError("command_expression", time=shown(text, 80), reason=reason) from None
    if pattern.groups != 1:
        raise FuseScopeError("command_groups", time=shown(text, 80), n=pattern.groups)
    return TimeReading("text", text, pattern=pattern), None


def _json(text: str) -> tuple[TimeReading, Unit | None]:
    file, colon, path = text.removeprefix("json:").rpartition(":")
    keys = tuple(path.split("."))
    if not all(keys) or (colon and not file):
        raise FuseScopeError("command_time_form", time=shown(text, 80))
    if Path(file).is_absolute() or ".." in Path(file).parts:
        raise FuseScopeError(
            "command_time_elsewhere", time=shown(text, 80), variable=traces.VARIABLE
        )
    guessed = unit_of(keys[-1].rpartition("_")[2]) if "_" in keys[-1] else None
    return TimeReading("json", text, file=file, path=keys), guessed


def _spaced(text: str) -> str:
    """An expression for this text, in which any white space stands for any other."""
    return r"\s+".join(map(re.escape, re.split(r"\s+", text)))


def _unit_beside(before: str, after: str) -> Unit | None:
    """The unit behind the number, else the one that stands in brackets before it."""
    match = _UNIT_WORDS.match(after)
    found = unit_of(match[1].rstrip(".:")) if match else None
    if found is None and match:
        found = unit_of(match[1].split()[0].rstrip(".:"))
    bracketed = [unit_of(one) for one in _IN_BRACKETS.findall(before)]
    return found or next((one for one in reversed(bracketed) if one is not None), None)


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def _json_values(reading: TimeReading, output: str, folder: Path) -> list[float]:
    if reading.file:
        try:
            documents = [(folder / reading.file).read_text(encoding="utf-8", errors="replace")]
        except OSError:
            return []
    else:
        lines = [line.strip() for line in _COLOURS.sub("", output).splitlines()]
        documents = [line for line in reversed(lines) if line.startswith("{")] + [output]
    for document in documents:
        try:
            value = json.loads(document)
        except (ValueError, RecursionError):
            continue
        found = list(_numbers(_at(value, reading.path)))
        if found:
            return found[:MOST_TIMES]
    return []


def _at(value: Any, path: tuple[str, ...]) -> Any:
    """What lies there in a value of JSON; None for nothing."""
    for key in path:
        if isinstance(value, list) and key.isdecimal() and len(key) < 10 and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict):
            value = value.get(key)
        else:
            return None
    return value


def _numbers(value: Any) -> Iterator[float]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, int | float) and not isinstance(one, bool) and abs(one) < 1e300:
            yield float(one)
