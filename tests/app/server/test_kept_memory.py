"""Files that nobody shows any more leave the memory, however many tabs opened them."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import subprocess
import sys
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.testing.v1 import AppTest

from fusescope.analysis.operators.kernel_names import kernel_type
from fusescope.analysis.trace import Trace
from fusescope.app import application
from fusescope.app.server import memory
from fusescope.app.sources import comparisons, uploads
from fusescope.app.state import session
from tests.factories import FUSED_OPERATORS, profile_json

TABS, FILES, KEPT, COMPARED = 3, 6, 4, 2


def test_tabs_that_stay_open_hold_no_more_files_than_the_server(
    start: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "MAX_OPENED", KEPT)
    monkeypatch.setattr(comparisons, "MAX_COMPARISONS", COMPARED)
    traces: list[weakref.ref[Trace]] = []
    read = uploads.read_all

    def watched(*arguments: Any) -> Any:
        found = read(*arguments)
        traces.extend(weakref.ref(recording.value) for recording in found.recordings)
        return found

    monkeypatch.setattr(uploads, "read_all", watched)
    tabs = []
    for tab in range(TABS):
        page = start(folded=True)
        files = [
            (f"{tab}_{n}.json", profile_json(FUSED_OPERATORS, runs=1 + tab * FILES + n), "")
            for n in range(FILES)
        ]
        tabs.append(page.file_uploader[0].set_value(files).run())
        assert set(tabs[-1].query_params) == {"baseline", "candidate"}, "a pair is shown"
    gc.collect()
    alive = [trace for trace in traces if trace() is not None]
    assert len(traces) == TABS * FILES
    assert len(alive) <= KEPT + 2 * COMPARED < len(traces)


def test_closed_tabs_are_forgotten_and_shut_down() -> None:
    """Also that Streamlit still keeps them where they are looked for."""
    storage = MemorySessionStorage(ttl_seconds=0)
    ended: list[str] = []
    session = SimpleNamespace(shutdown=lambda: ended.append("a"))
    storage._cache["a"] = SimpleNamespace(session=session)  # type: ignore[assignment]
    assert memory.forget_closed_tabs(storage) == 1
    assert ended == ["a"]
    fresh = MemorySessionStorage(ttl_seconds=600)
    fresh._cache["c"] = SimpleNamespace(session=None)  # type: ignore[assignment]
    assert memory.forget_closed_tabs(fresh) == 0
    assert memory.forget_closed_tabs(None) == 0


def test_giving_back_can_always_be_asked_for() -> None:
    memory.give_back()


# Where a freed block of 4 MB raised glibc's threshold, the next ones come from the heap, which
# shrinks at its end alone: what lies behind them keeps them.
_AFTER_A_FREE = """
import ctypes
from fusescope.app.server import memory
class Info(ctypes.Structure):
    _fields_ = [(f"field{n}", ctypes.c_size_t) for n in range(10)]
libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Info
memory.keep_few_arenas()
del memory
block = bytearray(4_000_000)
del block
before = libc.mallinfo2().field4
kept = [bytearray(1_000_000) for _ in range(5)]
print(libc.mallinfo2().field4 - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="glibc 2.33 has it")
def test_tables_have_pages_of_their_own_that_go_back_when_they_do() -> None:
    ran = subprocess.run([sys.executable, "-c", _AFTER_A_FREE], capture_output=True, check=True)
    assert int(ran.stdout) >= 5_000_000, "bytes in pages of their own"


def test_the_server_keeps_few_arenas_from_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[bool] = []
    monkeypatch.setattr(application, "keep_few_arenas", lambda: called.append(True))

    async def start_and_stop() -> None:
        async with application._lifespan(application.app):
            pass

    asyncio.run(start_and_stop())
    assert called == [True]


def test_only_the_names_of_kernels_of_ordinary_files_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "_FEW_NAMES", 3)
    kernel_type.cache_clear()
    for kept, count in ((3, 3), (0, 4)):
        for at in range(count):
            kernel_type(f"add{at}<int>")
        memory.forget_names()
        assert kernel_type.cache_info().currsize == kept
