"""The rank that the name of a file or folder gives, which is a guess."""

from __future__ import annotations

import re

from fusescope.analysis.job import MAX_RANKS

# A number behind one of these words: rank_3, worker3, device-3, gpu3, r3.
PATTERN = r"(?:^|[^A-Za-z])(?:rank|worker|device|gpu|npu|r)[-_ ]?(\d{1,6})(?!\d)"
USUAL = re.compile(PATTERN, re.IGNORECASE)


def rank_in(name: str, pattern: re.Pattern[str] = USUAL) -> int | None:
    """Return the rank that a path names; of its last three parts the last one that has one."""
    for part in reversed(name.replace("\\", "/").split("/")[-3:]):
        match = pattern.search(part[:255])
        if match is not None:
            text = match["rank"] if "rank" in pattern.groupindex else match[1]
            if text and text.isdecimal() and int(text) < MAX_RANKS:
                return int(text)
    return None
