"""Other models that the command line names as variants: their files, and the name that travels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError

PREFIX = "model:"
_CHARACTERS = 80
_NO_NAME = re.compile(r"[^\w.+-]+", re.ASCII)


def read_models(variants: Sequence[str]) -> tuple[tuple[str, ...], dict[str, Path]]:
    """The names of the variants, with `model:<path>` as `model:<file>`, and the file of each by
    that name; of files of one name, with that of its folder before it. Raises FuseScopeError where
    these are alike as well."""
    paths = [Path(one.removeprefix(PREFIX)) for one in variants if one.startswith(PREFIX)]
    plain = [_name(path.name).casefold() for path in dict.fromkeys(paths)]
    are_alike = len(set(plain)) < len(plain)
    names: list[str] = []
    files: dict[str, Path] = {}
    seen: dict[str, Path] = {}
    for variant in variants:
        if not variant.startswith(PREFIX):
            names.append(variant)
            continue
        path = Path(variant.removeprefix(PREFIX))
        told = f"{path.absolute().parent.name}-{path.name}" if are_alike else path.name
        name = PREFIX + _name(told)
        # Some disks do not tell capitals: files of the recording would replace one another.
        if seen.setdefault(name.casefold(), path) != path:
            raise FuseScopeError("other_models_alike", name=name[:60])
        names.append(name)
        files[name] = path
    return tuple(names), files


def _name(text: str) -> str:
    """As part of a variant's name."""
    return _NO_NAME.sub("-", text).lstrip(".+-")[:_CHARACTERS] or "model"
