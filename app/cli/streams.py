"""What is printed: in any encoding, to a disk that may be full, to a reader that may go away."""

from __future__ import annotations

import codecs
import contextlib
import os
import sys
from collections.abc import Iterable

_HANDLER = "fusescope-plain"
_PLAIN = str.maketrans(
    dict(zip("–—−‑×·µμ≈²³“”„‘’•", '----x*uu~23"""\'\'-', strict=True))
    | {"\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " ", "\N{THIN SPACE}": " "}
    | {"…": "...", "→": "->", "←": "<-", "≤": "<=", "≥": ">=", "±": "+-", "≠": "!="}
)


def prepare() -> None:
    """From here on no character is refused: what an encoding lacks is written plainly, or as ?."""
    codecs.register_error(_HANDLER, _plainly)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_HANDLER)


def write_json(data: bytes) -> None:
    """Prints JSON, which is UTF-8 whatever the terminal speaks, and a newline."""
    write_json_parts((data,))


def write_json_parts(parts: Iterable[bytes]) -> None:
    """Prints JSON that comes in parts, as `write_json`."""
    sys.stdout.flush()
    for part in parts:
        sys.stdout.buffer.write(part)
    sys.stdout.buffer.write(b"\n")


def tell(sentence: str) -> None:
    """Prints a sentence on stderr, if anybody listens."""
    with contextlib.suppress(OSError):
        print(f"fusescope: {sentence}", file=sys.stderr, flush=True)


def is_stuck() -> bool:
    """Whether stdout refuses what it was given; it is given up then, so that nothing says more."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False


def _plainly(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    return "".join(c if c.isascii() else "?" for c in text), error.end
