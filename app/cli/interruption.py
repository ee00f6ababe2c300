"""Interruption: who ends us politely gets what Ctrl-C gets, and who holds the key gets it once."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator

# A terminal that is closed, or a connection that is lost, hangs up.
_POLITE = (signal.SIGTERM, signal.SIGHUP)
_HELD_S = 1.0  # a key that is held repeats itself sooner
_CODE = 130  # as after Ctrl-C
_SHOW_CURSOR = b"\x1b[?25h"
_last_s: float | None = None


def heed() -> None:
    """From now on a polite signal raises KeyboardInterrupt, once: a hang-up comes from the shell
    and from the system, and the second one must not end the writing of what there is. Nor must the
    repetitions of a Ctrl-C that is held; another one, a second later, is meant. A signal that the
    caller has us ignore, as nohup does, stays ignored."""
    import tempfile

    global _last_s
    _last_s = None
    for polite in _POLITE:
        if signal.getsignal(polite) is not signal.SIG_IGN:
            signal.signal(polite, _interrupt)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt_by_key)
    # Python finds the temporary folder by making a file there, which an interruption would leave.
    with put_off(), contextlib.suppress(OSError):  # said where the folder is needed
        tempfile.gettempdir()


def finish() -> None:
    """The verb has ended: a key that is still held does not change how."""
    if _last_s is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def end_at_once(clean: Callable[[], None]) -> None:
    """From now on a polite signal cleans up and ends this process: one that has processes of its
    own cannot be interrupted just anywhere."""

    def end(_signal: int, _frame: object) -> None:
        clean()
        if sys.stderr.isatty():
            os.write(2, _SHOW_CURSOR)  # which a bar of progress hides
        os._exit(_CODE)

    for polite in _POLITE:
        if signal.getsignal(polite) is not signal.SIG_IGN:
            signal.signal(polite, end)


@contextlib.contextmanager
def put_off() -> Iterator[None]:
    """A polite signal, or the key, that comes meanwhile takes effect at the end: what is being
    made, and has no name yet that could be removed, is made."""
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _frame: came.append(number))
        for number in (*_POLITE, signal.SIGINT)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def _interrupt(_signal: int, _frame: object) -> None:
    for polite in _POLITE:
        signal.signal(polite, signal.SIG_IGN)
    raise KeyboardInterrupt


def _interrupt_by_key(_signal: int, _frame: object) -> None:
    global _last_s
    now = time.monotonic()
    is_held = _last_s is not None and now - _last_s < _HELD_S
    _last_s = now
    if not is_held:
        raise KeyboardInterrupt
