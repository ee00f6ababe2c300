"""Tables of a rocpd database: found by the suffix that each process gives them, joined by ids.

Tables are named `rocpd_kernel_dispatch_<uuid>`; a database that was merged has a set of them for
each process. Times, process, thread, agent, queue and stream stand in a row itself, or, in some
versions, behind the numbers of two timestamps and of a track.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from fusescope.analysis.readers.input.sqlite import Database, Table

DISPATCHES = "rocpd_kernel_dispatch"
COPIES = "rocpd_memory_copy"
REGIONS = "rocpd_region"
_PLACES = ("nid", "pid", "tid", "agent_id", "queue_id", "stream_id")
_OWN = ("id", "start", "end", "start_id", "end_id", "track_id", "event_id", *_PLACES)


def suffixes(database: Database) -> list[str]:
    """The suffixes of the sets of tables with dispatches or copies, in order."""
    found: dict[str, None] = {}
    for name in database.names:
        for table in (DISPATCHES, COPIES):
            if name.lower().startswith(table):
                found.setdefault(name[len(table) :])
    return sorted(found)


@dataclass(frozen=True)
class Event:
    """What is known of a record beside its times: what it is, and the call that it is of."""

    category: str
    stack: int | None
    message: str


_NO_EVENT = Event("", None, "")


class _Told(msgspec.Struct):
    message: object = None
    formatted_kernel_name: object = None
    demangled_kernel_name: object = None


def told_in(extdata: str | None) -> _Told:
    """What the JSON beside a record says; nothing where it is none."""
    try:
        return msgspec.json.decode(extdata or "{}", type=_Told)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return _Told()


class Rows:
    """Rows of dispatches, copies or regions: `table` holds their further columns."""

    def __init__(self, tables: Tables, name: str, *columns: str) -> None:
        self.table = tables.read(name, *_OWN, *columns)
        self._tables = tables

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def starts(self) -> list[int | None]:
        """Starts in ns."""
        return self._times("start")

    @cached_property
    def ends(self) -> list[int | None]:
        """Ends in ns."""
        return self._times("end")

    def place(self, column: str) -> list[int | None]:
        """The process, thread, agent, queue or stream of each row, by its id."""
        if column in self.table or "track_id" not in self.table:
            return self.table.integers(column)
        tracks = self._tables.tracks[column]
        return [tracks.get(track) for track in self.table.integers("track_id")]

    def events(self) -> list[Event]:
        """The event of each row."""
        known = self._tables.events
        return [known.get(number, _NO_EVENT) for number in self.table.integers("event_id")]

    def _times(self, column: str) -> list[int | None]:
        if column in self.table:
            return self.table.integers(column)
        times = self._tables.timestamps
        return [times.get(number) for number in self.table.integers(f"{column}_id")]


class Tables:
    """One set of tables."""

    def __init__(self, database: Database, suffix: str) -> None:
        self._database = database
        self._suffix = suffix

    def read(self, name: str, *columns: str) -> Table:
        """These columns of a table; see Database.read."""
        return self._database.read(name + self._suffix, *columns)

    @cached_property
    def strings(self) -> Mapping[int, str]:
        """Texts by their number."""
        return self._database.strings(f"rocpd_string{self._suffix}", value="string")

    @cached_property
    def timestamps(self) -> Mapping[object, int | None]:
        """Times in ns by their number, in versions that have them apart."""
        table = self.read("rocpd_timestamp", "id", "value")
        return dict(zip(table.integers("id"), table.integers("value"), strict=True))

    @cached_property
    def tracks(self) -> Mapping[str, Mapping[object, int | None]]:
        """Where records of a track are, by column and the track's number."""
        table = self.read("rocpd_track", "id", *_PLACES)
        ids = table.integers("id")
        return {name: dict(zip(ids, table.integers(name), strict=True)) for name in _PLACES}

    @cached_property
    def events(self) -> Mapping[object, Event]:
        """Events by their number."""
        table = self.read(
            "rocpd_event", "id", "category_id", "stack_id", "correlation_id", "extdata"
        )
        rows = zip(
            table.integers("id"),
            table.integers("category_id"),
            table.integers("stack_id"),
            table.integers("correlation_id"),
            table.texts("extdata"),
            strict=True,
        )
        found: dict[object, Event] = {}
        for number, category, stack, correlation, extdata in rows:
            kind = self.strings.get(category, "") if category is not None else ""
            message = told_in(extdata).message if "MARKER" in kind.upper() else None
            own = stack or correlation or None  # 0 is none
            found[number] = Event(kind, own, message if isinstance(message, str) else "")
        return found

    @cached_property
    def processes(self) -> Mapping[object, int | None]:
        """Numbers that the machine gave processes, by their id."""
        table = self.read("rocpd_info_process", "id", "pid")
        return dict(zip(table.integers("id"), table.integers("pid"), strict=True))

    def names(self, numbers: Sequence[int | None]) -> list[str]:
        """Texts of these numbers, '' for an unknown one."""
        return [self.strings.get(number, "") if number is not None else "" for number in numbers]
