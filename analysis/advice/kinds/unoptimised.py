"""Not optimised: patterns that the engine fuses where it may, and here it may not."""

from __future__ import annotations

from fusescope.analysis.advice import prediction
from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.settings import conditions_of, why_no_conditions
from fusescope.analysis.advice.subject import MAX_NAMES, Answer, Subject, shown

# Variants of our own that keep the engine's optimisation off on purpose: their point is the rest.
_ON_PURPOSE = ("rules", "custom", "segments")
_MAX_TYPES = 4


def not_optimised(subject: Subject) -> Answer:
    """Patterns of the model that meet all conditions of the engine's highest level, where this
    variant leaves all of it off, and whose operators that would go take 2 % of the run or more."""
    side = subject.side
    graph = side.experiment.model_graph if side.experiment else None
    if graph is None:
        return "no_graph"
    told = conditions_of(side)
    if told is None:
        return why_no_conditions(side)
    if told.level != "none" or side.own_name.partition(":")[0] in _ON_PURPOSE:
        return ()
    from fusescope.analysis.advice.expected import expected_fusions

    times = subject.times
    expected = expected_fusions(subject, graph, told, times)
    going = {node.name: node for one in expected for node in one.going}
    light_ns = sum(times[name] for name in going)
    if not going or not subject.matters(light_ns):
        return ()
    gain = prediction.together(*(one.gain for one in expected))
    by_type: dict[str, float] = {}
    for name, node in going.items():
        by_type[node.op_type] = by_type.get(node.op_type, 0.0) + times[name]
    largest = sorted(by_type, key=lambda op_type: -by_type[op_type])
    names = sorted(going, key=lambda name: -times[name])
    return (
        Finding(
            "not_optimised",
            values={
                "op_types": shown(", ".join(largest[:_MAX_TYPES])),
                "operators": len(going),
                "light_ns": light_ns,
                "share": subject.share(light_ns),
            },
            at_most_ns=max(light_ns, gain.high),
            share=subject.share(light_ns),
            gain=gain,
            where="operators",
            names=tuple(dict.fromkeys(map(shown, names)))[:MAX_NAMES],
        ),
    )
