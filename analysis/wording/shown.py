"""What is on screen: samples are called that, and nothing passes for what was just chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusescope.analysis.messages import Message, say

_SAMPLES: Mapping[tuple[bool, bool], Message] = {
    (True, True): Message("Sample: a recording that comes with FuseScope, not one of yours."),
    (True, False): Message("The baseline is a sample that comes with FuseScope."),
    (False, True): Message("The candidate is a sample that comes with FuseScope."),
}
_MADE = Message(
    "Sample: written by hand to show the format. Its date, profiler and times are invented."
)


def sample_sentence(baseline: bool, candidate: bool) -> str:
    """Which sides are samples; empty where none is."""
    return _SAMPLES[baseline, candidate].text() if baseline or candidate else ""


def sample_alone_sentence(is_made: bool) -> str:
    """Return that what a page shows is a sample; `is_made` of one that nothing recorded."""
    return (_MADE if is_made else _SAMPLES[True, True]).text()


def unchanged_sentence(baseline: str, candidate: str) -> str:
    """What is shown after files were refused: what was shown before."""
    return say(
        "Nothing was opened. The page still shows {candidate:name} compared with {baseline:name}.",
        candidate=candidate,
        baseline=baseline,
    )


def opening_sentence(names: Sequence[str]) -> str:
    """What is being read before anything is shown; the names as they are given."""
    if len(names) == 1:
        return say("Reading {file:name}", file=names[0])
    return say("Reading {files:files}", files=len(names))


def reading_sentence(names: Sequence[str]) -> str:
    """What is being read, and what the page shows meanwhile; the names as they are given."""
    if len(names) == 1:
        return say(
            "Reading {file:name} … Until then the page shows what it showed before.", file=names[0]
        )
    return say(
        "Reading {files:files} … Until then the page shows what it showed before.", files=len(names)
    )


def comparing_sentence() -> str:
    """What is done while the page still has what was shown before."""
    return say(
        "Reading and comparing … Until then the rest of the page shows what it showed before."
    )
