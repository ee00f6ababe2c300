"""What a `rules:` variant runs: the model after our own fusion pass."""

from __future__ import annotations

from pathlib import Path

import msgspec
import onnx

from fusescope.collectors.fusion.fusing import fuse
from fusescope.collectors.fusion.report import Report
from fusescope.collectors.fusion.rules import check
from fusescope.collectors.variants import Variant
from fusescope.collectors.workers.jobs import Derived, DeriveJob

REPORT = "report.json"
_RULES_CHARS = 2000


def derive(job: DeriveJob, variant: Variant, model: onnx.ModelProto) -> Derived:
    """Writes the rewritten model and the report into the job's folder. Raises FuseScopeError for
    rules that cannot be read, or that name a module the model does not have."""
    folder = Path(job.folder)
    rules = check(variant.argument, job.rules)
    result = fuse(model, job.settings, rules, folder, seed=job.seed)
    (folder / REPORT).write_bytes(msgspec.json.encode(result.report))
    return Derived(
        str(result.path), optimization=rules.optimization, settings=_settings(result.report)
    )


def _settings(report: Report) -> dict[str, str | int | float | bool]:
    """What was set and done, for people who want to repeat it."""
    fused = {
        f"{pattern} (partly)" if outcome == "partly" else pattern: len(rows)
        for (pattern, outcome), rows in report.by_pattern().items()
    }
    told: dict[str, str | int | float | bool] = {
        "rules": _short(report.rules),
        "fusion_level": report.level,
        "fused_groups": _listed(fused),
        "nodes_before_fusion": report.nodes_before,
        "nodes_after_fusion": report.nodes_after,
    }
    if report.taken_back:
        counts: dict[str, int] = {}
        for row in report.taken_back:
            counts[row.pattern] = counts.get(row.pattern, 0) + 1
        told["groups_taken_back"] = _listed(counts)
    verified = [row.difference for row in report.applied if row.difference is not None]
    if verified:
        told["largest_group_difference"] = max(verified)
    return told


def _listed(counts: dict[str, int]) -> str:
    return "; ".join(f"{count} × {name}" for name, count in counts.items()) or "none"


def _short(text: str) -> str:
    """The file on one line, without lines that are remarks."""
    lines = (line.strip() for line in text.splitlines())
    joined = "; ".join(line for line in lines if line and not line.startswith("#"))
    return joined if len(joined) <= _RULES_CHARS else joined[: _RULES_CHARS - 1] + "…"
