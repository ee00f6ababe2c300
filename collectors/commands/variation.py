"""Variants of a command: the product of settings of its environment and of its arguments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import shown
from fusescope.collectors.commands.private import hides_values

MAX_VARIANTS = 16
MAX_NAME_CHARS = 60
ALONE = "command"  # what the only variant is called
_COMMA = re.compile(r"(?<!\\),")
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class CommandVariant:
    """A variant of the command: what is set in its environment, None for what is taken out of it,
    and the arguments that follow those of the command."""

    name: str
    environment: Mapping[str, str | None]
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class _Choice:
    """One value of one option: `variable` with its `value`, or else `words`; `name` tells it from
    the other values."""

    name: str
    variable: str = ""
    value: str | None = None
    words: tuple[str, ...] = ()


def variants_of(
    environment: Sequence[str], arguments: Sequence[str], names: Sequence[str]
) -> tuple[CommandVariant, ...]:
    """Return every combination of the values of all --env and --arg, the first option varying
    slowest; `names` in this order, made of the values where there are none. Raises FuseScopeError
    for what is malformed, for too many, and for names that are long, equal or too few."""
    options = [*map(environment_choices, environment), *map(argument_choices, arguments)]
    count = 1
    for option in options:
        count *= len(option)
    if count > MAX_VARIANTS:
        raise FuseScopeError("command_variants_many", n=count, limit=MAX_VARIANTS)
    if names and len(names) != count:
        raise FuseScopeError("command_names_other", n=len(names), variants=count)
    varying = [len(option) > 1 for option in options]
    found = []
    for number, combination in enumerate(product(*options)):
        own = " ".join(one.name for one, varies in zip(combination, varying, strict=True) if varies)
        found.append(_variant(names[number] if names else own or ALONE, combination))
    folded = {one.name.casefold() for one in found}
    if len(folded) < len(found):  # files of the recording have these names
        raise FuseScopeError("command_names_alike")
    return tuple(found)


def environment_choices(text: str) -> tuple[_Choice, ...]:
    """The choices of `NAME=V1,V2`; an empty value takes the variable out of the environment."""
    name, equals, values = text.partition("=")
    if not equals or not _VARIABLE.fullmatch(name):
        raise FuseScopeError(
            "option_malformed", option="--env", given=shown(text, 60), form="NAME=VALUE,VALUE"
        )
    hides = hides_values(text)
    return tuple(
        _Choice(
            _named(name, f"{name}={value}" if value else "", number, hides), name, value or None
        )
        for number, value in enumerate(_values(values), start=1)
    )


def argument_choices(text: str) -> tuple[_Choice, ...]:
    """The choices of `--name=V1,V2`, or of whole arguments `--one,--other 2`; an empty value leaves
    the argument out."""
    first, *others = _values(text)
    name, equals, _ = first.partition("=")
    if equals and not any(other.startswith("-") for other in others):
        first = first[len(name) + 1 :]
        alternatives: list[tuple[str, ...]] = [
            (f"{name}={value}",) if value else () for value in (first, *others)
        ]
    else:
        alternatives = [_split(one, "--arg") for one in (first, *others)]
        name = next((words[0] for words in alternatives if words), "")
    if not name:
        raise FuseScopeError(
            "option_malformed", option="--arg", given=shown(text, 60), form="--name=VALUE,VALUE"
        )
    hides = hides_values(text)
    return tuple(
        _Choice(_named(name, " ".join(words), number, hides), words=words)
        for number, words in enumerate(alternatives, start=1)
    )


def split_command(text: str) -> tuple[str, ...]:
    """The words of a command line, as a shell would split it, and nothing else that a shell does.
    Raises FuseScopeError for an open quote and for no word."""
    words = _split(text, "--command")
    if not words:
        raise FuseScopeError("command_empty")
    return words


def _named(option: str, value: str, number: int, hides: bool) -> str:
    """The name of a value of an option: its place among the others where it is a secret."""
    if not value:
        return f"no {option}"
    return f"{option} #{number}" if hides else value


def _variant(name: str, combination: Sequence[_Choice]) -> CommandVariant:
    if len(name) > MAX_NAME_CHARS:
        raise FuseScopeError("command_name_long", name=shown(name, 80), limit=MAX_NAME_CHARS)
    if not name.strip() or not name.isprintable() or "/" in name or "\\" in name:
        raise FuseScopeError("command_name_impossible", name=shown(name, 80))
    return CommandVariant(
        name,
        {one.variable: one.value for one in combination if one.variable},
        tuple(word for one in combination for word in one.words),
    )


def _values(text: str) -> list[str]:
    """What stands between commas; a comma behind a backslash belongs to the value."""
    return [value.replace("\\,", ",").strip() for value in _COMMA.split(text)]


def _split(text: str, option: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        raise FuseScopeError("command_quotes_open", option=option, given=shown(text, 80)) from None
