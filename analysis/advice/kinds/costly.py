"""Costly fusions: what an ablation left out, and the model was faster without."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from fusescope.analysis.advice.finding import Finding, Gain, Unknown
from fusescope.analysis.advice.subject import Answer, Subject, shown
from fusescope.analysis.compare.ablation import WITHOUT, ablation
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.timing.verdict import paired_verdict

_FUSED = "fused"  # what ablations are of
# Engines that have no way to leave out a single fusion.
_NO_WAY: Mapping[str, Unknown] = {
    "jax": "no_ablation_of_jax",
    "mindspore": "no_ablation_of_mindspore",
    "openvino": "no_ablation_of_openvino",
}


def _why_none(side: Side) -> Unknown:
    name = side.engine.name if side.engine else ""
    if name in _NO_WAY:
        return _NO_WAY[name]
    is_alone = side.experiment is None or len(side.experiment.record.engines) < 2
    return "no_ablation" if is_alone else "no_ablation_of_several"


def costly_fusion(subject: Subject) -> Answer:
    """Each optimizer or fused kernel without which the model is faster: the whole interval of time
    without it / time with everything is below 1. What that saves of an un-profiled run is measured.

    Asked of the variant with everything; nothing where its two copies differ.
    """
    side = subject.side
    table = None if side.experiment is None else ablation(side.experiment)
    if side.experiment is None:
        return "no_ablation"
    if table is None:
        return _why_none(side)
    whole_ns, variant = subject.unprofiled_ns, side.variant
    if variant is None or variant.name != _FUSED or whole_ns is None:
        return ()
    record = side.experiment.record
    found = []
    for row in table[table["removed_high"] < 1].to_dict("records"):
        name = str(row["optimizer"])
        if paired_verdict(record, _FUSED, WITHOUT + name).reason == "control_differs":
            continue
        found.append(_finding(row, name, record.variant(WITHOUT + name).settings, whole_ns, table))
    return tuple(found)


def _finding(
    row: dict[object, object],
    name: str,
    settings: dict[str, str | int | float | bool],
    whole_ns: float,
    table: pd.DataFrame,
) -> Finding:
    ratio, low, high = (float(str(row[f"removed{end}"])) for end in ("", "_low", "_high"))
    is_kernel = table.attrs["of"] == "fusion"
    return Finding(
        "costly_fusion",
        values={
            "name": shown(name),
            "of": str(table.attrs["of"]),
            "with_ns": whole_ns,
            "without_ns": ratio * whole_ns,
            "ratio": ratio,
            "low": low,
            "high": high,
            "members": shown(settings.get("denied_operators", "")) if is_kernel else "",
        },
        at_most_ns=(1 - low) * whole_ns,
        share=1 - ratio,
        gain=Gain((1 - ratio) * whole_ns, (1 - high) * whole_ns, (1 - low) * whole_ns, "measured"),
        where="operators" if is_kernel else "run",
        names=(shown(name),) if is_kernel else (),
        confidence="high",
        of_ns=whole_ns,
    )
