"""`fusescope`: runs the verb that is asked for, and says what went wrong in a sentence."""

from __future__ import annotations

import atexit
import contextlib
import errno
import logging
import os
import re
import sys
import threading

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import say
from fusescope.app.cli import interruption, language, memory, streams
from fusescope.app.cli.help import command_of
from fusescope.app.cli.verbs import command_line

_MAX_CHARS = 1000  # of an error: names in it come from files
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
_NO_MEMORY = re.compile(
    r"cannot allocate memory|failed to map segment|unable to allocate", re.IGNORECASE
)


def main() -> None:
    """Run the command line. Exit code 0: fine; 1: a gate failed; 2: bad usage, unreadable input,
    or no place for the output. Who stops reading (`| head`) has had enough, which is fine."""
    streams.prepare()
    _keep_log_quiet()
    code = _run()
    if streams.is_stuck() and code == 0:
        code = 2
    interruption.finish()
    sys.exit(code)


def program() -> None:
    """Run the command line as all that this process does, which then ends at once: to free what is
    held piece by piece takes a tenth of a short command. A thread that is left ends as ever."""
    try:
        main()
    except SystemExit as ended:
        if threading.active_count() > 1 or not isinstance(ended.code, int):
            raise
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(ended.code)


def _keep_log_quiet() -> None:
    """What is logged is for the log of a server; a verb has said its sentence by then."""
    if "serve" not in sys.argv[1:4] and not os.environ.get("FUSESCOPE_DEBUG"):
        logging.getLogger("fusescope").addHandler(logging.NullHandler())


def _run() -> int:
    try:
        try:
            asked, sys.argv[1:] = language.taken(sys.argv[1:])
            language.speak(asked)
            command_of(command_line(sys.argv[1:]))(prog_name="fusescope")
        except SystemExit as ended:
            # click and rich make a code of their own out of a reader that is gone
            if isinstance(ended.__context__, BrokenPipeError):
                raise ended.__context__ from None
            if isinstance(ended.code, int) and ended.code:
                return ended.code
        sys.stdout.flush()
    except memory.LittleMemoryError as error:
        streams.tell(error.text)
        return 2
    except FuseScopeError as error:
        from fusescope.analysis.text import clean_text

        streams.tell(clean_text(error.text, _MAX_CHARS))
        if "--json" in sys.argv:
            from fusescope.analysis.report.exports.error_json import error_json

            with contextlib.suppress(OSError):
                streams.write_json(error_json(error))
        return 2
    except BrokenPipeError:
        streams.is_stuck()
    except Exception as error:
        if os.environ.get("FUSESCOPE_DEBUG"):
            raise
        streams.tell(_said_of(error))
        return 2
    return 0


def _said_of(error: Exception) -> str:
    if isinstance(error, MemoryError) or _NO_MEMORY.search(str(error)):
        return memory.too_little()
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        from fusescope.analysis.units import middle_cut

        path = middle_cut(ascii(error.filename), 60)
        return say("A path is too long ({path:name}). Shorten it.", path=path)
    # Files that a verb writes have a sentence of their own: what is left is what we print.
    if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
        return say(
            "The output cannot be written: {reason:name}. Send it elsewhere.",
            reason=(error.strerror or type(error).__name__).lower(),
        )
    return say(
        "Something went wrong inside FuseScope ({kind:name}). Set FUSESCOPE_DEBUG=1 to see where, "
        "and report it.",
        kind=type(error).__name__,
    )


if __name__ == "__main__":
    program()
