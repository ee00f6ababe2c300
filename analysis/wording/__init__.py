"""The one place that makes sentences: codes and values in, English out.

Texts are plain; names that come from a trace are inserted as they are, so whoever shows them
must use a sink that does not interpret markup.
"""

from __future__ import annotations

from analysis.wording.diagnostics import (
    diagnostic_sentence,
)
from analysis.wording.sentences import (
    Part,
    assumptions_sentence,
    basis_text,
    change_sentence,
    change_text,
    light_work,
    opened_sentence,
    quantity_text,
    source_text,
    verdict_basis,
    verdict_interval,
    verdict_parts,
    verdict_sentence,
)
from analysis.wording.texts import (
    CANNOT_TELL,
    FIGURES,
    OP_TYPES_HELP,
    OPERATORS_HELP,
    REASONS,
    RUN_TIMES_HELP,
    TIME_SOURCES,
    TIMELINES_HELP,
    FigureText,
)

__all__ = [
    "CANNOT_TELL",
    "FIGURES",
    "OPERATORS_HELP",
    "OP_TYPES_HELP",
    "REASONS",
    "RUN_TIMES_HELP",
    "TIMELINES_HELP",
    "TIME_SOURCES",
    "FigureText",
    "Part",
    "assumptions_sentence",
    "basis_text",
    "change_sentence",
    "change_text",
    "diagnostic_sentence",
    "light_work",
    "opened_sentence",
    "quantity_text",
    "source_text",
    "verdict_basis",
    "verdict_interval",
    "verdict_parts",
    "verdict_sentence",
]
