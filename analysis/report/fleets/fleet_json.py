"""A fleet as JSON: the contract of `fusescope fleet --json` (docs/fleet.md)."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from fusescope.analysis.fleet.examined import Examined
from fusescope.analysis.fleet.step_split import Split
from fusescope.analysis.fleet.versus import Versus
from fusescope.analysis.messages import language
from fusescope.analysis.wording.fleet.bases import BASES
from fusescope.analysis.wording.fleet.sentences import (
    answer_sentences,
    damaged_sentence,
    difference_sentence,
    state_sentences,
    text_of,
)

SCHEMA_VERSION = 1


def fleet_json(found: Examined, against: Versus | None = None) -> bytes:
    """Every answer, as indented JSON; its texts are English."""
    with language.speaking(language.ENGLISH):
        values = fleet_values(found, against)
    return msgspec.json.format(msgspec.json.encode(values), indent=2)


def fleet_values(found: Examined, against: Versus | None = None) -> dict[str, Any]:
    """The same as values, in the language that is spoken."""
    fleet, free = found.fleet, found.straggler_free
    values: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "ranks": [
            {
                "rank": facts.rank,
                "file": facts.file,
                "sha256": facts.sha256,
                "format": facts.format,
                "stage": found.stages.of.get(facts.rank),
            }
            for facts in fleet.ranks
        ],
        "world": fleet.world,
        "missing": list(fleet.missing),
        "damaged": [
            {"file": one.file, "code": one.code, "rank": one.rank, "reason": damaged_sentence(one)}
            for one in fleet.damaged
        ],
        "is_being_written": fleet.is_being_written,
        "steps": found.steps,
        "collectives": {
            "whole": found.collectives,
            "decided": found.decided,
            "left_out": found.left_out,
            "alone": len(found.alone_ns),
            "alone_ns": float(found.alone_ns.sum()),
        },
        "slow_ranks": [
            {
                "rank": slow.rank,
                "votes": slow.votes,
                "collectives": slow.collectives,
                "low": slow.low,
                "high": slow.high,
                "chance": slow.chance,
                "waited_ns": slow.waited_ns,
                "cost": slow.cost,
                "steps": slow.steps,
                "basis": "measured",
            }
            for slow in found.slow
        ],
        "causes": [
            {
                "rank": cause.rank,
                "late_ns": cause.late_ns,
                "is_measured": cause.is_measured,
                "coverage": cause.coverage,
                "idle_ns": cause.idle_ns,
                "operators": [
                    {"name": one.name, "excess_ns": one.excess_ns, "share": one.share}
                    for one in cause.operators
                ],
                "others": cause.others,
                "basis": "measured",
            }
            for cause in found.causes
        ],
        "waits": [
            {
                "rank": wait.rank,
                "awaited": wait.awaited,
                "ns": wait.ns,
                "share": wait.share,
                "kinds": [{"kind": kind, "ns": ns} for kind, ns in wait.kinds],
                "in_step": wait.in_step,
                "is_own": wait.is_own,
                "basis": "measured",
            }
            for wait in found.waits
        ],
        "slow_links": [
            {
                "ranks": list(link.ranks),
                "group": link.group,
                "kind": link.kind,
                "bytes": link.bytes,
                "transfer_ns": link.transfer_ns,
                "others_ns": link.others_ns,
                "factor": link.factor,
                "slowest": link.slowest,
                "collectives": link.collectives,
                "low": link.low,
                "high": link.high,
                "bandwidth": link.bandwidth,
                "others_bandwidth": link.others_bandwidth,
                "basis": link.basis,
            }
            for link in found.links
        ],
        "differing_ranks": [
            {
                "rank": one.rank,
                "what": one.what,
                "sentence": difference_sentence(one),
                "alike": one.alike,
                "missing": _kernels(one.missing),
                "extra": _kernels(one.extra),
                "basis": "measured",
            }
            for one in found.stages.differing
        ],
        "transfers": [
            {
                "kind": one.kind,
                "size": one.size,
                "bytes": one.bytes,
                "groups": one.groups,
                "collectives": one.collectives,
                "transfer_ns": one.transfer_ns,
                "wait_ns": one.wait_ns,
                "skew_ns": one.skew_ns,
                "bandwidth": one.bandwidth,
                "basis": one.basis,
            }
            for one in found.transfers
        ],
        "step_split": {
            "stages": [_split(one) for one in found.by_stage],
            "ranks": [_split(one) for one in found.by_rank],
            "basis": "measured",
        },
        "outliers": [
            {
                "rank": one.rank,
                "name": one.name,
                "op_type": one.op_type,
                "inputs": one.inputs,
                "calls": one.calls,
                "each_ns": one.each_ns,
                "median_ns": one.median_ns,
                "score": one.score,
                "total_ns": one.total_ns,
                "basis": "measured",
            }
            for one in found.outliers
        ],
        "delays": {
            "ranks": list(found.delays.ranks),
            "steps": list(found.delays.steps),
            "shares": [
                [None if math.isnan(share) else share for share in row]
                for row in found.delays.shares.tolist()
            ],
            "basis": "measured",
        },
        "straggler_free": None
        if free is None
        else {
            "step_ns": free.step_ns,
            "modelled_ns": free.modelled_ns,
            "saved_ns": free.saved_ns,
            "saved": free.saved,
            "replayed_ns": free.replayed_ns,
            "basis": "modelled",
        },
        "sentences": [text_of(one) for one in (*state_sentences(found), *answer_sentences(found))],
        "formulas": {question: message.text() for question, message in BASES.items()},
    }
    if against is not None:
        values["against"] = _versus(against)
    return values


def _split(split: Split) -> dict[str, Any]:
    return {
        "stage": split.stage,
        "rank": split.rank,
        "ranks": split.ranks,
        "steps": split.steps,
        "step_ns": split.step_ns,
        "computing_ns": split.computing_ns,
        "uncovered_ns": split.uncovered_ns,
        "free_ns": split.free_ns,
        "communication_ns": split.communication_ns,
    }


def _kernels(kernels: tuple[tuple[str, float], ...]) -> list[dict[str, Any]]:
    return [{"kernel": name, "per_step": count} for name, count in kernels]


def _versus(found: Versus) -> dict[str, Any]:
    return {
        "paired": found.paired,
        "alone": list(found.alone),
        "changes": [
            {
                "part": change.part,
                "ranks": change.ranks,
                "baseline_ns": change.baseline_ns,
                "candidate_ns": change.candidate_ns,
                "ratio": change.ratio,
                "low": change.low,
                "high": change.high,
            }
            for change in found.changes
        ],
        "basis": "measured",
    }
