"""Trust: which doubts matter most, and which hold for any two separate files and count as one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fusescope.analysis.trace import Diagnostic

# Any two files that were recorded apart raise these: together they are one doubt.
GENERAL = (
    "unpaired",
    "one_process_each",
    "machines_unknown",
    "one_side_unknown",
    "profiled_headline",
)
# What can turn the answer around comes before what blurs it.
_FIRST = (
    "different_models",
    "different_sizes",
    "models_unknown",
    "model_not_shown",
    "different_phases",
    "capture_and_replay",
    "different_work",
    "same_variant",
    "same_file",
    "graphs_of_two_models",
    "heavy_counts_differ",
    "operator_counts_differ",
    "quantised",
    "large_output_difference",
    "outputs_not_compared",
    "boundaries_included",
    "requests_at_once",
    "worlds_differ",
    "ranks_apart",
    "device_counts_differ",
    "devices_differ",
    "engines_differ",
    "engine_versions_differ",
    "providers_differ",
    "levels_differ",
    "tools_differ",
    "recordings_differ",
    "compared_cut_short",
    "compared_open_end",
    "compared_rows_lost",
    "control",
    "load_seen",
    "load",
    "weak_attribution",
    "mean_differs",
)
# What nearly every profile of short operators raises.
_LAST = (
    "engine_profiles_differ",
    "biased_rows",
    "profiler_inflation",
    "unknown_operators",
    "classes_unknown",
)


@dataclass(frozen=True)
class Trust:
    """Diagnostics of a comparison in the order in which a reader needs them.

    `specific` are doubts about this pair, what matters most first; `general` those that any two
    separate files raise; `notes` are not doubts.
    """

    specific: tuple[Diagnostic, ...]
    general: tuple[Diagnostic, ...]
    notes: tuple[Diagnostic, ...]

    @property
    def doubts(self) -> int:
        """How many doubts there are, as listed: all general ones count as one."""
        return len(self.specific) + bool(self.general)

    @property
    def first(self) -> tuple[Diagnostic, ...]:
        """One diagnostic of each specific doubt."""
        return tuple({note.code: note for note in reversed(self.specific)}.values())[::-1]


def trust(notes: Iterable[Diagnostic]) -> Trust:
    """The diagnostics of a comparison parted and ordered; none is lost."""
    notes = tuple(notes)
    serious = [note for note in notes if note.severity != "info"]
    return Trust(
        specific=tuple(sorted((note for note in serious if note.code not in GENERAL), key=_weight)),
        general=tuple(note for note in serious if note.code in GENERAL),
        notes=tuple(note for note in notes if note.severity == "info"),
    )


def _weight(note: Diagnostic) -> tuple[bool, int]:
    """Errors first, then by what the code can do to the answer."""
    if note.code in _FIRST:
        rank = _FIRST.index(note.code)
    else:
        rank = len(_FIRST) + (1 + _LAST.index(note.code) if note.code in _LAST else 0)
    return note.severity != "error", rank
