"""Trace events: both forms of file, every damage that is mended, and what is refused."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import DEFAULT_LIMITS, Limits
from fusescope.analysis.readers.building.nesting import Nesting
from fusescope.analysis.readers.input.json_array import array_length
from fusescope.analysis.readers.input.json_events import EventFile, decode_events, decode_file
from fusescope.analysis.trace import Diagnostic


class Event(msgspec.Struct):
    name: str = ""
    ph: str = ""
    ts: float | None = None


class File(EventFile):
    tool: msgspec.Raw = msgspec.Raw()


EVENTS = [{"ph": "X", "name": f"op{i}", "ts": i, "args": {"dims": [1, [2, 3]]}} for i in range(9)]


def decode(data: bytes, limits: Limits = DEFAULT_LIMITS) -> tuple[list[str], list[Diagnostic]]:
    events, notes = decode_events(data, Event, "t.json", limits)
    return [event.name for event in events], notes


def as_object(events: object = EVENTS, **beside: object) -> bytes:
    return json.dumps({"tool": "x", "traceEvents": events, **beside}).encode()


@pytest.mark.parametrize("data", [json.dumps(EVENTS).encode(), as_object(), b"\n " + as_object()])
def test_array_and_object_say_the_same(data: bytes) -> None:
    assert decode(data) == ([f"op{i}" for i in range(9)], [])
    assert decode(b"\xef\xbb\xbf" + data) == decode(data)
    assert decode(data.decode().encode("utf-16")) == decode(data)


def test_what_stands_beside_the_events_is_kept_undecoded() -> None:
    _, file, _ = decode_file(as_object(), Event, File, "t", DEFAULT_LIMITS)
    assert bytes(file.tool) == b'"x"'
    _, file, _ = decode_file(as_object()[:-30], Event, File, "t", DEFAULT_LIMITS)
    assert bytes(file.tool) == b'"x"'


@pytest.mark.parametrize("data", [json.dumps(EVENTS).encode(), as_object(end="a [name] with ]")])
def test_a_file_cut_anywhere_keeps_its_whole_events(data: bytes) -> None:
    first = data.index(b"}}") + 2  # the end of the first event
    for end in range(first, len(data)):
        names, notes = decode(data[:end])
        whole = data[:end].count(b"}}")
        assert names == [f"op{i}" for i in range(min(9, whole))], end
        assert [note.code for note in notes] in (["cut_short"], ["missing_bracket"])
        lost = notes[0].values["bytes_lost"]
        assert isinstance(lost, int) and 0 <= lost < end
        is_open = lost == 0 and data.startswith(b"[")  # an object is written to its end
        assert is_open == (notes[0].code == "missing_bracket")


def test_the_bytes_lost_are_those_after_the_last_whole_event() -> None:
    data = json.dumps(EVENTS[:2]).encode() + b"\n"
    cut = data[: data.rindex(b"args")]
    _, notes = decode(cut)
    assert notes[0].values["bytes_lost"] == len(cut) - data.index(b"}}, ") - len(b"}}, ")


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (
            b'{"name": "torch\\cuda\\__init__.py(219): _lazy"}',
            "torch\\cuda\\__init__.py(219): _lazy",
        ),
        (b'{"name": "C:\\utils"}', "C:\\utils"),
        (b'{"name": "two\nlines\x01"}', "two lines "),
        (b'{"name": "Memcpy", "args": {"memory bandwidth (GB/s)": inf}}', "Memcpy"),
        (b'{"name": "Memcpy", "ts": -nan}', "Memcpy"),
        (b'{"name": "Memcpy", "dur": NaN}', "Memcpy"),
        (b'{"name": "Memcpy", "args": [Infinity, -Infinity]}', "Memcpy"),
        (b'{"name": "Memcpy", "dur": -nan(ind)}', "Memcpy"),
        (b'{"name": "Memcpy",}', "Memcpy"),
    ],
)
def test_faults_of_other_writers_are_mended_and_counted(fault: bytes, name: str) -> None:
    for data in (b"[" + fault + b',{"name":"next"}]', b'{"traceEvents":[' + fault + b"]}"):
        names, notes = decode(data)
        assert names[0] == name
        assert [note.code for note in notes] == ["json_mended"]


def test_what_is_valid_is_not_mended() -> None:
    assert decode(rb'[{"name": "a\\b\"c\u0041 inf, nan ,]"}]') == (['a\\b"cA inf, nan ,]'], [])


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'[{"ph": "X", "ts": None}]', "damaged: invalid character (byte 19)"),
        (b'{"traceEvents": [{"ts": Infinite}]}', "damaged: invalid character (byte 24)"),
        (b"{}", "not a list of trace events"),
        (b'{"traceEvents": 3}', "not a list of trace events"),
        (b'{"traceEvents": {"name": "a"}}', "not a list of trace events"),
        (b"null", "not a list of trace events"),
        (b'{"traceEvents"', "damaged"),
        (b'{"traceEvents":[' * 50_000, "nested too deep"),
        (b'[{"ph":' + b"[" * 200_000, "nested too deep"),
        (
            b"[" + b"0," * 6_000_000 + b"0]",
            "6\u202f000\u202f001 events, which is more than the limit of 5\u202f000\u202f000",
        ),
        (
            b'[{"ph":"X"},' + b"{}," * 5_000_000,
            "events, which is more than the limit of 5\u202f000\u202f000",
        ),
    ],
)
def test_what_is_no_list_of_events_gets_one_sentence(data: bytes, says: str) -> None:
    with pytest.raises(FuseScopeError) as caught:
        decode(data)
    assert says in caught.value.text and "\n" not in caught.value.text


@pytest.mark.parametrize("data", [b'[{"name":"a"}]', b'{"traceEvents":[{"name":"a"}]}'])
@pytest.mark.parametrize("junk", [b" junk", b"\n}\n]", b'[{"name":"b"}]', b"\x00\x00"])
def test_what_follows_the_end_is_left_out_and_told(data: bytes, junk: bytes) -> None:
    names, notes = decode(data + junk)
    assert names == ["a"]
    assert [(note.code, note.count) for note in notes] == [("trailing_bytes", len(junk.lstrip()))]


def test_more_events_than_the_limit_are_refused_with_their_number() -> None:
    with pytest.raises(FuseScopeError, match="9 events, which is more than the limit of 8"):
        decode(as_object(), Limits(events=8))


VALUES = st.recursive(
    st.integers() | st.booleans() | st.text(alphabet='a,"\\[]{}é'),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(alphabet='a,"\\[{', max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.lists(VALUES, min_size=1, max_size=6), st.sampled_from([3, 7, 4096]))
def test_the_length_of_an_array_is_counted_in_its_bytes(values: list[object], block: int) -> None:
    data = json.dumps(values, ensure_ascii=False).encode()
    for behind in (b"", b', "and": [1, 2, 3]}'):
        assert array_length(data + behind, block) == len(values)


def test_braces_and_commas_in_names_are_no_events() -> None:
    lambdas = "{lambda(int, int)#1}, " * 60
    count = 1000
    named = json.dumps([{"ph": "X", "name": lambdas}] * count).encode()
    assert decode(named, Limits(events=count)) == ([lambdas] * count, [])
    names, notes = decode(named[:-1], Limits(events=count))
    assert names == [lambdas] * count and [note.code for note in notes] == ["missing_bracket"]


def test_events_of_a_wrong_shape_are_dropped_and_counted() -> None:
    names, notes = decode(as_object([{"name": "a"}, 3, {"name": ["b"]}, {"name": "c"}]))
    assert names == ["a", "c"]
    assert [(note.code, note.count) for note in notes] == [("bad_event", 2)]


def nested(spans: list[tuple[int, int]]) -> Nesting:
    return Nesting(["t"] * len(spans), [s for s, _ in spans], [d for _, d in spans])


def test_self_times_leave_out_what_runs_inside() -> None:
    tree = nested([(0, 100), (10, 20), (15, 5), (50, 10), (100, 7)])
    assert tree.self_ns == [70, 15, 5, 10, 7]
    assert tree.parents == [-1, 0, 1, 0, -1]
    assert [tree.holder("t", at) for at in (-1, 0, 16, 21, 31, 108)] == [None, 0, 2, 1, 0, None]
    assert tree.holder("other", 16) is None


def test_a_child_that_ends_late_by_rounding_is_counted_once() -> None:
    tree = nested([(0, 10), (5, 6), (20, 5)])
    assert tree.self_ns == [5, 6, 5]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=25))
def test_self_times_sum_to_the_time_that_a_thread_is_busy(spans: list[tuple[int, int]]) -> None:
    tree = nested(spans)
    busy = {instant for start, dur in spans for instant in range(start, start + dur)}
    assert sum(tree.self_ns) == len(busy)
    assert all(0 <= own <= dur for own, (_, dur) in zip(tree.self_ns, spans, strict=True))


def test_deep_nesting_is_no_recursion_and_not_quadratic() -> None:
    depth = 200_000
    tree = nested([(level, 2 * (depth - level)) for level in range(depth)])
    assert sum(tree.self_ns) == 2 * depth
    assert tree.holder("t", depth) == depth - 1
    assert tree.holder("t", 2 * depth) is None  # further out than anybody looks
