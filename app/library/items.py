"""What is in the library: recordings, and traces that were kept."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Literal

from fusescope.analysis.compare.timing.verdict import paired_verdict
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import ExperimentRecord
from fusescope.analysis.messages import Message, Part
from fusescope.analysis.messages.language import current
from fusescope.analysis.text import clean_text, display_name
from fusescope.analysis.trace import RunWord
from fusescope.analysis.wording.sentences import pair_parts
from fusescope.app.recording.kept import MAX_LISTED
from fusescope.app.sources import places
from fusescope.app.store import facts, records, settings
from fusescope.app.store.facts import Facts
from fusescope.app.store.store import Held, Store

Kind = Literal["trace", "experiment"]
Order = Literal["date", "name", "machine", "model", "bytes"]
ORDERS: tuple[Order, ...] = ("date", "name", "machine", "model", "bytes")
KEPT, RECORDED = "library:", "recorded:"
_MOST_ITEMS = 8192  # in any language
_HASH_CHARS, _MIN_HASH = 12, 4
_FIRST_NS, _LAST_NS = 10**18, 41 * 10**17  # times since 1970 that are dates
_UNLISTED = Message(
    "{n:count} older recording is not listed: only the newest {most:count} in {folder:name} are.",
    "{n:count} older recordings are not listed: only the newest {most:count} in {folder:name} are.",
)
_RUN = Message("{run:duration} a run, un-profiled")
_PROFILED_RUN: Mapping[RunWord, Message] = {
    "runs": Message("{run:duration} a run, profiled"),
    "steps": Message("{run:duration} a step, profiled"),
    "repetitions": Message("{run:duration} a repetition, profiled"),
}
_TOTAL = Message("{total:duration} in all operators of the file")
_ENDS_EARLY = Message("ends early, so no time of it is known")


@dataclass(frozen=True)
class Item:
    """One thing: `id` is what links and sides hold (of an experiment without a variant), `hash` how
    it is named where names are alike. `date` is when it was recorded where that is known, else when
    it was kept, ISO 8601 in UTC. `pair` are the ids to compare first, of an experiment."""

    id: str
    kind: Kind
    hash: str
    name: str
    facts: Facts
    date: str
    machine: str
    model: str
    headline: str
    bytes: int
    pair: tuple[str, str] | None = None

    @property
    def facts_id(self) -> str:
        """What its facts are kept under: the content, whatever the file is called."""
        return f"{self.kind}:{self.hash}"


def values_of(item: Item) -> dict[str, object]:
    """Return an item as plain values, as docs/library.md lists them."""
    return {
        "id": item.id,
        "kind": item.kind,
        "hash": item.hash,
        "name": item.name,
        "tags": list(item.facts.tags),
        "note": item.facts.note,
        "date": item.date,
        "machine": item.machine,
        "model": item.model,
        "headline": item.headline,
        "bytes": item.bytes,
    }


def store() -> Store:
    """The store. Raises FuseScopeError where the library is off, or of a newer FuseScope."""
    if not settings.is_on():
        raise FuseScopeError("kept_off", variable=settings.FOLDER_VARIABLE)
    found = Store(settings.folder(), settings.max_bytes())
    found.check()
    return found


def items() -> list[Item]:
    """Everything in the library, the newest in front. Raises as `store`."""
    kept_in = store()
    spoken = current()
    found = [_of_trace(held, spoken) for held in kept_in.held() if not held.entry.recording]
    for path in places.experiments(MAX_LISTED).values():
        with contextlib.suppress(OSError):
            state = path.stat()
            recorded = _of_recording(path, state.st_mtime_ns, state.st_size, spoken)
            found += [] if recorded is None else [recorded]
    said = facts.every(kept_in.folder)
    return ordered((_with_facts(item, said) for item in found), "date")


def last_used(maximum: int) -> list[tuple[str, str, str, str]]:
    """Return the ids of kept traces, their names, when they were used last in ISO 8601 and the
    SHA-256 of their files, the newest in front; nothing where the library is off."""
    try:
        held = [one for one in store().held() if not one.entry.recording]
    except (FuseScopeError, OSError):
        return []
    return [
        (
            f"{KEPT}{one.entry.key}",
            one.entry.name,
            _minute(one.used_ns),
            one.entry.header.meta.sha256,
        )
        for one in held[:maximum]
    ]


def _minute(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9, UTC).isoformat()[:16]


def unlisted() -> int:
    """How many recordings, the oldest, the library leaves out."""
    return max(0, len(places.experiments(None)) - MAX_LISTED)


def unlisted_parts(count: int) -> tuple[Part, ...]:
    """The sentence that says so."""
    folder = str(places.experiments_folder())
    return _UNLISTED.parts(n=count, most=MAX_LISTED, folder=folder)


def ordered(found: Iterable[Item], by: Order) -> list[Item]:
    """The items in this order: dates and sizes from the largest, texts from A."""
    alike = sorted(found, key=lambda item: (item.name.casefold(), item.id))
    if by in ("date", "bytes"):
        return sorted(alike, key=lambda item: getattr(item, by), reverse=True)
    return sorted(alike, key=lambda item: getattr(item, by).casefold())


def matching(found: Iterable[Item], text: str) -> list[Item]:
    """The items that have every word of `text` in their name, tags, note, machine or model."""
    words = text.casefold().split()

    def told(item: Item) -> str:
        own = (item.name, *item.facts.tags, item.facts.note, item.machine, item.model, item.hash)
        return "\n".join(own).casefold()

    return [item for item in found if all(word in told(item) for word in words)]


def named(name: str, among: Iterable[Item] | None = None) -> Item:
    """The item of this name, or of the hash or id that begins so. Raises FuseScopeError."""
    listed = items() if among is None else list(among)
    start = name.lower() if len(name) >= _MIN_HASH else "-"
    for found in (
        [item for item in listed if name == item.id],
        [item for item in listed if name == item.name],
        [item for item in listed if item.hash.startswith(start)],
    ):
        if len(found) > 1:
            raise FuseScopeError("kept_ambiguous", name=clean_text(name, 60), n=len(found))
        if found:
            return found[0]
    raise FuseScopeError("not_named_among_kept", name=clean_text(name, 60))


def _with_facts(item: Item, said: Mapping[str, Facts]) -> Item:
    """The item with what its user said of it, and under the name that a trace was given."""
    own = said.get(facts.file_name(item.facts_id), facts.NONE)
    if own == facts.NONE:
        return item
    named = own.name if item.kind == "trace" and own.name else item.name
    return replace(item, facts=own, name=named)


# Items do not change while their files do not, and a page asks for all of them at each click.
@lru_cache(maxsize=_MOST_ITEMS)
def _of_trace(held: Held, language: str) -> Item:
    """A trace without what its user said of it; `language` is that of its headline."""
    entry = held.entry
    meta = entry.header.meta
    started = meta.started_ns
    date = entry.added
    if started is not None and _FIRST_NS <= started < _LAST_NS:
        date = datetime.fromtimestamp(started / 1e9, UTC).isoformat(timespec="seconds")
    headline = _TOTAL.text(total=entry.operators_ns)
    if entry.ends_early:
        headline = _ENDS_EARLY.text()
    elif entry.run_ns is not None:
        headline = (_PROFILED_RUN[entry.run_word] if entry.is_profiled else _RUN).text(
            run=entry.run_ns
        )
    return Item(
        f"{KEPT}{entry.key}",
        "trace",
        entry.key,
        display_name(entry.name),
        facts.NONE,
        date,
        clean_text(entry.machine),
        clean_text(entry.model),
        headline,
        held.bytes,
    )


@lru_cache(maxsize=_MOST_ITEMS)
def _of_recording(path: Path, mtime_ns: int, size: int, language: str) -> Item | None:
    """A recording likewise; None for what is none."""
    record = records.record_at(path)
    if record is None:
        return None
    first, second = records.recorded_pair(path)
    pair = (first, second) if first is not None and second is not None else None
    headline = ""
    if pair is not None:
        before, after = (id_.rpartition("/")[2] for id_ in pair)
        parts = pair_parts(paired_verdict(record, before, after), before, after)
        headline = "".join(part.text for part in parts)
    return Item(
        f"{RECORDED}{path.name}",
        "experiment",
        recording_hash(record),
        display_name(path.name),
        facts.NONE,
        clean_text(record.created, 40),
        clean_text(record.machine.cpu_model),
        clean_text(record.model.name),
        headline,
        size,
        pair,
    )


def recording_hash(record: ExperimentRecord) -> str:
    """What tells a recording from others, whatever its file is called."""
    told = f"{record.created}|{record.model.name}|{record.model.sha256}|{record.machine.cpu_model}"
    return hashlib.sha256(told.encode(errors="replace")).hexdigest()


def short(item: Item) -> str:
    """The beginning of its hash."""
    return item.hash[:_HASH_CHARS]
