"""Errors of variants that cannot be made of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

VariantsError = Literal[
    "ablation_changes_nothing",
    "ablation_nothing",
    "ablation_unknown",
    "all_spin_already",
    "c_compiler_failed",
    "c_compiler_missing",
    "compiled_kernel_gone",
    "kernel_differs",
    "kernel_fuses_nothing",
    "kernel_nothing_inside",
    "kernel_nothing_to_replace",
    "kernel_unknown",
    "kernels_undone",
    "no_folder_for_kernels",
    "no_operator_left",
    "nothing_dynamic",
    "numba_missing",
    "other_inputs_differ",
    "other_model_missing",
    "other_model_not_given",
    "other_models_alike",
    "other_outputs_differ",
    "piece_constant_output",
    "piece_reads_no_tensor",
    "piece_too_big",
    "pieces_too_many_threads",
    "profile_clock_unknown",
    "quantised_already",
    "quantised_refused",
    "quantiser_nothing",
    "quantiser_refused",
    "variant_of_engine_left_out",
    "variant_of_one_engine",
]
VARIANTS: Mapping[VariantsError, ErrorText] = {
    "ablation_changes_nothing": ErrorText(
        Message(
            "{optimizer:name} changes nothing in this model: '{variant:name}' would run the graph "
            "of '{same:name}' once more"
        ),
        Message("Leave it out. The option --ablate finds the optimizers that matter."),
    ),
    "ablation_nothing": ErrorText(
        Message("No optimizer of the engine changes this model, so there is nothing to ablate"),
        Message("Record it without --ablate."),
    ),
    "ablation_unknown": ErrorText(
        Message(
            "'{variant:name}' runs the graph of '{same:name}': the engine seems to have no "
            "optimizer '{optimizer:name}'"
        ),
        Message("The option --ablate finds the optimizers that matter."),
    ),
    "all_spin_already": ErrorText(
        Message(
            "With --spin the threads of every variant spin, so '{variant:name}' would be fused "
            "once more"
        ),
        Message("Leave out one of them."),
    ),
    "c_compiler_failed": ErrorText(
        Message("The C compiler '{compiler:name}' does not compile the kernels of this model"),
        Message("Leave this inside: variant out of the variants, and report this model."),
    ),
    "c_compiler_missing": ErrorText(
        Message("Kernels inside the engine's session need a C compiler (cc, gcc or clang)"),
        Message("Install one, or leave inside: out of the variants."),
    ),
    "compiled_kernel_gone": ErrorText(
        Message("A compiled kernel no longer exists"), Message("Record again.")
    ),
    "kernel_differs": ErrorText(
        Message(
            "The kernel for '{operator:name}' computes a result different from ONNX Runtime's: its "
            "output difference is {difference:number}"
        ),
        Message("Leave this custom: variant out of the variants, and report this model."),
    ),
    "kernel_fuses_nothing": ErrorText(
        Message(
            "The kernel {kernel:name} replaces single operators, so there is no variant "
            "inside:{kernel:name}"
        ),
        Message("Record custom:{kernel:name}, which measures it against the same cut."),
    ),
    "kernel_nothing_inside": ErrorText(
        Message("The engine leaves no {pattern:name} in this model that could become one operator"),
        Message("Leave {variant:name} out of the variants."),
    ),
    "kernel_nothing_to_replace": ErrorText(
        Message("The model has no {pattern:name} that custom:{kernel:name} could replace"),
        Message("Leave custom:{kernel:name} and segments:{kernel:name} out of the variants."),
    ),
    "kernel_unknown": ErrorText(
        Message("There is no kernel '{kernel:name}'"), Message("Known: {known:name}.")
    ),
    "kernels_undone": ErrorText(
        Message(
            "No kernel for this model computes what ONNX Runtime does: the output difference of "
            "'{operator:name}' is {difference:number}"
        ),
        Message("Leave this inside: variant out of the variants, and report this model."),
    ),
    "no_folder_for_kernels": ErrorText(
        Message("There is no folder to put compiled kernels into"),
        Message("Make the user's cache folder, or TMPDIR, writable."),
    ),
    "no_operator_left": ErrorText(
        Message(
            "Variant '{variant:name}' has no operator left: the engine computes this model's "
            "result when it loads it"
        ),
        Message(
            "Leave {variant:name} out of the variants, or record a model with outputs that depend "
            "on its inputs."
        ),
    ),
    "numba_missing": ErrorText(
        Message("Custom kernels need the package 'numba'"),
        Message("Run: pip install 'fusescope[kernels]', or leave custom: out of the variants."),
    ),
    "other_inputs_differ": ErrorText(
        Message(
            "This model has other inputs than the recorded one, so both cannot be timed on the "
            "same values: {given:name} in place of {recorded:name}"
        ),
        Message(
            "Export it with the same inputs, or compare both without times: fusescope gate OLD NEW "
            "--structure."
        ),
    ),
    "other_model_missing": ErrorText(
        Message("There is no such model file"),
        Message("Give the path of an ONNX file."),
    ),
    "other_model_not_given": ErrorText(
        Message("The file of the variant '{variant:name}' was not given"),
        Message("On the command line, a path may follow 'model:'."),
    ),
    "other_models_alike": ErrorText(
        Message("Two other models have the name '{name:name}'"),
        Message(
            "Rename one: a variant has the name of its file, and upper and lower case count as the "
            "same."
        ),
    ),
    "other_outputs_differ": ErrorText(
        Message(
            "This model has other outputs than the recorded one, so both do not compute the same: "
            "{given:name} in place of {recorded:name}"
        ),
        Message(
            "Export it with the same outputs, or compare both without times: fusescope gate OLD "
            "NEW --structure."
        ),
    ),
    "piece_constant_output": ErrorText(
        Message("A model in pieces cannot return the constant output '{output:name}'"),
        Message("Leave eager, segments and custom out of the variants."),
    ),
    "piece_reads_no_tensor": ErrorText(
        Message(
            "The piece of '{operator:name}' cannot run alone: it reads '{input:name}', which is "
            "not a tensor"
        ),
        Message("Leave eager, segments and custom out of the variants."),
    ),
    "piece_too_big": ErrorText(
        Message(
            "The piece of '{operator:name}' cannot run alone: its weights are too big for a model "
            "by itself"
        ),
        Message("Leave eager, segments and custom out of the variants."),
    ),
    "pieces_too_many_threads": ErrorText(
        Message(
            "The {pieces:count} pieces of this model would need {threads:threads}, a pool for each"
        ),
        Message("Lower --threads, or leave eager, segments and custom out of the variants."),
    ),
    "profile_clock_unknown": ErrorText(
        Message("The engine's profile uses a clock that FuseScope does not know"),
        Message("Leave eager, segments and custom out of the variants."),
    ),
    "nothing_dynamic": ErrorText(
        Message(
            "The model fixes every dimension of its inputs, so '{variant:name}' has none to leave "
            "open"
        ),
        Message("Leave it out: fused runs this model as it is deployed."),
    ),
    "quantised_already": ErrorText(
        Message("The model is already quantised: it has {op_type:name}"),
        Message("Leave int8 out of the variants."),
    ),
    "quantised_refused": ErrorText(
        Message("ONNX Runtime refuses what its own quantiser made of the model: {reason:name}"),
        Message("Leave int8 out of the variants."),
    ),
    "quantiser_nothing": ErrorText(
        Message("The model has no operator that ONNX Runtime runs in 8 bits"),
        Message("Leave int8 out of the variants."),
    ),
    "quantiser_refused": ErrorText(
        Message("ONNX Runtime's quantiser refuses the model: {reason:name}"),
        Message("Leave int8 out of the variants."),
    ),
    "variant_of_engine_left_out": ErrorText(
        Message("'{variant:name}' is of the engine {engine:name}, which is not in --runtime"),
        Message("Add the engine there, or leave the variant out."),
    ),
    "variant_of_one_engine": ErrorText(
        Message("The variant '{variant:name}' cannot be recorded beside other engines"),
        Message("Record it with that engine alone: --runtime with one name."),
    ),
}
