"""Leave one out: the largest fusions of a compiled model, each denied by itself.

Which fusions there are is not known before the model was compiled, and whether one can be denied
without changing another only shows when it is tried: one that cannot is left out, and the file
says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, Said, language
from fusescope.analysis.spelling import nearest
from fusescope.collectors import variants
from fusescope.collectors.recording.refused import Refused
from fusescope.collectors.recording.request import Plan, Value
from fusescope.collectors.torch.names import WITHOUT
from fusescope.collectors.workers.jobs import Denied, Fusion

LIMIT = 5  # fusions in a recording: each is compiled twice in every block

_SEARCHING = Message("Finding out which kernels the compiler fuses")
_FOUND = Message("Recorded without: {kernels:name}")
_LEFT_OUT = Message("{variant:name} is left out. {reason}")


def with_denials(
    plan: Plan,
    *,
    search: bool,
    ask: Callable[[], tuple[Fusion, ...]],
    report: Callable[[Said], None],
    refused: Refused,
) -> tuple[Plan, dict[str, Denied]]:
    """The plan with what its variants are without, and after a `search` with a variant for each of
    the largest fusions: those of most operators, of equally many the one that computes most bytes.
    `ask` gives the fusions of the model. What was found by the search may be refused later.

    Raises FuseScopeError for a kernel that is named and is not there, and for a search that finds
    nothing.
    """
    named = [one for one in plan.variants if one.name.startswith(WITHOUT)]
    if not search and not named:
        return plan, {}
    report(_SEARCHING.of())
    found = {fusion.name: fusion for fusion in ask()}
    for variant in named:
        if variant.argument not in found:
            raise FuseScopeError(
                "torch_no_such_fusion",
                kernel=variant.argument[:80],
                known=", ".join(found)[:400],
                nearest=nearest(variant.argument, tuple(found)),
            )
    settings: dict[str, dict[str, Value]] = {}
    planned = plan.variants
    if search:
        if not found:
            raise FuseScopeError("torch_nothing_fused")
        order = sorted(found.values(), key=lambda one: (-len(one.denied.nodes), -one.bytes))
        chosen = [fusion.name for fusion in order[:LIMIT]]
        report(_FOUND.of(kernels=", ".join(chosen)))
        planned += tuple(variants.of_engine(WITHOUT + name, "torch") for name in chosen)
        refused.choose(WITHOUT + name for name in chosen)
        settings["fused"] = {"fusions_found": ", ".join(one.name for one in order)}
        if len(order) > LIMIT:
            left = ", ".join(one.name for one in order[LIMIT:])
            settings["fused"]["fusions_left_out"] = left
    planned = tuple(dict.fromkeys(planned))
    denied = {
        one.name: found[one.argument].denied for one in planned if one.name.startswith(WITHOUT)
    }
    return replace(plan, variants=planned, settings=settings), denied


def with_refused(plan: Plan, refused: Refused, report: Callable[[Said], None]) -> Plan:
    """The plan that says of `fused` which denials were left out, and why; in English, as the
    experiment has it."""
    if not refused.chosen:
        return plan
    for variant, error in refused.chosen.items():
        report(_LEFT_OUT.of(variant=variant, reason=error.said))
    with language.speaking(language.ENGLISH):
        told = "; ".join(
            f"{variant.removeprefix(WITHOUT)}: {error.what}"
            for variant, error in refused.chosen.items()
        )
    fused = {**plan.settings.get("fused", {}), "fusions_refused": told}
    return replace(plan, settings={**plan.settings, "fused": fused})
