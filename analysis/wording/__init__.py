"""The one place that makes sentences: codes and values in, English out.

Texts are plain; names that come from a trace are inserted as they are, so whoever shows them
must use a sink that does not interpret markup.
"""

from __future__ import annotations

from fusescope.analysis.wording.ablation import ablation_notes, ablation_ratio
from fusescope.analysis.wording.counted import (
    counted,
    counts_of,
    drawn_text,
    figure_text,
    mean_text,
    order_text,
    per_text,
    table_help,
    time_of_sum,
    timelines_help,
)
from fusescope.analysis.wording.diagnostics import (
    diagnostic_headline,
    diagnostic_sentence,
)
from fusescope.analysis.wording.fusion.became import becomes_cell, becomes_text, originals_text
from fusescope.analysis.wording.fusion.groups import (
    KINDS,
    KNOWN_BY,
    KNOWN_BY_HELP,
    LEDGER_HELP,
    MODULES_HELP,
    NO_MODULE,
    coverage_sentence,
)
from fusescope.analysis.wording.fusion.statements import (
    fusion_parts,
    fusion_sentence,
    headline_and_rest,
)
from fusescope.analysis.wording.fusion.terms import (
    NO_WATERFALL,
    WATERFALL_HELP,
    beside_explanation,
    grey_sentence,
    no_shares_sentence,
    no_speedups_sentence,
    reconciliation_sentence,
    sum_sentence,
    waterfall_basis,
)
from fusescope.analysis.wording.fusion.title import came_from_parts, change_parts, change_title
from fusescope.analysis.wording.noise.slow_executions import slow_in_means, slow_parts
from fusescope.analysis.wording.roofline import (
    ROOFLINE_HELP,
    device_note,
    no_roofline,
    product_sentences,
    roofline_notes,
)
from fusescope.analysis.wording.sentences import (
    agreement_text,
    assumptions_sentence,
    basis_beside_others,
    basis_text,
    change_sentence,
    change_text,
    column_of_quantities,
    engines_text,
    entered_text,
    figure_detail,
    files_text,
    gap_statistic,
    headline_and_noise,
    interval_key,
    interval_name,
    kinds_sentence,
    light_work,
    next_step,
    offer_sentence,
    quantity_text,
    source_text,
    totals_sentence,
    verdict_basis,
    verdict_interval,
    verdict_parts,
    verdict_sentence,
    why_not_told,
)
from fusescope.analysis.wording.single import (
    opened_sentence,
    trace_facts,
    trace_parts,
    units_opened_text,
    units_text,
)
from fusescope.analysis.wording.texts import (
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
)
from fusescope.analysis.wording.timeline.drawn import PICKED_IS_HIDDEN
from fusescope.analysis.wording.totals import total_basis, total_label, total_of, totals_title
from fusescope.analysis.wording.trust import (
    TRUST,
    all_of_them,
    doubts_counted,
    general_doubt,
    trust_line,
)
