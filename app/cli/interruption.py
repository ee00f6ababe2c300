"""Interruption: whoever ends us politely gets what Ctrl-C gets."""

from __future__ import annotations

import signal

# A terminal that is closed, or a connection that is lost, hangs up.
_POLITE = (signal.SIGTERM, signal.SIGHUP)


def heed() -> None:
    """From now on a polite signal raises KeyboardInterrupt, once: a hang-up comes from the shell
    and from the system, and the second one must not end the writing of what there is. One that the
    caller has us ignore, as nohup does, stays ignored."""
    for polite in _POLITE:
        if signal.getsignal(polite) is not signal.SIG_IGN:
            signal.signal(polite, _interrupt)


def _interrupt(_signal: int, _frame: object) -> None:
    for polite in _POLITE:
        signal.signal(polite, signal.SIG_IGN)
    raise KeyboardInterrupt
