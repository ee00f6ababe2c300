"""Bounds under which every file is read. A trace is untrusted input."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """Upper bounds for one input; sizes in bytes, the rest are counts."""

    file_bytes: int = 2048 * MIB
    unpacked_bytes: int = 2048 * MIB
    zip_members: int = 20_000
    zip_ratio: int = 200
    events: int = 5_000_000
    text_chars: int = 512
    name_chars: int = 120


DEFAULT_LIMITS = Limits()
