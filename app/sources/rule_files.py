"""Rule files that the command line names: their text, and the name that travels."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, Shown

_PREFIX = "rules:"
_MAX_BYTES = 64 * 1024
_TOO_LARGE = Message("it is larger than {size:count} KiB")


def read_rules(given: str) -> tuple[str, str | None]:
    """The name of the rules, and the text of the file `given`; no text where there is no such file
    and the rules may be built in. Raises FuseScopeError for a file that cannot be read."""
    if os.path.isdir(given):  # unlike Path.is_dir it takes any text
        raise _unreadable(given, Message("it is a folder"))
    try:
        handle = os.open(given, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        if "/" in given:
            raise FuseScopeError("rule_file_missing", where=given[:200]) from None
        return given, None
    except OSError as error:
        raise _unreadable(given, (error.strerror or "refused").lower()) from None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise _unreadable(given, Message("it is not a regular file"))
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise _unreadable(given, _TOO_LARGE.of(size=_MAX_BYTES // 1024))
    try:
        return Path(given).name, data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _unreadable(given, Message("it is not UTF-8 text")) from None


def read_variants(variants: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The names of the variants, with `rules:<path>` as `rules:<file>`, and the text of each rule
    file by that name. Raises FuseScopeError for two files of one name, capital letters aside."""
    names: list[str] = []
    texts: dict[str, str] = {}
    paths: dict[str, str] = {}
    for variant in variants:
        if not variant.startswith(_PREFIX):
            names.append(variant)
            continue
        given = variant.removeprefix(_PREFIX)
        name, text = read_rules(given)
        # Some disks do not tell capitals: files of the recording would replace one another.
        if paths.setdefault(name.casefold(), given) != given:
            raise FuseScopeError("rule_files_alike", rules=name[:60])
        name = _PREFIX + name
        names.append(name)
        if text is not None:
            texts[name] = text
    return tuple(names), texts


def _unreadable(given: str, why: Shown) -> FuseScopeError:
    return FuseScopeError("rule_file_unreadable", where=given[:200], reason=why)
