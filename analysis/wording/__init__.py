"""The one place that makes sentences: codes and values in, English out.

Texts are plain; names that come from a trace are inserted as they are, so whoever shows them
must use a sink that does not interpret markup.
"""

from __future__ import annotations

from analysis.wording.ablation import ABLATION_HELP, ablation_notes, ablation_ratio
from analysis.wording.diagnostics import (
    diagnostic_headline,
    diagnostic_sentence,
)
from analysis.wording.fusion import (
    KINDS,
    KNOWN_BY,
    KNOWN_BY_HELP,
    LEDGER_HELP,
    TERMS,
    WATERFALL_HELP,
    coverage_sentence,
    fusion_parts,
    fusion_sentence,
    no_shares_sentence,
    reconciliation_sentence,
    waterfall_basis,
)
from analysis.wording.roofline import ROOFLINE_HELP, no_roofline, roofline_notes
from analysis.wording.sentences import (
    Part,
    agreement_text,
    assumptions_sentence,
    basis_text,
    change_sentence,
    change_text,
    entered_text,
    light_work,
    offer_sentence,
    opened_sentence,
    quantity_text,
    source_text,
    totals_sentence,
    verdict_basis,
    verdict_interval,
    verdict_parts,
    verdict_sentence,
    why_not_told,
)
from analysis.wording.slow_executions import slow_note, slow_parts
from analysis.wording.texts import (
    ASCEND_HELP,
    CANNOT_TELL,
    COUNTERS_HELP,
    FIGURES,
    NOISE_UNKNOWN,
    OP_TYPES_HELP,
    OPERATORS_HELP,
    REASONS,
    RUN_TIMES_HELP,
    TIME_SOURCES,
    TIMELINES_HELP,
    FigureText,
)
from analysis.wording.timelines import PICKED_IS_HIDDEN
from analysis.wording.totals import total_basis, total_label, totals_title
from analysis.wording.trust import GENERAL_DOUBT, TRUST, trust_line

__all__ = [
    "ABLATION_HELP",
    "ASCEND_HELP",
    "CANNOT_TELL",
    "COUNTERS_HELP",
    "FIGURES",
    "GENERAL_DOUBT",
    "KINDS",
    "KNOWN_BY",
    "KNOWN_BY_HELP",
    "LEDGER_HELP",
    "NOISE_UNKNOWN",
    "OPERATORS_HELP",
    "OP_TYPES_HELP",
    "PICKED_IS_HIDDEN",
    "REASONS",
    "ROOFLINE_HELP",
    "RUN_TIMES_HELP",
    "TERMS",
    "TIMELINES_HELP",
    "TIME_SOURCES",
    "TRUST",
    "WATERFALL_HELP",
    "FigureText",
    "Part",
    "ablation_notes",
    "ablation_ratio",
    "agreement_text",
    "assumptions_sentence",
    "basis_text",
    "change_sentence",
    "change_text",
    "coverage_sentence",
    "diagnostic_headline",
    "diagnostic_sentence",
    "entered_text",
    "fusion_parts",
    "fusion_sentence",
    "light_work",
    "no_roofline",
    "no_shares_sentence",
    "offer_sentence",
    "opened_sentence",
    "quantity_text",
    "reconciliation_sentence",
    "roofline_notes",
    "slow_note",
    "slow_parts",
    "source_text",
    "total_basis",
    "total_label",
    "totals_sentence",
    "totals_title",
    "trust_line",
    "verdict_basis",
    "verdict_interval",
    "verdict_parts",
    "verdict_sentence",
    "waterfall_basis",
    "why_not_told",
]
