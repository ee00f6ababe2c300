"""Reading window by window says what reading the whole says, wherever a file is cut."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import DEFAULT_LIMITS, Limits
from fusescope.analysis.readers.input.event_windows import Inexact, collect_events
from fusescope.analysis.readers.input.json_array import element_end
from fusescope.analysis.readers.input.json_events import EventFile, decode_file
from fusescope.analysis.readers.input.source import Source


class Event(msgspec.Struct):
    name: str | None = None
    ts: msgspec.Raw = msgspec.Raw()
    args: msgspec.Raw = msgspec.Raw()


class Plain(msgspec.Struct):
    name: str = ""
    ts: int = 0
    args: msgspec.Raw = msgspec.Raw()


class File(EventFile):
    before: msgspec.Raw = msgspec.Raw()
    after: msgspec.Raw = msgspec.Raw()


class Kept:
    """Everything as it came, and how often the plain type served."""

    def __init__(self) -> None:
        self.count = 0
        self.events: list[tuple[object, ...]] = []
        self.plain_parts = self.parts = 0
        self.plain: type[Plain] | None = Plain

    def add(self, events: Sequence[Any], *, escaped: bool = False) -> None:
        if escaped and events and isinstance(events[0], Plain):
            raise Inexact
        self.parts += 1
        self.plain_parts += bool(events) and isinstance(events[0], Plain)
        self.count += len(events)
        for event in events:
            ts = str(event.ts).encode() if isinstance(event, Plain) else bytes(event.ts) or b"0"
            self.events.append((event.name or "", ts, bytes(event.args)))

    def miss(self) -> None:
        pass


def whole(data: bytes, limits: Limits = DEFAULT_LIMITS) -> object:
    """What reading all at once says, or its error."""
    kept = Kept()
    try:
        events, header, notes = decode_file(data, Event, File, "t.json", limits)
    except FuseScopeError as error:
        return error.text
    kept.add(events)
    return kept.events, bytes(header.before), bytes(header.after), notes


def windowed(source: Source, window: int, kept: int = 4096) -> object:
    """What reading window by window says, or its error."""
    try:
        found, header, notes = collect_events(source, Event, File, Kept, window=window, kept=kept)
    except FuseScopeError as error:
        return error.text
    return found.events, bytes(header.before), bytes(header.after), notes


NAMES = st.text(alphabet='a,"\\[]{}: é\n\u2028\U0001f600', max_size=8) | st.sampled_from(
    ["},{", '"},\n{"', "]", "[{", "\ud800", "void f<{lambda(int)#1}>(int, int)"]
)
ARGS = st.recursive(
    st.integers() | st.booleans() | st.none() | NAMES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab]}"), inner, max_size=3)
    ),
    max_leaves=6,
)
EVENTS = st.lists(
    st.fixed_dictionaries(
        {}, optional={"name": NAMES | st.none(), "ts": st.integers(), "args": ARGS, "x": ARGS}
    )
    | st.sampled_from([{}, {"name": 3}, {"name": "a" * 300}]),  # type: ignore[list-item]
    max_size=40,
)
LAYOUTS = st.sampled_from([(None, (",", ":")), (None, (",\n", ": ")), (2, None), (None, None)])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A file of any writer, some of them damaged."""
    indent, separators = draw(LAYOUTS)
    events: Any = draw(EVENTS)
    place = draw(st.integers(0, len(events)))  # the end of a file is read as one
    events = [*events[:place], *[{"name": "op", "ts": 1}] * 200, *events[place:]]
    if draw(st.booleans()):
        beside = {"before": draw(ARGS), "traceEvents": events, "after": draw(ARGS)}
        names = draw(st.permutations(list(beside)))
        value: Any = {name: beside[name] for name in names if draw(st.integers(0, 9)) or events}
    else:
        value = events
    ascii_only = draw(st.booleans())
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=ascii_only)
    data = text.encode("utf-8", "surrogatepass")
    damage = draw(st.sampled_from(["none", "none", "cut", "cut", "junk", "byte"]))
    if damage == "cut":
        data = data[: draw(st.integers(0, len(data)))]
    elif damage == "junk":
        data += draw(st.sampled_from([b" \n", b"\0\0", b"]", b'{"name":"x"}', b",", b"\xff"]))
    elif damage == "byte" and data:
        at = draw(st.integers(0, len(data) - 1))
        data = data[:at] + draw(st.sampled_from([b"\\", b'"', b"}", b"\xff", b"\x01"])) + data[at:]
    return data


@given(files(), st.sampled_from([1, 30, 200, 900]), st.booleans())
@example(b'[{"name":"a"},{"name":"b"}', 1, False)
@example(b'{"traceEvents":[{},{}],"traceEvents":[{}]}', 1, False)
def test_windows_say_what_the_whole_says(data: bytes, window: int, packed: bool) -> None:
    given_data = gzip.compress(data) if packed else data
    source = Source("t.json", given_data)
    # The end that is read as one holds the last events, however small the windows are.
    assert windowed(source, window, 2500) == whole(data)


def written(count: int) -> bytes:
    events = [{"name": f"op{n}", "ts": n, "args": {"a": [n, {"b": "},{"}]}} for n in range(count)]
    return json.dumps({"before": 1, "traceEvents": events, "after": [2]}).encode()


def test_windows_are_small_and_use_the_plain_type() -> None:
    data = written(400)
    found, header, notes = collect_events(
        Source("t.json", data), Event, File, Kept, window=1000, kept=2000
    )
    assert [name for name, *_ in found.events] == [f"op{n}" for n in range(400)]
    assert found.parts > 15 and found.plain_parts == found.parts - 1, "the end is read with all"
    assert (bytes(header.after), notes) == (b"[2]", [])


def test_a_file_on_disk_is_hashed_while_it_is_read(tmp_path: Path) -> None:
    data = written(400)
    path = tmp_path / "t.json"
    path.write_bytes(data)

    def load(count: int | None) -> bytes:
        assert count is not None, "nobody asks for the whole file"
        return data[:count]

    source = Source("t.json", load, on_disk=path)
    assert windowed(source, 1000, 2000) == whole(data)
    assert source.sha256 == Source("t.json", data).sha256
    assert source.notes == ()


def test_more_events_than_the_limit_are_refused_before_the_end() -> None:
    data, asked = written(5000), 0
    limits = Limits(events=100)

    class Counted(Source):
        def blocks(self, size: int) -> Any:
            nonlocal asked
            for block in super().blocks(size):
                asked += len(block)
                yield block

    text = windowed(Counted("t.json", data, limits), 1000, 2000)
    assert "more events than the limit of 100" in str(text)
    assert asked < len(data) / 4


@pytest.mark.parametrize("filler", [b"\0", b"\\"])
def test_what_is_no_text_behind_events_is_refused_at_once(filler: bytes) -> None:
    data = written(400)[:-100] + filler * 40_000
    text = windowed(Source("t.json", data), 1000, 2000)
    assert "damaged: invalid character (byte" in str(text) and "\n" not in str(text)


@pytest.mark.parametrize(
    ("text", "room", "end"),
    [
        (b'{"a":1},{"b":2},{"c":3}]', 24, (15, True)),
        (b'{"a":1},{"b":2},{"c":3}', 23, (15, False)),
        (b'{"a":1},{"b":2},{"c":3}', 15, (7, False)),
        (b'{"a":[1,2],"b":"},{"},{}', 24, (21, False)),
        (b'{"a":"\\"},{"},3,"x,y",', 30, (21, False)),
        (b'{"a":{"b":1,', 12, (0, False)),
    ],
)
@pytest.mark.parametrize("block", [3, 4096])
def test_elements_end_at_commas_outside_of_all_brackets(
    text: bytes, room: int, end: tuple[int, bool], block: int
) -> None:
    assert element_end(text, room, block) == end
