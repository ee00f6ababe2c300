"""Errors of the conditions of a gate: each points at the character where it stops to be one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

ConditionsError = Literal[
    "condition_argument",
    "condition_confidence",
    "condition_goes_on",
    "condition_of_unknown",
    "condition_wants_number",
    "condition_wants_percent",
    "condition_without_noise",
    "condition_without_relation",
    "gate_interrupted",
    "gate_models_without_file",
    "gate_needs_condition",
    "gate_needs_variants",
    "gate_no_structure",
    "gate_not_judged",
    "gate_of_code",
    "gate_structure_only",
    "gate_third_model",
    "gate_variant_beside_model",
]
_EXAMPLES = Message("For example: speedup < 0.97 with 95%, p50 slower 3%, fusion.lost > 0.")
CONDITIONS: Mapping[ConditionsError, ErrorText] = {
    "condition_argument": ErrorText(
        Message(
            "The condition '{condition:name}' is not understood at character {position:count}: "
            "only {example:name} has an op type in brackets, and needs one"
        ),
        Message("For example: fusion.count(BiasGelu) < 12."),
    ),
    "condition_confidence": ErrorText(
        Message(
            "The condition '{condition:name}' is not understood at character {position:count}, "
            "'{found:name}': a confidence is from 50% to below 100%"
        ),
        Message("For example: speedup < 0.97 with 95%."),
    ),
    "condition_goes_on": ErrorText(
        Message(
            "The condition '{condition:name}' has something after its end at character "
            "{position:count}: '{found:name}'"
        ),
        Message("Give each condition an option --fail-if of its own."),
    ),
    "condition_of_unknown": ErrorText(
        Message(
            "The condition '{condition:name}' is not understood at character {position:count}, "
            "'{found:name}': nothing of this name can be judged"
        ),
        Message("There are: {known:name}."),
    ),
    "condition_wants_number": ErrorText(
        Message(
            "The condition '{condition:name}' is not understood at character {position:count}, "
            "'{found:name}': a number that is not negative belongs here"
        ),
        _EXAMPLES,
    ),
    "condition_wants_percent": ErrorText(
        Message(
            "The condition '{condition:name}' is not understood at character {position:count}, "
            "'{found:name}': after '{relation:name}' belongs a percentage"
        ),
        Message("For example: p50 slower 3%, memory up 10%."),
    ),
    "condition_without_noise": ErrorText(
        Message(
            "The condition '{condition:name}' is not understood at character {position:count}: "
            "only times have an interval, and with it a confidence"
        ),
        Message("Leave out what begins with 'with'."),
    ),
    "condition_without_relation": ErrorText(
        Message(
            "The condition '{condition:name}' is not understood at character {position:count}, "
            "'{found:name}': one of these belongs here: {known:name}"
        ),
        _EXAMPLES,
    ),
    "gate_interrupted": ErrorText(
        Message("The gate was interrupted"),
        Message("Nothing was written. Start it again."),
    ),
    "gate_models_without_file": ErrorText(
        Message("Two models are timed in blocks that both run in, which takes both as models"),
        Message(
            "Name two ONNX files, or add --structure and keep only conditions of fusion and "
            "operators."
        ),
    ),
    "gate_needs_condition": ErrorText(
        Message("A gate needs a condition to fail at"),
        Message("Add --fail-if 'fusion.lost > 0', or another one (docs/ci.md)."),
    ),
    "gate_needs_variants": ErrorText(
        Message("A model is recorded as two variants, and both have to be named"),
        Message("For example: --base unfused --head fused."),
    ),
    "gate_of_code": ErrorText(
        Message("{model:name} is Python code, which a gate does not record"),
        Message("Record it with fusescope collect --runtime, and give the recording to the gate."),
    ),
    "gate_no_structure": ErrorText(
        Message("The graph that {variant:name} ran was not recorded, so there is nothing to keep"),
        Message("Record the model again, or name another variant with --head."),
    ),
    "gate_not_judged": ErrorText(
        Message("The condition '{condition:name}' cannot be judged: {reason:name}"),
        Message("Leave it out, or record what it needs."),
    ),
    "gate_structure_only": ErrorText(
        Message(
            "The condition '{condition:name}' needs times, and with --structure nothing is measured"
        ),
        Message("Leave out --structure, or keep only conditions of fusion and operators."),
    ),
    "gate_third_model": ErrorText(
        Message("--base and --head name two other models than this one"),
        Message("A gate is on two models: fusescope gate OLD.onnx NEW.onnx."),
    ),
    "gate_variant_beside_model": ErrorText(
        Message(
            "Beside a model's file, {option:name} cannot be the variant '{variant:name}': two "
            "models are compared with all optimisations on"
        ),
        Message("Leave it out, or name a model's file for it."),
    ),
}
