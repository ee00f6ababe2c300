"""What is in a file, as JSON: the contract of `fusescope inspect --json` (docs/json.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import pandas as pd

from fusescope.analysis.compare.runs.units import with_runs
from fusescope.analysis.compare.side import side_of_trace, side_of_variant
from fusescope.analysis.doctor import Examination, examine, fields
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.messages import language
from fusescope.analysis.metrics.breakdown import steady_calls
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.report.explanation.diagnostics_json import diagnostics, note_values
from fusescope.analysis.report.explanation.rank_json import rank_values
from fusescope.analysis.report.exports.roofline_json import roofline_values
from fusescope.analysis.trace import Diagnostic, Trace
from fusescope.analysis.wording import doctor as words

SCHEMA_VERSION = 1


def inspection(value: Trace | Experiment) -> dict[str, Any]:
    """Plain values of one file; an experiment has `variants` of the same form, a profile of several
    processes or devices `units`.

    `total_kernel_ns` is the sum of `dur_ns` of every call but communication, warm-up included;
    `by_type` sums exactly to it; its `per_run_ns` leaves warm-up out, as a comparison does.
    `communication` is the rest: with it the counts are those of all executions.
    """
    if isinstance(value, Experiment):
        record = value.record
        return {
            "schema_version": SCHEMA_VERSION,
            "format": "experiment",
            "tool": f"FuseScope {record.fusescope_version}",
            "created": record.created,
            **{
                part: msgspec.to_builtins(getattr(record, part))
                for part in ("model", "machine", "engine", "settings", "outcome", "peaks")
            },
            "variants": [
                {
                    "name": variant.name,
                    **_trace(value.traces[variant.name]),
                    "roofline": roofline_values(side_of_variant(value, variant.name)),
                }
                for variant in record.variants
            ],
            "diagnostics": diagnostics(value.diagnostics),
            "doctor": doctor(examine(value)),
        }
    return {
        "schema_version": SCHEMA_VERSION,
        "format": value.meta.format,
        "tool": " ".join(part for part in (value.meta.tool, value.meta.version) if part),
        "job": rank_values(value.meta.job),
        **_trace(value),
        **_units(value),
        "doctor": doctor(examine(value)),
    }


def _units(trace: Trace) -> dict[str, Any]:
    """The processes or devices of the file, the one that the other values are of first."""
    if not trace.others:
        return {}
    return {"units": [{"name": name, **_trace(one)} for name, one in trace.units.items()]}


def inspection_json(value: Trace | Experiment) -> bytes:
    """`inspection` as indented JSON; its texts are English."""
    with language.speaking(language.ENGLISH):
        return msgspec.json.format(msgspec.json.encode(inspection(value)), indent=2)


def report_json(values: Mapping[str, Trace | Experiment]) -> bytes:
    """The files of a report, by what they are called there, as indented JSON; its texts are
    English."""
    with language.speaking(language.ENGLISH):
        sides = [{"name": name, **inspection(value)} for name, value in values.items()]
        made = {"schema_version": SCHEMA_VERSION, "format": "report", "sides": sides}
        return msgspec.json.format(msgspec.json.encode(made), indent=2)


def _trace(trace: Trace) -> dict[str, Any]:
    if trace.early_end is not None:
        return _early_end(trace, trace.early_end)
    placed = _known_by_place(trace)
    calls, operators = placed.calls, placed.operators
    is_communication = operators["is_communication"].to_numpy()[calls["operator"].to_numpy()]
    compute = calls[~is_communication]
    told = trace.told_runs["run"]
    in_runs = calls[calls["run"].isin(told)]
    per_run = in_runs.groupby("run")["n"].sum()
    return {
        "ends_early": None,
        "runs": len(trace.runs),
        "profiled_runs": int(told.isin(calls["run"]).sum()),
        "operators": float(per_run.median()) if len(per_run) else float(calls["n"].sum()),
        "rows": len(calls),
        "total_kernel_ns": int(compute["dur_ns"].sum()),
        "communication_ns": int(calls["dur_ns"][is_communication].sum()),
        "communication": _communication(placed, calls[is_communication]),
        "by_type": _by_type(placed, compute),
        "fields": fields(trace),
        "diagnostics": diagnostics(trace.diagnostics),
        **_lost(trace),
    }


def _known_by_place(trace: Trace) -> Trace:
    """Return a trace whose kernels without a launch count as the operators that stand at their
    place in other runs, as everything does that is said of it; its own runs stay."""
    units = with_runs(side_of_trace(trace)).trace
    operators = units.calls["operator"].to_numpy()
    return replace(trace, operators=units.operators, calls=trace.calls.assign(operator=operators))


def _lost(trace: Trace) -> dict[str, Any]:
    """How many records could not be read, of how many, where they are many."""
    note = next((note for note in trace.diagnostics if note.code == "rows_lost"), None)
    if note is None:
        return {}
    return {"rows_lost": {"lost": note.count, "of": note.values["of"]}}


def _early_end(trace: Trace, why: Diagnostic) -> dict[str, Any]:
    """What may be said of a file that ends early: how much is in it, and no sum."""
    return {
        "ends_early": why.code,
        "runs": 0,
        "profiled_runs": 0,
        "operators": None,
        "rows": len(trace.calls),
        "total_kernel_ns": None,
        "communication_ns": None,
        "communication": None,
        "by_type": [],
        "fields": fields(trace),
        "diagnostics": diagnostics(trace.diagnostics),
    }


def _communication(trace: Trace, talking: pd.DataFrame) -> dict[str, Any] | None:
    """Return all communication as one row of the form of `by_type`; None where there is none."""
    if talking.empty:
        return None
    steady_ns = talking["dur_ns"][talking.index.isin(steady_calls(trace).index)].sum()
    return {
        "count": int(talking["n"].sum()),
        "total_ns": int(talking["dur_ns"].sum()),
        "per_run_ns": float(steady_ns) / max(1, len(steady_runs(trace).runs)),
    }


def _by_type(trace: Trace, compute: pd.DataFrame) -> list[dict[str, Any]]:
    steady = steady_runs(trace)
    counted = steady_calls(trace).index
    types = trace.operators["op_type"].astype("object")
    labels = types.where(types.notna(), None).to_numpy()[compute["operator"].to_numpy()]
    keys = pd.Series([str(t) if t is not None else "" for t in labels], index=compute.index)
    sums = compute[["n", "dur_ns"]].groupby(keys, sort=False).sum()
    steady_ns = compute["dur_ns"].where(compute.index.isin(counted), 0)
    sums["steady_ns"] = steady_ns.groupby(keys, sort=False).sum()
    rows = [
        {
            "op_type": name or None,
            "count": int(count),
            "total_ns": int(total_ns),
            "per_run_ns": float(steady_ns) / max(1, len(steady.runs)),
        }
        for name, count, total_ns, steady_ns in sums.itertuples()
    ]
    return sorted(rows, key=lambda row: (-row["total_ns"], row["op_type"] or ""))


def doctor(found: Examination) -> dict[str, Any]:
    """The import doctor's object: docs/json.md, 'doctor'."""
    return {
        "format": found.format,
        "title": found.title,
        "tool": found.tool,
        "version": found.version,
        "device": found.device,
        "files": list(found.files),
        "read": {
            "runs": found.runs,
            "run_kind": found.run_kind,
            "samples": found.samples,
            "operators": found.operators,
            "rows": found.rows,
        },
        "dropped": _notes(found.dropped),
        "repaired": _notes(found.repaired),
        "noted": _notes(found.noted),
        "has": list(found.has),
        "lacks": [{"field": lack.field, "record": lack.switch} for lack in found.lacks],
        "figures": [
            {
                "figure": answer.figure,
                "available": answer.available,
                "code": answer.code,
                "needs": answer.needs or None,
                "record": answer.switch,
                "without": list(answer.without),
                "sentence": words.answer_sentence(answer),
            }
            for answer in found.answers
        ],
    }


def _notes(notes: tuple[Diagnostic, ...]) -> list[dict[str, Any]]:
    return [
        {
            **note_values(note),
            "example": str(note.example) or None,
            "variant": note.values.get("variant"),
            "message": words.note_sentence(note),
        }
        for note in notes
    ]
