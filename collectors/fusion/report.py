"""Report: what the fusion pass found, did and left, as values. Imports no engine.

analysis/wording/rewriting.py has the sentences.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from fusescope.analysis.patterns import Blocker, HeldBack

SCHEMA_VERSION = 1

Value = str | int | float | bool | None
Outcome = Literal["applied", "partly", "no"]
BlockedBy = Blocker | HeldBack | Literal[""]


class Opportunity(msgspec.Struct, frozen=True):
    """Operators of the model that the pass can make one, or could if nothing stood in the way.

    `operators` are the model's nodes in the order that data flows, `scope` the module that holds
    them. `makes` is the op type written instead, '' where none was; with `outcome` partly it
    stands for the first of them only. `bytes_removed` are those of the tensors that are no longer
    written and read (modelled from shapes): that are gone where applied, that would be elsewhere;
    None where a size is not known. `difference` is max|a-b| / max|a| of the verification.
    `blocked_by` says why not (all of it), with `tensor` and the facts in `values`.
    """

    pattern: str
    rewrites: tuple[str, ...]
    operators: tuple[str, ...]
    op_types: tuple[str, ...]
    scope: str
    outcome: Outcome
    makes: str = ""
    bytes_removed: int | None = None
    difference: float | None = None
    blocked_by: BlockedBy = ""
    tensor: str = ""
    values: dict[str, Value] = {}


class Asked(msgspec.Struct, frozen=True):
    """One entry of the rule file's `patterns`: how many places of the model it fits, and how many
    of those were rewritten. `blocked_by` is the most frequent reason where none was."""

    pattern: str
    found: int
    applied: int
    blocked_by: BlockedBy = ""
    tensor: str = ""
    values: dict[str, Value] = {}


class Report(msgspec.Struct, frozen=True):
    """`difference` is that of the whole model's outputs on the inputs of the recording, None where
    they cannot be compared. `seed` made the random inputs of the verification."""

    level: str
    rules: str
    nodes_before: int
    nodes_after: int
    opportunities: tuple[Opportunity, ...]
    asked: tuple[Asked, ...] = ()
    difference: float | None = None
    tolerance: float = 0.0
    seed: int = 0
    engine_version: str = ""
    optimization: str = "none"
    schema_version: int = SCHEMA_VERSION

    @property
    def applied(self) -> tuple[Opportunity, ...]:
        """What was rewritten, wholly or partly."""
        return tuple(o for o in self.opportunities if o.outcome != "no")

    @property
    def taken_back(self) -> tuple[Opportunity, ...]:
        """What was rewritten at first and failed the verification."""
        failed = ("verification", "whole_model", "refused")
        return tuple(o for o in self.opportunities if o.blocked_by in failed)

    def by_pattern(self) -> dict[tuple[str, Outcome], list[Opportunity]]:
        """Rewritten groups by pattern and whether all of it was, in the order of the model."""
        groups: dict[tuple[str, Outcome], list[Opportunity]] = {}
        for found in self.applied:
            groups.setdefault((found.pattern, found.outcome), []).append(found)
        return groups
