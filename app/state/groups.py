"""The fusion group that is shown, and the patterns that are unfolded."""

from __future__ import annotations

from collections.abc import Iterable

from fusescope.app.state.session import GROUP, link, linked_number, session

_MAX_DIGITS = 9


def selected_group(of: str) -> int | None:
    """The group of comparison `of` that is shown: chosen here, else the one in the address.

    It may be any number, so whoever looks it up must check it.
    """
    name, group = session().group
    if name == of:
        return group
    return linked_number(GROUP, _MAX_DIGITS)


def select_group(of: str, group: int | None) -> None:
    """Show `group` of comparison `of`, and put it into the address."""
    session().group = (of, group)
    link(GROUP, None if group is None else str(group))


def picked_row(of: str) -> int | None:
    """Return the row of the operator that was picked in the timelines of comparison `of`."""
    name, row = session().picked_row
    return row if name == of else None


def pick_row(of: str, row: int | None) -> None:
    """Keep which operator was picked in the timelines, by its row in the table of operators."""
    session().picked_row = (of, row)


def unfolded(of: str) -> frozenset[str]:
    """Keys of the patterns of comparison `of` whose groups are shown."""
    name, keys = session().unfolded
    return keys if name == of else frozenset()


def unfold(of: str, keys: Iterable[str]) -> None:
    """Show the groups of these patterns of comparison `of`, and of no others."""
    session().unfolded = (of, frozenset(keys))
