"""Ablation: what each optimizer of the engine, or each fused kernel, is worth, measured.

Two questions with different answers, since optimizers enable and replace each other: what is lost
when one is taken from all (`without:X` against `fused`), and what one alone brings (`only:X`
against `unfused`). Neither column adds up to the speedup of `fused`. Where kernels are denied
by name (`without:<kernel>`), a row is a fused kernel, and nothing is asked of it alone.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from fusescope.analysis.compare.timing.samples import paired_differences, record_times
from fusescope.analysis.compare.timing.statistics import look_alpha, trimmed_mean, yuen
from fusescope.analysis.experiment import Experiment, ExperimentRecord, VariantRecord
from fusescope.analysis.metrics.memo import once

WITHOUT, ONLY = "without:", "only:"
_DENIED = "denied_operators"  # a setting of variants without a fused kernel
_COLUMNS = {
    "optimizer": "object",
    **dict.fromkeys(("nodes_all", "nodes_none", "nodes_without", "nodes_only"), "Int64"),
    **dict.fromkeys(("removed", "removed_low", "removed_high"), "float64"),
    **dict.fromkeys(("added", "added_low", "added_high"), "float64"),
    **dict.fromkeys(("acts_without", "acts_only"), "boolean"),
}
_Ratio = tuple[float, float, float]
_MISSING: _Ratio = (math.nan, math.nan, math.nan)


@once
def ablation(experiment: Experiment) -> pd.DataFrame | None:
    """One row per optimizer, the one whose removal costs most first; None without ablations.

    Columns: `optimizer`; `nodes_all`, `nodes_none`, `nodes_without`, `nodes_only` (Int64):
    operators of `fused`, `unfused`, and of the two ablations; `removed`, `removed_low`,
    `removed_high`: t(without) / t(fused), above 1 where the optimizer makes the model faster;
    `added`, `added_low`, `added_high`: t(unfused) / t(only), likewise; `acts_without`,
    `acts_only` (boolean): whether the ablation changes the graph, False where the recording found
    that it does not (and so did not measure it), missing where nobody looked.

    Ratios are NaN where a variant was not recorded, bounds also below 5 blocks. Times are
    un-profiled and paired by block; the interval is Yuen's at the verdict's level (Pocock over
    looks, Bonferroni over variants). `attrs`: "alpha", that level; "blocks"; "left_out", the
    optimizers that were found but not recorded; "unlisted", True where an optimizer that cannot
    be switched off acts in the `only` variants; "of", whether a row is an "optimizer" or a
    "fusion"; "refused", the fusions that could not be left out by themselves.
    """
    record = experiment.record
    variants = {variant.name: variant for variant in record.variants}
    names = dict.fromkeys(
        name.partition(":")[2] for name in variants if name.startswith((WITHOUT, ONLY))
    )
    if not names:
        return None
    alpha = look_alpha(len(record.settings.looks), len(variants) - 1)
    fused, unfused = variants.get("fused"), variants.get("unfused")
    searched = set(_listed(fused, "optimizers_found")) - set(_listed(fused, "optimizers_left_out"))
    rows = []
    for name in names:
        without, only = variants.get(WITHOUT + name), variants.get(ONLY + name)
        acts = [_acts(variant, name in searched) for variant in (without, only)]
        nodes = (
            fused,
            unfused,
            fused if acts[0] is False else without,
            unfused if acts[1] is False else only,
        )
        removed, added = _ratio(without, fused, alpha), _ratio(unfused, only, alpha)
        rows.append((name, *map(_nodes, nodes), *removed, *added, *acts))
    table = pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)
    table = table.sort_values(["removed", "added"], ascending=False, kind="stable")
    table = table.reset_index(drop=True)
    table.attrs.update(
        alpha=alpha,
        blocks=record.outcome.blocks,
        left_out=_listed(fused, "optimizers_left_out") or _listed(fused, "fusions_left_out"),
        unlisted=_unlisted(record),
        of="fusion" if any(_DENIED in one.settings for one in record.variants) else "optimizer",
        refused=_refused(fused),
    )
    return table


def _ratio(slow: VariantRecord | None, fast: VariantRecord | None, alpha: float) -> _Ratio:
    """t(slow) / t(fast) with its interval, over the blocks that both have."""
    if slow is None or fast is None:
        return _MISSING
    differences: np.ndarray = paired_differences(record_times(fast), record_times(slow))
    if not len(differences):
        return _MISSING
    ratio = math.exp(trimmed_mean(differences))
    estimate = yuen(differences)
    if estimate is None:
        return ratio, math.nan, math.nan
    low, high = estimate.interval(alpha)
    return ratio, math.exp(low), math.exp(high)


def _nodes(variant: VariantRecord | None) -> object:
    return pd.NA if variant is None or variant.nodes is None else variant.nodes


def _acts(variant: VariantRecord | None, searched: bool) -> object:
    """A recorded ablation changes the graph, or it would have been refused."""
    if variant is not None:
        return True
    return False if searched else pd.NA


def _listed(fused: VariantRecord | None, setting: str) -> tuple[str, ...]:
    told = fused.settings.get(setting, "") if fused is not None else ""
    return tuple(name for name in str(told).split(", ") if name)


def _refused(fused: VariantRecord | None) -> tuple[str, ...]:
    """'kernel: why' for each."""
    told = fused.settings.get("fusions_refused", "") if fused is not None else ""
    return tuple(one for one in str(told).split("; ") if one)


def _unlisted(record: ExperimentRecord) -> bool:
    return any(v.settings.get("unlisted_optimizers_act") is True for v in record.variants)
