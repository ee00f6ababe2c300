"""Memory of files that nobody shows any more goes back to the system."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import sys
import threading
from typing import Any

from streamlit import runtime

_PERIOD_S = 30.0
# Of glibc's mallopt.
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_OWN_PAGES_BYTES = 128 * 1024
_ARENAS = 2
_FEW_NAMES = 1 << 16  # of kernels: 16 MB with what is known of them
_FREED = threading.Event()


def keep_few_arenas() -> None:
    """Have glibc hand back what is freed, before threads are started.

    Each thread that draws a page would have an arena of its own, where what one upload leaves
    stands between what the next one frees. Tables get pages of their own, which go back with them.
    """
    mallopt: Any = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _ARENAS)
        mallopt(_M_MMAP_THRESHOLD, _OWN_PAGES_BYTES)


def was_freed() -> None:
    """A file was read or closed: much of what that took is free now, or soon."""
    _FREED.set()


def give_back() -> None:
    """Collect what nothing refers to, and hand free pages back to the system.

    A file is read through many small pieces, which glibc and Arrow keep for the next one.
    """
    forget_names()
    gc.collect()
    arrow: Any = sys.modules.get("pyarrow")  # Streamlit's, for tables
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    trim: Any = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc alone has it
    if trim is not None:
        trim(0)


def forget_names() -> None:
    """Forget the types of kernels where they are of files with very many names."""
    names: Any = sys.modules.get("fusescope.analysis.operators.kernel_names")
    if names is not None and names.kernel_type.cache_info().currsize > _FEW_NAMES:
        names.kernel_type.cache_clear()


def forget_closed_tabs(storage: Any) -> int:
    """Drop the sessions in Streamlit's `storage` that are too old to come back; how many.

    Streamlit keeps the session of a closed tab, and with it all that its page drew, for 2 minutes
    and then until another tab is closed.
    """
    expire = getattr(getattr(storage, "_cache", None), "expire", None)
    gone = expire() if expire is not None else []
    for _, info in gone:
        info.session.shutdown()
    return len(gone)


async def housekeeping() -> None:
    """Until it is cancelled: forget closed tabs, and give back what was freed."""
    while True:
        await asyncio.sleep(_PERIOD_S)
        if runtime.exists():
            manager = getattr(runtime.get_instance(), "_session_mgr", None)
            if forget_closed_tabs(getattr(manager, "_session_storage", None)):
                _FREED.set()
        if _FREED.is_set():
            _FREED.clear()
            await asyncio.to_thread(give_back)
