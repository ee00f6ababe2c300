"""The activity of the host in a database of Ascend: PYTORCH_API and CANN_API, which share the
numbers of threads, and the links from both to what ran on a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fusescope.analysis.host_activity import ANNOTATION, FRAME, OPERATOR, RUNTIME
from fusescope.analysis.readers.ascend.host.threads import AscendHost, Launched, kind_by_name, named
from fusescope.analysis.readers.building.coded import Whole
from fusescope.analysis.readers.building.host.spans import HostSpans
from fusescope.analysis.readers.building.numbering import Numbered
from fusescope.analysis.readers.input.sqlite import Database, Table

# ENUM_API_TYPE: operators, the queue of launches, Python, and marks.
_KINDS: Mapping[object, int] = {
    50001: OPERATOR, 50002: OPERATOR, 50003: FRAME, 50004: ANNOTATION,
}  # fmt: skip
_OPERATOR_API = 50001
_THREAD_BITS = 32  # a thread stands as its process and its own number

Texts = Callable[..., list[str | None]]
Begun = dict[int, tuple[int, int]]  # connection -> thread and time


def host_of_database(
    database: Database, texts: Texts, connections: Sequence[int | None]
) -> AscendHost | None:
    """Return what the threads of the host did, and when they launched what stands behind each of
    these connections; None where the file holds nothing of the host. `texts` looks names up."""
    threads = Numbered()
    spans: list[tuple[int, int, int, int]] = []
    names: list[str] = []
    submitted: Begun = {}
    api = database.read("CANN_API", "startNs", "endNs", "globalTid", "name", "connectionId")
    for thread, start, end, name, key, _ in _rows(api, texts, threads):
        spans.append((thread, start, end - start, RUNTIME))
        names.append(name)
        if key is not None:
            submitted.setdefault(key, (thread, start))
    api = database.read(
        "PYTORCH_API", "startNs", "endNs", "globalTid", "name", "connectionId", "type"
    )
    begun: Begun = {}
    for thread, start, end, name, key, kind in _rows(api, texts, threads):
        spans.append((thread, start, end - start, kind_by_name(_KINDS.get(kind, OPERATOR), name)))
        names.append(name)
        if key is not None and kind == _OPERATOR_API:
            begun[key] = min(begun.get(key, (thread, start)), (thread, start), key=_time)
    if not spans:
        return None
    links = database.read("CONNECTION_IDS", "id", "connectionId")
    pairs = zip(links.integers("id"), links.integers("connectionId"), strict=True)
    launched = {to: begun[key] for key, to in pairs if key in begun and to is not None}
    shown, name_of = named(names)
    told = np.array(spans, dtype="int64")
    return AscendHost(
        HostSpans(told[:, 0], told[:, 1], told[:, 2], name_of, told[:, 3]),
        shown,
        [_thread(str(thread)) for thread in threads],
        _launched(launched, connections),
        _launched(submitted, connections),
        Launched.none(len(spans)),
    )


def _rows(
    table: Table, texts: Texts, threads: Numbered
) -> list[tuple[int, int, int, str, int | None, object]]:
    """Thread, start, end, name, connection and type of each call that has the first four."""
    columns = zip(
        table.texts("globalTid"),
        table.integers("startNs"),
        table.integers("endNs"),
        texts(table, "name"),
        table.integers("connectionId"),
        table.cells("type"),
        strict=True,
    )
    return [
        (threads[thread or ""], start, end, name, key, kind)
        for thread, start, end, name, key, kind in columns
        if name is not None and start is not None and end is not None and end >= start
    ]


def _launched(begun: Begun, connections: Sequence[int | None]) -> Launched:
    found = [begun.get(key) if key is not None else None for key in connections]
    told = np.array([one or (0, 0) for one in found], dtype="int64").reshape(-1, 2)
    return Launched(
        told[:, 0], Whole(told[:, 1], np.array([one is not None for one in found], dtype=bool))
    )


def _time(moment: tuple[int, int]) -> int:
    return moment[1]


def _thread(text: str) -> str:
    """Return the number of a thread without that of its process."""
    if not text.isascii() or not text.isdecimal() or len(text) > 20:
        return text
    return str(int(text) & ((1 << _THREAD_BITS) - 1))
