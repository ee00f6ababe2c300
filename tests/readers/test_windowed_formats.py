"""Large files are read window by window: what is said is the same wherever they are cut."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from benchmarks.traces import FORMATS
from fusescope.analysis.readers.input import event_windows
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from tests.readers.windows import assert_same, outcome, windows_of

_WRITTEN = {
    "trace_view": "ascend_trace_view",
    "msprof": "msprof_timeline",
    "mindspore": "mindspore_cpu_timeline",
    "rocprof": "rocprof",
    "rocprofv3": "rocprof",
}
_TEXTS = {name: "".join(FORMATS[name](90)) for name in _WRITTEN}
_LAYOUTS = ("as written", "pretty", "one line", "packed", "cut short", "damaged")


def _laid_out(text: str, layout: str, at: float) -> bytes:
    place = int(at * len(text))
    if layout == "pretty":
        text = json.dumps(json.loads(text), indent=2)
    elif layout == "one line":
        text = json.dumps(json.loads(text), separators=(",", ":"))
    elif layout == "cut short":
        text = text[:place]
    elif layout == "damaged":  # a Windows path, as some writers have it
        begin = text.find('"name"', place)
        text = text[:begin] + '"path": "C:\\x", ' + text[begin:] if begin > 0 else text
    return gzip.compress(text.encode()) if layout == "packed" else text.encode()


@pytest.mark.parametrize("written", _WRITTEN)
@settings(phases=[Phase.explicit, Phase.generate])  # what is drawn is small already
@given(st.integers(1, 3000), st.sampled_from(_LAYOUTS), st.floats(0, 1))
def test_windows_say_what_the_whole_says(written: str, size: int, layout: str, at: float) -> None:
    data = _laid_out(_TEXTS[written], layout, at)
    whole = outcome(Source("trace.json", data))
    with windows_of(size):
        assert_same(outcome(Source("trace.json", data)), whole)
    if layout in ("as written", "pretty", "one line", "packed"):
        assert isinstance(whole, Trace) and whole.meta.format == _WRITTEN[written]
        assert len(whole.calls) > 4


@pytest.mark.parametrize("written", _WRITTEN)
def test_a_valid_file_is_never_read_as_a_whole(
    written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = _TEXTS[written].encode()
    sizes = []
    decode = event_windows.decode_file

    def counted(part: bytes, *rest: object) -> object:
        sizes.append(len(part))
        return decode(part, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(event_windows, "decode_file", counted)
    with windows_of(2000, 4000):
        assert isinstance(outcome(Source("trace.json", data)), Trace)
    assert max(sizes) < 9000 < len(data)
