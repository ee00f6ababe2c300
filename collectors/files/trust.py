"""Trust: what lies in a cache is executed only if nobody else could have put it there.

That is one rule for all that is: releases and engines that are imported, kernels that are loaded.
"""

from __future__ import annotations

import functools
import grp
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError

_ADMINISTRATOR = 0


def check(place: Path) -> None:
    """Raises FuseScopeError if somebody else can change what lies in a folder, or replace it."""
    culprit = foreign(place)
    if culprit is not None:
        raise FuseScopeError("place_of_others", where=str(place), path=str(culprit))


def foreign(place: Path) -> Path | None:
    """Return what lets others change what lies in a folder: a folder above it that they can write
    to, a file in it that is theirs; None if they cannot. Of a folder that is not there yet, those
    above it count."""
    is_closed = False
    for above in _above(place):
        try:
            status = os.lstat(above)
        except OSError:
            break
        if not (_is_owned(status) and (is_closed or _is_unwritable(status, above != place))):
            return above
        # Nobody else gets into a folder that is closed, whatever lies in it says.
        is_closed |= status.st_uid == os.geteuid() and not status.st_mode & 0o077
    else:
        return None if is_closed else next(_foreign_within(place), None)
    return None


def _above(place: Path) -> list[Path]:
    """The folders above a place and itself, as it is named and as it is where links lead, from the
    top."""
    named = place.absolute()
    found = [*reversed(named.parents)]
    for real in (named.parent.resolve(), named.resolve()):
        found += [one for one in [*reversed(real.parents), real] if one not in found]
    return [*(one for one in found if one != named), named]


def _foreign_within(place: Path) -> Iterator[Path]:
    try:
        entries = list(os.scandir(place))
    except OSError:
        return
    for entry in entries:
        status = entry.stat(follow_symlinks=False)
        if not (_is_owned(status) and _is_unwritable(status, is_sticky_enough=False)):
            yield Path(entry.path)
        elif stat.S_ISDIR(status.st_mode):
            yield from _foreign_within(Path(entry.path))


def _is_owned(status: os.stat_result) -> bool:
    """Whether it belongs to this user or the administrator."""
    return status.st_uid in (_ADMINISTRATOR, os.geteuid())


def _is_unwritable(status: os.stat_result, is_sticky_enough: bool) -> bool:
    """Whether no other user writes to it. In a sticky folder others cannot replace what is not
    theirs."""
    mode = status.st_mode
    if stat.S_ISLNK(mode) or (is_sticky_enough and mode & stat.S_ISVTX):
        return True
    if mode & stat.S_IWOTH:
        return False
    return not mode & stat.S_IWGRP or _is_private(status.st_gid)


@functools.cache
def _is_private(group: int) -> bool:
    """Whether a group has nobody but this user, as those that many systems give each user."""
    try:
        own = pwd.getpwuid(os.geteuid()).pw_name
        named = set(grp.getgrgid(group).gr_mem)
        named |= {one.pw_name for one in pwd.getpwall() if one.pw_gid == group}
    except KeyError:
        return False
    return named == {own}
