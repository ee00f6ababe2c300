"""Sentences for near misses: what blocked a fusion, and what to change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from fusescope.analysis.messages import Message, Shown, paragraph, say
from fusescope.analysis.patterns.pattern import Blocker, Fact

Facts = Mapping[str, Fact]
_NAME_CHARS = 80


class NearMiss(Protocol):
    """What the sentences need of a fusion that the engine could do and does not."""

    @property
    def tensor(self) -> str: ...
    @property
    def blocked_by(self) -> Blocker: ...
    @property
    def values(self) -> Facts: ...


class OfPattern(Protocol):
    """What the label needs of a near miss."""

    @property
    def pattern(self) -> str: ...


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


class Advice(msgspec.Struct, frozen=True):
    """What blocked a fusion, and what to change. Placeholders are its values, and `tensor`."""

    why: Message
    remedy: Message


NEAR_MISSES_HELP = Message(
    "Operators of the model that could run as one but do not. What was fused is read from the "
    "graph that ran. What blocked the rest is checked against conditions that were found by "
    "optimising small models one at a time. Time spent is the mean time per run, as profiled and "
    "without slow executions as in the ledger, of everything that the candidate runs for these "
    "places. Time to fuse is the part of it in operators that could become one "
    "or part of another. Only some of it can be saved."
)
OWN_PASS_HELP = Message(
    "Places that FuseScope's own fusion pass turns into one operator. This was tried on the model "
    "and verified when it was recorded. The variant rules:O3 runs them."
)
# Entries that name no pattern.
_EVERY: Mapping[str, Message] = {
    "every pattern": Message("every pattern"),
    "every other pattern": Message("every other pattern"),
}


def near_miss_sentence(miss: NearMiss) -> str:
    """What blocked it. Names come from the model and are inserted as they are."""
    return _advice(miss).why.text(**_values(miss))


def near_miss_remedy(miss: NearMiss) -> str:
    """What to change, in one sentence or two."""
    return _advice(miss).remedy.text(**_values(miss))


def pattern_text(miss: OfPattern) -> str:
    """What the pattern is called: 'Conv + Relu', 'every pattern'."""
    every = _EVERY.get(miss.pattern)
    return miss.pattern if every is None else every.text()


def own_pass_text(miss: OwnFused) -> str:
    """How many of the places our own pass fuses: '7 of 7', 'none', '' where it was not tried."""
    if miss.own_places is None or not miss.count:
        return ""
    if not miss.own_places:
        return say("none")
    return say("{fused:count} of {all:count}", fused=miss.own_places, all=miss.count)


def own_pass_sentence(misses: Iterable[OwnFused]) -> str:
    """What our own pass would fuse of all this, '' where it would fuse nothing or is not known."""
    places = sum(miss.own_places or 0 for miss in misses)
    if not places:
        return ""
    return say(
        "FuseScope's own pass turns {n:count} of these places into a single operator. Record the "
        "variant rules:O3 to see what that brings.",
        "FuseScope's own pass turns {n:count} of these places into single operators. Record the "
        "variant rules:O3 to see what that brings.",
        n=places,
    )


def attention_sentence(attention: Unjudged) -> str:
    """That attention is there, what it takes, and that nothing is said about its fusion."""
    places, spent = len(attention.places), attention.spent_ns
    found = _ATTENTION if spent is None else _ATTENTION_TIMED
    return paragraph(found.text(n=places, spent=spent), _NOT_JUDGED.text())


_ATTENTION = Message(
    "Attention runs as separate operators in {n:count} place.",
    "Attention runs as separate operators in {n:count} places.",
)
_ATTENTION_TIMED = Message(
    "Attention runs as separate operators in {n:count} place, {spent:duration} per run.",
    "Attention runs as separate operators in {n:count} places, {spent:duration} per run.",
)
_NOT_JUDGED = Message(
    "FuseScope does not judge it: whether an engine fuses attention depends on masks, heads and "
    "past keys, which the graph does not fully describe."
)


def _values(miss: NearMiss) -> dict[str, Shown]:
    """The values of the sentences' placeholders: names quoted, words as what they are called."""
    values: dict[str, Shown] = dict(miss.values)
    for key in _WORDED & values.keys():
        values[key] = _WORDS.get(str(values[key]), values[key])
    name = miss.tensor[:_NAME_CHARS]
    values["tensor"] = _TENSOR.of(name=name) if name else _SOME_TENSOR
    if "allowed" in values:
        values["first"] = str(values["allowed"]).split(",")[0]
    return values


def _advice(miss: NearMiss) -> Advice:
    """The sentences; for some codes those that fit the facts."""
    values = miss.values
    match miss.blocked_by:
        case "no_kernel" if values.get("own_variant"):
            return _OWN_RECORDED
        case "no_kernel" if values.get("known"):
            return _NO_KERNEL_BUT_OTHERS
        case "constant_shape" if values.get("or_one"):
            return _CONSTANT_SHAPE_OR_ONE
        case "constant_shape" if values.get("needs"):
            return _CONSTANT_SHAPE
        case "engine_declined" if miss.tensor:
            return _DECLINED_DYNAMIC
        case "own_pass" if values.get("fused") is False:
            return _OWN_PASS_NOTHING
        case "own_kernel" if not values.get("groups"):
            return _OWN_KERNEL_UNCOUNTED
    return ADVICE[miss.blocked_by]


_TENSOR = Message("'{name:name}'")
_SOME_TENSOR = Message("a tensor")
# Words that facts are made of, in facts that may hold one.
_WORDED = frozenset(("source", "needs", "have", "shape", "expected"))
_WORDS: Mapping[str, Message] = {
    "model input": Message("an input of the model"),
    "unknown": Message("unknown"),
    "scalar": Message("a scalar"),
    "one axis": Message("one axis"),
    "3 or more": Message("3 or more"),
    "2 or 3": Message("2 or 3"),
    "another divisor": Message("another divisor"),
    "Add instead of Sum": Message("Add instead of Sum"),
    "LayerNormalization of one output": Message("LayerNormalization with one output"),
    "HardSwish, or x · HardSigmoid(x) with α = 1/6, β = 1/2": Message(
        "HardSwish, or x · HardSigmoid(x) with α = 1/6, β = 1/2"
    ),
    "(x - mean) / Sqrt(mean of Pow(x - mean, 2) + ε), · scale, + shift": Message(
        "(x - mean) / Sqrt(mean of Pow(x - mean, 2) + ε), · scale, + shift"
    ),
    "x / Sqrt(mean of Pow(x, 2) + ε), · scale": Message("x / Sqrt(mean of Pow(x, 2) + ε), · scale"),
}

_NO_KERNEL_BUT_OTHERS = Advice(
    Message("The engine has no kernel that runs {operators:name} as one operator."),
    Message(
        "Use one of {known:name} where the model allows it, or write your own fused kernel for "
        "{operators:name}."
    ),
)
_OWN_RECORDED = Advice(
    _NO_KERNEL_BUT_OTHERS.why,
    Message(
        "Use a kernel of your own: {own_variant:name} of this recording takes {own_times:factor} "
        "the time of {of_variant:name}, un-profiled."
    ),
)
_CONSTANT_SHAPE = Advice(
    Message("The constant {tensor} has the shape {shape}, but this fusion needs {needs}."),
    Message("Store {tensor} with the shape that is needed: {needs}."),
)
_CONSTANT_SHAPE_OR_ONE = Advice(
    Message(
        "The constant {tensor} has the shape {shape}, but this fusion needs one value or {needs}."
    ),
    Message("Store {tensor} as one value, or with the shape {needs}."),
)
_DECLINED_DYNAMIC = Advice(
    Message(
        "All conditions that FuseScope knows are met, but ONNX Runtime {engine:name} still did not "
        "fuse it. The conditions were found with {checked:name}. The shape of {tensor} is not "
        "fixed, which may be the cause."
    ),
    Message("Record with the engine's verbose log and look for {optimizer:name}."),
)
_OWN_PASS_NOTHING = Advice(
    Message(
        "FuseScope's own pass fused nothing in the variant '{variant:name}', and the engine fuses "
        "nothing in it either."
    ),
    Message("Run fusescope fuse MODEL --rules FILE --explain to see what was not fused and why."),
)
_OWN_KERNEL_UNCOUNTED = Advice(
    Message(
        "In the variant '{variant:name}', custom kernels run groups of operators. The rest runs "
        "with every optimisation off."
    ),
    Message("Compare with the variant fused to see what the engine fuses by itself."),
)

ADVICE: Mapping[Blocker, Advice] = {
    "extra_consumer": Advice(
        Message(
            "The result of {operator:name}, {tensor}, is also read by {consumer:name}, so it must "
            "be written in any case."
        ),
        Message(
            "If you can change the model, let {consumer:name} read the input or the output of the "
            "pattern instead. A copy of {operator:name} seldom helps, because the engine usually "
            "runs equal operators only once."
        ),
    ),
    "graph_output_between": Advice(
        Message("The result of {operator:name}, {tensor}, is an output of the model."),
        Message("Remove {tensor} from the outputs of the model if nobody needs it."),
    ),
    "graph_output": Advice(
        Message("This fusion is not done at the end of a model, and {tensor} is an output of it."),
        Message(
            "Let another operator of the model read the output, or accept that its end is not "
            "fused."
        ),
    ),
    "non_constant_weight": Advice(
        Message(
            "This fusion needs a constant, but {tensor} comes from {source} when the model runs."
        ),
        Message(
            "Make {tensor} an initialiser of the model: export the model in evaluation mode, with "
            "constants folded."
        ),
    ),
    "overridable_weight": Advice(
        Message(
            "The weight {tensor} is also listed as an input of the model, so it can be replaced "
            "when the model runs."
        ),
        Message(
            "Remove {tensor} from the inputs of the model (export without "
            "keep_initializers_as_inputs)."
        ),
    ),
    "training_mode": Advice(
        Message("BatchNormalization is in training mode, so it computes its own statistics."),
        Message("Export the model in evaluation mode (model.eval() in PyTorch)."),
    ),
    "dtype": Advice(
        Message(
            "On this engine, this fusion supports {allowed:name}, but {tensor} is {dtype:name}."
        ),
        Message("Run this part in {first:name}, or on an engine with {dtype:name} kernels."),
    ),
    "constant_value": Advice(
        Message(
            "The constant {tensor} is {value}, but this fusion needs {expected}, with a precision "
            "of five digits."
        ),
        Message("Write the constant with full precision: {expected}."),
    ),
    "constant_shape": Advice(
        Message("The constant {tensor} has the shape {shape}, but this fusion needs a scalar."),
        Message("Store {tensor} as a scalar."),
    ),
    "shape_or_broadcast": Advice(
        Message(
            "This fusion does not broadcast: {tensor} has the shape {have}, but {needs} is needed."
        ),
        Message("Expand or store {tensor} with the shape {needs}."),
    ),
    "unknown_shape": Advice(
        Message("The shape of {tensor} is not known before the model runs ({shape})."),
        Message("Export the model with fixed sizes, or run symbolic shape inference on it first."),
    ),
    "axis": Advice(
        Message("The mean is over axis {axes}, but this fusion only supports the last axis."),
        Message("Transpose so that the normalised axis is the last one, where that is cheap."),
    ),
    "rank": Advice(
        Message("The number of axes of {tensor} is {axes}, but this fusion needs {needs}."),
        Message("Reshape before and after the pattern so that the number of axes is {needs}."),
    ),
    "operand_order": Advice(
        Message(
            "The constant {tensor} is the first operand of {operator:name}, but the engine expects "
            "it as the second one."
        ),
        Message("Swap the operands of {operator:name}."),
    ),
    "no_bias": Advice(
        Message(
            "The convolution has no bias, and the engine fuses this addition only into a "
            "convolution with a bias."
        ),
        Message("Give the convolution a bias of zeros."),
    ),
    "layout": Advice(
        Message(
            "At the level all, the convolution runs in channel blocks (NCHWc). The other operand "
            "{tensor} does not: it comes from {source}."
        ),
        Message(
            "Let it come from a convolution or pooling in channel blocks, or try the variant "
            "without:NchwcTransformer, where a convolution with a bias takes any addition of the "
            "same shape."
        ),
    ),
    "cannot_block": Advice(
        Message(
            "This fusion exists only in channel blocks (NCHWc), and this convolution cannot run "
            "there: its weight is not a constant, its groups are not whole blocks, or the engine "
            "has no such layout on this processor."
        ),
        Message(
            "Make the weight an initialiser and the channels of each group a multiple of 16. For "
            "an activation, you can also choose one that is fused in every layout, such as Relu or "
            "Clip."
        ),
    ),
    "form": Advice(
        Message("It is written in a form that the engine does not look for: {expected} is needed."),
        Message("Export it in that form, or with the dedicated operator that a newer opset has."),
    ),
    "no_kernel": Advice(
        _NO_KERNEL_BUT_OTHERS.why, Message("Write your own fused kernel for {operators:name}.")
    ),
    "needs_gemm": Advice(
        Message(
            "The engine fuses {activation:name} only with Gemm, and this is a MatMul without a "
            "bias."
        ),
        Message("Write the product as Gemm, or add a bias of zeros to it."),
    ),
    "reshape_between": Advice(
        Message(
            "The product has {axes:axes}, so the engine reshapes its result, and the activation "
            "comes after the Reshape."
        ),
        Message("Flatten to two axes before the product and restore them at the end."),
    ),
    "opset": Advice(
        Message(
            "The model has opset {opset:count}. At this level the engine writes {does:name}, which "
            "only exists from opset {needs:count} on."
        ),
        Message(
            "Export the model with opset {needs:count} or later, or use the level extended or all."
        ),
    ),
    "level": Advice(
        Message(
            "The optimisation level is {level:name}, but this fusion is done from {needs:name} on."
        ),
        Message("Use the level {needs:name}."),
    ),
    "disabled": Advice(
        Message("The optimizer {optimizer:name} was off in this variant."),
        Message("Leave {optimizer:name} on."),
    ),
    "other_provider": Advice(
        Message("Parts of it ran on different execution providers: {one:name} and {other:name}."),
        Message("Keep these operators on one execution provider."),
    ),
    "merged_duplicates": Advice(
        Message(
            "The engine computes {count:count} equal {operator:name} operators only once, so "
            "{tensor} has more readers than the model shows."
        ),
        Message(
            "Remove the duplicates from the model, or try the variant "
            "without:CommonSubexpressionElimination."
        ),
    ),
    "engine_declined": Advice(
        Message(
            "All conditions that FuseScope knows are met, but ONNX Runtime {engine:name} still did "
            "not fuse it. The conditions were found with {checked:name}."
        ),
        _DECLINED_DYNAMIC.remedy,
    ),
    "dynamic_dimensions": Advice(
        Message(
            "All conditions that FuseScope knows are met with the sizes that ran, but ONNX Runtime "
            "{engine:name} was not told them: the inputs have dynamic dimensions."
        ),
        Message("Give the inputs fixed sizes where they are known; the variant fused has them."),
    ),
    "optimisation_off": Advice(
        Message("Optimisation is off in the variant '{variant:name}', so nothing is fused."),
        Message("Compare with the variant fused."),
    ),
    "own_pass": Advice(
        Message(
            "The variant '{variant:name}' is fused by FuseScope's own pass, and the engine fuses "
            "nothing more."
        ),
        _OWN_PASS_NOTHING.remedy,
    ),
    "own_only": Advice(
        Message(
            "The engine has the operator {makes:name}, and none of its optimizers made it here. "
            "FuseScope's own pass does, verified on this model."
        ),
        Message(
            "Record a rule file with the pattern {rewrites:name}, or export the model with "
            "{makes:name}."
        ),
    ),
    "own_kernel": Advice(
        Message(
            "In the variant '{variant:name}', custom kernels run {groups:groups} of operators. The "
            "rest runs with every optimisation off."
        ),
        _OWN_KERNEL_UNCOUNTED.remedy,
    ),
    "same_cut": Advice(
        Message(
            "The variant '{variant:name}' is cut in the same way as {twin:name}, but without the "
            "kernel: nothing is fused in it on purpose, to show the cost of the cut alone."
        ),
        Message("Compare {twin:name} with it: both are cut in the same way."),
    ),
    "quantised": Advice(
        Message(
            "The variant '{variant:name}' runs in 8 bits. The conditions that FuseScope knows are "
            "those of the engine's float32 operators."
        ),
        Message("Compare with the variant fused to see what the float32 model misses."),
    ),
}
