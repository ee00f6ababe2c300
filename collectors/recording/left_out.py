"""Variants that a release of an engine cannot compile: the others are recorded without them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, Said
from fusescope.collectors.recording.request import Plan, Recording, baseline_of

_LEFT_OUT = Message("Without {variant:name}: this release of the engine has no {missing:name}")
LEFT_OUT = "variants_left_out"


def without(
    plan: Plan,
    lacking: Mapping[str, str],
    recording: Recording,
    report: Callable[[Said], None],
) -> Plan:
    """The plan without the variants that are `lacking` something, by what: settings of the others
    say so. Raises FuseScopeError where no two are left, and where the baseline that the user named
    is one of them."""
    gone = [one.name for one in plan.variants if one.name in lacking]
    if not gone:
        return plan
    left = tuple(one for one in plan.variants if one.name not in gone)
    if len(left) < 2 or recording.baseline in gone:
        raise FuseScopeError("variants_lacking", variant=", ".join(gone), missing=lacking[gone[0]])
    for name in gone:
        report(_LEFT_OUT.of(variant=name, missing=lacking[name]))
    said = "; ".join(f"{name}: no {lacking[name]}" for name in gone)
    baseline = plan.baseline if plan.baseline not in gone else baseline_of(left, recording.runtimes)
    settings = {one.name: {**plan.settings.get(one.name, {}), LEFT_OUT: said} for one in left}
    return replace(plan, variants=left, baseline=baseline, settings={**plan.settings, **settings})
