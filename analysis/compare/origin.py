"""Origin: the operator of the original model that an optimised operator still carries out.

Only what is known for certain: a layout transformation renames a convolution, and the graphs say
which one it was. Everything else keeps its name.
"""

from __future__ import annotations

from analysis.compare.comparison import Side
from analysis.flops import logical_conv


def original_names(side: Side) -> dict[str, str]:
    """Operator name -> name of the original convolution, for renamed convolutions only.

    A convolution that two operators claim is given to neither.
    """
    model = side.experiment.model_graph if side.experiment else None
    if side.graph is None or model is None:
        return {}
    claims: dict[str, list[str]] = {}
    for node in side.graph.nodes:
        original = logical_conv(node, side.graph, model)
        if original is not None:
            claims.setdefault(original.name, []).append(node.name)
    return {names[0]: original for original, names in claims.items() if len(names) == 1}
