"""Sentences for near misses: what blocked a fusion, and what to change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from analysis import units
from analysis.trace import Value
from analysis.wording.phrases import capital, plural

Facts = Mapping[str, Value]
Words = Callable[[Facts, str], str]


class Blocked(Protocol):
    """What the sentences need of a fusion that could be and is not: a near miss of the engine, an
    opportunity that our own pass left."""

    @property
    def tensor(self) -> str: ...
    @property
    def blocked_by(self) -> str: ...
    @property
    def values(self) -> Facts: ...


class Unjudged(Protocol):
    """What the sentence needs of places that are named and not judged."""

    @property
    def places(self) -> Sequence[object]: ...
    @property
    def spent_ns(self) -> float | None: ...


class OwnFused(Protocol):
    """What the sentences need of a near miss that our own pass may fuse."""

    @property
    def own_places(self) -> int | None: ...
    @property
    def count(self) -> int: ...


NEAR_MISSES_HELP = (
    "Operators of the model that could run as one and do not. What was fused is read from the "
    "graph that ran; what blocked the rest is checked against conditions that were found by "
    "optimising small models one at a time. Time spent is what the candidate runs for these places "
    "per run; time to win is the part of the operators that fusion would absorb: at most that can "
    "be saved."
)
OWN_PASS_HELP = (
    "Places that FuseScope's own fusion pass makes one operator: tried on this model and verified "
    "while it was recorded. The variant rules:O3 runs them."
)


def near_miss_sentence(miss: Blocked) -> str:
    """What blocked it, in one sentence. Names come from the model and are inserted as they are."""
    return _SAID[miss.blocked_by][0](miss.values, _at(miss.tensor))


def near_miss_remedy(miss: Blocked) -> str:
    """What to change, in one sentence or two."""
    return _SAID[miss.blocked_by][1](miss.values, _at(miss.tensor))


def own_pass_text(miss: OwnFused) -> str:
    """How many of the places our own pass fuses: '7 of 7', 'none', '' where it was not tried."""
    if miss.own_places is None or not miss.count:
        return ""
    return f"{miss.own_places} of {miss.count}" if miss.own_places else "none"


def own_pass_sentence(misses: Iterable[OwnFused]) -> str:
    """What our own pass would fuse of all this, '' where it would fuse nothing or is not known."""
    known = [miss for miss in misses if miss.own_places]
    places = sum(miss.own_places or 0 for miss in known)
    if not places:
        return ""
    if places == 1:
        return (
            "FuseScope's own pass makes one of these places a single operator: record the variant "
            "rules:O3 to see what that brings."
        )
    return (
        f"FuseScope's own pass makes {units.count(places)} of these places single operators: "
        "record the variant rules:O3 to see what that brings."
    )


def attention_sentence(attention: Unjudged) -> str:
    """That attention is there, what it takes, and that nothing is said about its fusion."""
    count = len(attention.places)
    where = "one place" if count == 1 else f"{units.count(count)} places"
    takes = "" if attention.spent_ns is None else f", {units.duration(attention.spent_ns)} a run"
    return (
        f"Attention runs as separate operators in {where}{takes}. It is not judged: whether an "
        "engine fuses it depends on masks, heads and past keys, which are more than the graph says."
    )


def _at(tensor: str) -> str:
    return f"'{tensor[:80]}'" if tensor else "a tensor"


def _no_kernel_remedy(v: Facts, _: str) -> str:
    known = f"Use one of {v['known']} where the model allows, or write" if v.get("known") else None
    return f"{known or 'Write'} a fused kernel of your own for {v.get('operators')}."


def _shape_remedy(v: Facts, at: str) -> str:
    return f"Expand or store {at} with the shape {v.get('needs')}."


# code -> (what blocked it, what to change), both from (values, tensor)
_SAID: Mapping[str, tuple[Words, Words]] = {
    "extra_consumer": (
        lambda v, at: (
            f"The result of {v.get('operator')}, {at}, is also read by {v.get('consumer')}, so it "
            "has to be written anyway."
        ),
        lambda v, at: (
            f"If the model may change, let {v.get('consumer')} read what goes in or what comes out "
            f"of the pattern. A copy of {v.get('operator')} seldom helps: "
            "the engine mostly runs equal operators once."
        ),
    ),
    "graph_output_between": (
        lambda v, at: f"The result of {v.get('operator')}, {at}, is an output of the model.",
        lambda v, at: f"Remove {at} from the outputs of the model if nobody needs it.",
    ),
    "graph_output": (
        lambda v, at: (
            f"{capital(at)} is an output of the model; this fusion does not happen at "
            "the end of a model."
        ),
        lambda v, at: "Let another operator of the model read it, or accept it at the end.",
    ),
    "non_constant_weight": (
        lambda v, at: (
            f"{capital(at)} is not a constant: it comes from {v.get('source')} when "
            "the model runs."
        ),
        lambda v, at: (
            f"Make {at} an initialiser of the model: export it in evaluation mode, with constants "
            "folded."
        ),
    ),
    "overridable_weight": (
        lambda v, at: (
            f"The weight {at} is also listed as an input of the model, so whoever runs it may "
            "replace it."
        ),
        lambda v, at: (
            f"Remove {at} from the inputs of the model (export without "
            "keep_initializers_as_inputs)."
        ),
    ),
    "training_mode": (
        lambda v, at: "BatchNormalization is in training mode: it computes its own statistics.",
        lambda v, at: "Export the model in evaluation mode (model.eval() in PyTorch).",
    ),
    "dtype": (
        lambda v, at: f"{capital(at)} is {v.get('dtype')}; this fusion takes "
        f"{v.get('allowed')} on this engine.",
        lambda v, at: f"Run this part in {str(v.get('allowed')).split(',')[0]}, or on an engine "
        f"with {v.get('dtype')} kernels.",
    ),
    "constant_value": (
        lambda v, at: (
            f"The constant {at} is {v.get('value')} where {v.get('expected')} is expected to five "
            "digits."
        ),
        lambda v, at: f"Write the constant with full precision: {v.get('expected')}.",
    ),
    "constant_shape": (
        lambda v, at: (
            f"The constant {at} has the shape {v.get('shape')}; this fusion takes "
            f"{v.get('needs') or 'a scalar'}."
        ),
        lambda v, at: f"Store {at} with the shape that is taken: {v.get('needs') or 'a scalar'}.",
    ),
    "shape_or_broadcast": (
        lambda v, at: (
            f"{capital(at)} has the shape {v.get('have')} where {v.get('needs')} is "
            "needed: this fusion does not broadcast it."
        ),
        _shape_remedy,
    ),
    "unknown_shape": (
        lambda v, at: f"The shape of {at} is not known before the model runs ({v.get('shape')}).",
        lambda v, at: (
            "Export with fixed sizes, or run symbolic shape inference over the model before."
        ),
    ),
    "axis": (
        lambda v, at: (
            f"The mean is over axis {v.get('axes')}; this fusion takes the last axis alone."
        ),
        lambda v, at: "Transpose so that the normalised axis is the last, where that is cheap.",
    ),
    "rank": (
        lambda v, at: (
            f"{capital(at)} has {v.get('axes')} axes; this fusion takes "
            f"{v.get('needs')}."
        ),
        lambda v, at: f"Reshape around the pattern so that there are {v.get('needs')} axes.",
    ),
    "operand_order": (
        lambda v, at: (
            f"The constant {at} is the first operand of {v.get('operator')}; the engine looks for "
            "it as the second."
        ),
        lambda v, at: f"Swap the operands of {v.get('operator')}.",
    ),
    "no_bias": (
        lambda v, at: (
            "The convolution has no bias, and the engine fuses this addition only into one that "
            "has."
        ),
        lambda v, at: "Give the convolution a bias of zeros.",
    ),
    "layout": (
        lambda v, at: (
            "At level all the convolution runs in channel blocks (NCHWc), and the other operand "
            f"{at} does not: it comes from {v.get('source')}."
        ),
        lambda v, at: (
            "Let it come from a convolution or pooling in channel blocks, or try the variant "
            "without:NchwcTransformer, where a convolution with a bias takes any addition of its "
            "own shape."
        ),
    ),
    "cannot_block": (
        lambda v, at: (
            "This fusion exists in channel blocks (NCHWc) only, and this convolution cannot run "
            "there: its weight is no constant, its groups are no whole blocks, or the engine has "
            "no such layout on this processor."
        ),
        lambda v, at: (
            "Make the weight an initialiser and the channels of each group a multiple of 16; or, "
            "for an activation, choose one that is fused in every layout, such as Relu or Clip."
        ),
    ),
    "form": (
        lambda v, at: f"It is written in a form the engine does not look for: {v.get('expected')}.",
        lambda v, at: (
            "Export it in that form, or with the operator of its own that a newer opset has."
        ),
    ),
    "no_kernel": (
        lambda v, at: f"The engine has no kernel that runs {v.get('operators')} as one.",
        _no_kernel_remedy,
    ),
    "needs_gemm": (
        lambda v, at: (
            f"The engine joins {v.get('activation')} with Gemm only, and this is a MatMul without "
            "a bias."
        ),
        lambda v, at: "Write the product as Gemm, or add a bias of zeros to it.",
    ),
    "reshape_between": (
        lambda v, at: (
            f"The product has {v.get('axes')} axes, so the engine reshapes its result, and the "
            "activation comes after the Reshape."
        ),
        lambda v, at: "Flatten to two axes before the product and restore them at the end.",
    ),
    "opset": (
        lambda v, at: (
            f"The model has opset {v.get('opset')}; at this level the engine writes "
            f"{v.get('does')}, which exists from opset {v.get('needs')} on."
        ),
        lambda v, at: (
            f"Export with opset {v.get('needs')} or later, or use the level extended or all."
        ),
    ),
    "level": (
        lambda v, at: (
            f"The optimisation level is {v.get('level')}; this fusion happens from "
            f"{v.get('needs')} on."
        ),
        lambda v, at: f"Use the level {v.get('needs')}.",
    ),
    "disabled": (
        lambda v, at: f"The optimizer {v.get('optimizer')} was off in this variant.",
        lambda v, at: f"Leave {v.get('optimizer')} on.",
    ),
    "other_provider": (
        lambda v, at: (
            f"Parts of it ran on different execution providers: {v.get('one')} and "
            f"{v.get('other')}."
        ),
        lambda v, at: "Keep these operators on one execution provider.",
    ),
    "merged_duplicates": (
        lambda v, at: (
            f"The engine computes {v.get('count')} equal {v.get('operator')} operators once, so "
            f"{at} has more readers than the model shows."
        ),
        lambda v, at: (
            "Remove the duplicates from the model, or try the variant "
            "without:CommonSubexpressionElimination."
        ),
    ),
    "engine_declined": (
        lambda v, at: (
            f"Every condition that FuseScope knows holds, and ONNX Runtime {v.get('engine')} still "
            f"did not fuse it; the conditions were found with {v.get('checked')}."
            + ("" if at == "a tensor" else f" The shape of {at} is not fixed, which may be why.")
        ),
        lambda v, at: (
            f"Record with the engine's verbose log and look for {v.get('optimizer')}."
        ),
    ),
    "optimisation_off": (
        lambda v, at: f"Optimisation is off in the variant '{v.get('variant')}': nothing is fused.",
        lambda v, at: "Compare with the variant fused.",
    ),
    "own_pass": (
        lambda v, at: (
            f"The variant '{v.get('variant')}' is fused by FuseScope's own pass, and the engine "
            "fuses nothing more."
            if v.get("fused") is not False
            else f"FuseScope's own pass fused nothing in the variant '{v.get('variant')}', and the "
            "engine fuses nothing in it either."
        ),
        lambda v, at: "Run fusescope fuse MODEL --rules FILE --explain: it says what it left.",
    ),
    "own_kernel": (
        lambda v, at: (
            f"In the variant '{v.get('variant')}' kernels of its own run "
            + (plural(v["groups"], "group") if v.get("groups") else "groups")
            + " of operators; the rest runs with every optimisation off."
        ),
        lambda v, at: "Compare with the variant fused for what the engine fuses by itself.",
    ),
    "same_cut": (
        lambda v, at: (
            f"The variant '{v.get('variant')}' is cut as {v.get('twin')} is and has no kernel: "
            "nothing is fused in it, on purpose, to show what the cut alone costs."
        ),
        lambda v, at: f"Compare {v.get('twin')} with it for the kernel alone.",
    ),
    "quantised": (
        lambda v, at: (
            f"The variant '{v.get('variant')}' runs in 8 bits; the conditions that FuseScope knows "
            "are those of the engine's float32 operators."
        ),
        lambda v, at: "Compare with the variant fused for what the float32 model misses.",
    ),
}  # fmt: skip
