"""Rules: what a user wants the fusion pass to do, read from a TOML file. docs/rules.md has it all.

Imports no engine: a rule file is refused before anything starts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, get_args

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.spelling import nearest
from fusescope.analysis.text import shown
from fusescope.collectors.fusion import registry
from fusescope.collectors.fusion.rewrite import LEVELS, Level
from fusescope.collectors.workers.jobs import Optimization

_RULE_SETS = "fusescope.collectors.fusion.rule_sets"
FILE_BYTES = 64 * 1024
_MAX = 200  # entries of a list
_MAX_TYPES = 32  # op types of one pattern
_KEYS = ("level", "patterns", "include", "exclude", "largest_intermediate", "optimization")
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?) ?(B|kB|KB|MB|GB|KiB|MiB|GiB)?", re.ASCII)
_UNITS = {
    "": 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9,
    "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
}  # fmt: skip
OPTIMIZATIONS: tuple[str, ...] = get_args(Optimization)


@dataclass(frozen=True)
class Rules:
    """`patterns` are names of rewrites and lists of op types, None for all. `include` and
    `exclude` are globs of modules or nodes. Tensors above `largest_bytes` are kept. `optimization`
    is what the engine may still do afterwards. `text` is the file."""

    level: Level = "O3"
    patterns: tuple[str | tuple[str, ...], ...] | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    largest_bytes: int | None = None
    optimization: Optimization = "none"
    text: str = ""

    @property
    def names(self) -> frozenset[str]:
        """Rewrites that are asked for by name."""
        return frozenset(entry for entry in self.patterns or () if isinstance(entry, str))

    @property
    def sequences(self) -> frozenset[tuple[str, ...]]:
        """Lists of op types that are asked for and possible at the level."""
        return frozenset(
            entry
            for entry in self.patterns or ()
            if not isinstance(entry, str)
            and (level := registry.level_of(entry)) is not None
            and registry.at_most(level, self.level)
        )

    @property
    def restricts(self) -> bool:
        """Whether anything that the pass knows is ruled out."""
        limits = (self.patterns, self.include or None, self.exclude or None, self.largest_bytes)
        return self.level != "O3" or any(limit is not None for limit in limits)


def built_in() -> tuple[str, ...]:
    """Names of the rules that need no file."""
    entries = resources.files(_RULE_SETS).iterdir()
    files = sorted(entry.name for entry in entries if entry.name.endswith(".toml"))
    return (*LEVELS, *files)


def built_in_text(name: str) -> str | None:
    """The text of rules that need no file, None where there are none of that name."""
    if name in LEVELS:
        return f'level = "{name}"\n'
    if name not in built_in():
        return None
    return (resources.files(_RULE_SETS) / name).read_text(encoding="utf-8")


def check(name: str, text: str | None) -> Rules:
    """The rules called `name`: those of `text`, or built in. Raises FuseScopeError where there are
    none, or where they cannot be read."""
    known = text if text is not None else built_in_text(name)
    if known is None:
        raise FuseScopeError(
            "rules_unknown",
            rules=shown(name),
            known=", ".join(built_in()),
            nearest=nearest(name, built_in()),
        )
    return parse(known, name)


def parse(text: str, where: str) -> Rules:
    """The rules of a file called `where`. Raises FuseScopeError for what it does not understand."""
    try:
        return _rules(_table(text), text)
    except FuseScopeError as error:
        raise error.at(where) from None


def _table(text: str) -> dict[str, Any]:
    if len(text.encode(errors="replace")) > FILE_BYTES:
        raise FuseScopeError("rules_too_large", size=FILE_BYTES // 1024)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = shown(error, 200)
        last = text.rstrip("\n").count("\n") + 1
        said = said.replace("(at end of document)", f"(at line {last}, the last)")
        raise FuseScopeError("rules_not_toml", reason=said) from None
    except (RecursionError, ValueError):
        raise FuseScopeError("rules_too_deep") from None


def _rules(table: Mapping[str, Any], text: str) -> Rules:
    for key in table:
        if key not in _KEYS:
            raise FuseScopeError(
                "rule_unknown", rule=shown(key), known=", ".join(_KEYS), nearest=nearest(key, _KEYS)
            )
    level = table.get("level", "O3")
    if not isinstance(level, str) or level not in LEVELS:
        raise FuseScopeError(
            "rule_level_unknown",
            level=shown(level),
            known=", ".join(LEVELS),
            nearest=nearest(shown(level), LEVELS),
        )
    optimization = table.get("optimization", "none")
    if optimization not in OPTIMIZATIONS:
        raise FuseScopeError(
            "rule_optimization_unknown",
            optimization=shown(optimization),
            known=", ".join(OPTIMIZATIONS),
            nearest=nearest(shown(optimization), OPTIMIZATIONS),
        )
    size = table.get("largest_intermediate")
    return Rules(
        level=level,
        patterns=_patterns(table["patterns"]) if "patterns" in table else None,
        include=_globs(table, "include"),
        exclude=_globs(table, "exclude"),
        largest_bytes=None if size is None else _bytes(size),
        optimization=optimization,
        text=text,
    )


def _patterns(listed: Any) -> tuple[str | tuple[str, ...], ...]:
    if not isinstance(listed, list) or not listed or len(listed) > _MAX:
        raise FuseScopeError("rule_patterns_malformed", largest=_MAX)
    return tuple(_pattern(entry) for entry in listed)


def _pattern(entry: Any) -> str | tuple[str, ...]:
    if isinstance(entry, str):
        if entry in registry.known_types():
            raise FuseScopeError("rule_pattern_is_op_type", op_type=shown(entry))
        if entry not in registry.NAMES:
            raise FuseScopeError(
                "rule_pattern_unknown",
                pattern=shown(entry),
                known=", ".join(registry.NAMES),
                nearest=nearest(shown(entry), registry.NAMES),
            )
        return entry
    if not isinstance(entry, list) or not all(isinstance(op_type, str) for op_type in entry):
        raise FuseScopeError("rule_pattern_malformed", pattern=shown(entry))
    joined = _listing(entry)
    if not 2 <= len(entry) <= _MAX_TYPES:
        raise FuseScopeError(
            "rule_pattern_length", pattern=joined, operators=len(entry), largest=_MAX_TYPES
        )
    if registry.level_of(tuple(entry)) is None:
        raise _no_rewrite(entry)
    return tuple(entry)


def _no_rewrite(entry: list[str]) -> FuseScopeError:
    known, pattern = registry.known_types(), _listing(entry)
    for op_type in entry:
        if op_type not in known:
            near = nearest(shown(op_type), sorted(known))
            return FuseScopeError("rule_rewrite_of_unknown_type", pattern=pattern, nearest=near)
    if registry.level_of(tuple(reversed(entry))) is not None:
        reversed_ = _listing(entry[::-1])
        return FuseScopeError("rule_rewrite_reversed", pattern=pattern, reversed=reversed_)
    return FuseScopeError("rule_rewrite_unknown", pattern=pattern)


def _globs(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    listed = table.get(key, [])
    if (
        not isinstance(listed, list)
        or len(listed) > _MAX
        or not all(isinstance(glob, str) and 0 < len(glob) <= 500 for glob in listed)
    ):
        raise FuseScopeError("rule_globs_malformed", key=key)
    return tuple(listed)


def _bytes(size: Any) -> int:
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    found = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if found is None:
        raise FuseScopeError("rule_size_malformed", size=shown(size))
    return int(float(found[1]) * _UNITS[found[2] or ""])


def _listing(op_types: list[str]) -> str:
    listed = ", ".join(f'"{shown(op_type)}"' for op_type in op_types[:8])
    return f"[{listed}{', …' if len(op_types) > 8 else ''}]"
