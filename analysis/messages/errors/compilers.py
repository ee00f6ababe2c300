"""Errors of models for torch and jax, and of compiling them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

CompilersError = Literal[
    "code_beside",
    "engine_not_named",
    "engine_not_said",
    "jax_changes_inputs",
    "jax_file_raised",
    "jax_model_form",
    "jax_model_unknown",
    "jax_no_ablation",
    "jax_no_array",
    "jax_no_input",
    "jax_no_model",
    "jax_not_traced",
    "jax_still_fused",
    "mindspore_file_raised",
    "mindspore_model_form",
    "mindspore_model_unknown",
    "mindspore_no_ablation",
    "mindspore_no_cell",
    "mindspore_no_operator",
    "mindspore_no_profile",
    "mindspore_nothing_runs",
    "mindspore_pass_stays",
    "mindspore_refused",
    "mindspore_still_fused",
    "model_drawn_apart",
    "openvino_no_bf16",
    "openvino_no_operator",
    "openvino_refused",
    "operator_not_translated",
    "option_not_beside",
    "given_of_others",
    "input_given_twice",
    "input_place_missing",
    "input_type_unknown",
    "range_of_no_input",
    "torch_input_unknown",
    "torch_no_inputs",
    "option_of_onnx_only",
    "option_of_own_only",
    "torch_changes_inputs",
    "torch_changes_numbers",
    "torch_file_missing",
    "torch_file_raised",
    "torch_fusion_not_alone",
    "torch_fusion_stays",
    "torch_model_form",
    "torch_model_unknown",
    "torch_no_function",
    "torch_no_map",
    "torch_no_module",
    "torch_no_such_fusion",
    "torch_not_compiled",
    "torch_nothing_compiled",
    "torch_nothing_fused",
    "torch_setting_missing",
    "torch_still_fused",
    "torch_training_frozen",
    "torch_training_key",
    "torch_training_no_function",
    "torch_training_no_weights",
    "torch_training_random",
    "variants_lacking",
    "weight_not_translated",
]
_RETURN = Message("Let it return (module, (input, …)), with tensors as inputs.")
_RETURN_ARRAYS = Message("Let it return (function, (input, …)), with weights among the inputs.")
_OTHERS = Message("Leave the variant out with --variants, or use another release of torch.")
_OTHER_FUSION = Message("Leave the variant out: another fusion may be denied by itself.")
COMPILERS: Mapping[CompilersError, ErrorText] = {
    "jax_changes_inputs": ErrorText(
        Message("The model changes a list or dictionary of its inputs, so each run would differ"),
        Message("Let it work on a copy of it, and return what is new."),
    ),
    "jax_file_raised": ErrorText(
        Message("The model's file raised an error: {reason:name}"),
        Message("Run the file with Python by itself; its packages must be in jax's environment."),
    ),
    "jax_model_form": ErrorText(
        Message("{model:name} does not name a model for jax"),
        Message("Give FILE.py:FUNCTION, or a built-in model such as jax:mlp."),
    ),
    "jax_model_unknown": ErrorText(
        Message("There is no built-in model {model:name}"),
        Message("Known models: {known:name}."),
    ),
    "jax_no_ablation": ErrorText(
        Message("JAX has no way to leave out one fusion at a time, as --ablate asks"),
        Message("Leave --ablate out: unfused and fused show what all fusions bring together."),
    ),
    "jax_no_array": ErrorText(
        Message("The input {input:name} of the model is of the type {kind:name}, not an array"),
        Message("Give arrays, numbers, and lists or dictionaries of them as inputs."),
    ),
    "jax_no_input": ErrorText(
        Message("The model has no arrays as inputs, so all of it would be computed in advance"),
        _RETURN_ARRAYS,
    ),
    "jax_not_traced": ErrorText(
        Message("JAX cannot trace the model: {reason:name}"),
        Message("Run jax.jit of the function with its inputs by itself to see where."),
    ),
    "jax_no_model": ErrorText(
        Message("The function {function:name} does not return a model and its inputs"),
        _RETURN_ARRAYS,
    ),
    "jax_still_fused": ErrorText(
        Message(
            "The compiler fused although it was told not to: the kernel {kernel:name} holds "
            "{n:count} operator: {operators:name}",
            "The compiler fused although it was told not to: the kernel {kernel:name} holds "
            "{n:count} operators: {operators:name}",
        ),
        Message("Leave the variant out with --variants, or use another release of jax."),
    ),
    "mindspore_file_raised": ErrorText(
        Message("The model's file raised an error: {reason:name}"),
        Message(
            "Run the file with Python by itself; its packages must be in mindspore's environment."
        ),
    ),
    "mindspore_model_form": ErrorText(
        Message("{model:name} does not name a model for MindSpore"),
        Message("Give FILE.py:FUNCTION, or a built-in model such as mindspore:mynet."),
    ),
    "mindspore_model_unknown": ErrorText(
        Message("There is no built-in model {model:name}"),
        Message("Known models: {known:name}."),
    ),
    "mindspore_no_ablation": ErrorText(
        Message("MindSpore has no way to leave out one fusion at a time, as --ablate asks"),
        Message(
            "Leave out a pass of graph kernels: --variants fused,without:graph_kernel_cluster."
        ),
    ),
    "mindspore_no_cell": ErrorText(
        Message("The function {function:name} does not return a model and its inputs"),
        Message("Let it return (cell, (input, …)): an nn.Cell, and tensors as inputs."),
    ),
    "mindspore_no_operator": ErrorText(
        Message("MindSpore does not have the operator {operators:name} on a CPU"),
        Message("Use another operator in the model, or record it with another engine."),
    ),
    "mindspore_no_profile": ErrorText(
        Message("MindSpore's profiler wrote no profile"),
        Message("Record again, or check that the model runs in MindSpore's profiler by itself."),
    ),
    "mindspore_nothing_runs": ErrorText(
        Message("MindSpore made no graph of the model: nothing in it computes with its inputs"),
        Message("Check what the model returns in GRAPH_MODE, without FuseScope."),
    ),
    "mindspore_pass_stays": ErrorText(
        Message("The pass that '{variant:name}' is to leave out ran all the same"),
        Message("Leave the variant out with --variants."),
    ),
    "mindspore_refused": ErrorText(
        Message("MindSpore refused the model: {reason:name}"),
        Message("Check that the model runs in MindSpore by itself, in GRAPH_MODE too."),
    ),
    "mindspore_still_fused": ErrorText(
        Message(
            "The compiler fused although it was told not to: the kernel {kernel:name} holds "
            "{n:count} operator: {operators:name}",
            "The compiler fused although it was told not to: the kernel {kernel:name} holds "
            "{n:count} operators: {operators:name}",
        ),
        Message("Leave the variant out with --variants."),
    ),
    "operator_not_translated": ErrorText(
        Message(
            "FuseScope does not translate the operator {operators:name} to {engine:name}",
            "FuseScope does not translate the operators {operators:name} to {engine:name}",
        ),
        Message("Leave {engine:name} out of --runtime."),
    ),
    "given_of_others": ErrorText(
        Message("The option --input is for modules of torch, not for the engine {runtime:name}"),
        Message("Give the shape of an input of an ONNX model with --shape."),
    ),
    "input_given_twice": ErrorText(
        Message("--input gives '{input:name}' twice"), Message("Give each input once.")
    ),
    "input_place_missing": ErrorText(
        Message("--input gives no input for place {place:count}"),
        Message("Give the inputs by place from 0 on, or all by name."),
    ),
    "input_type_unknown": ErrorText(
        Message("There is no data type {dtype:name} for an input"),
        Message("Choose one of {known:name}."),
    ),
    "range_of_no_input": ErrorText(
        Message("--input-range names '{input:name}', which no --input gives"),
        Message("Give its shape and type with --input."),
    ),
    "option_of_onnx_only": ErrorText(
        Message("The option {option:name} is for ONNX models, not for the engine {runtime:name}"),
        Message("Leave it out: the function that makes the model also makes its inputs."),
    ),
    "option_not_beside": ErrorText(
        Message("The option {option:name} is not for a recording of several engines"),
        Message("Leave it out, or record with one engine that has it."),
    ),
    "option_of_own_only": ErrorText(
        Message("The engine {runtime:name} has nothing for the option {option:name}"),
        Message("Leave it out, or record with --runtime onnxruntime."),
    ),
    "model_drawn_apart": ErrorText(
        Message(
            "The model is another one in {other:name} than in {first:name}: its weights or its "
            "inputs differ"
        ),
        Message("Have the function read them from a file, or draw them in the same way in both."),
    ),
    "openvino_no_bf16": ErrorText(
        Message("On this CPU, OpenVINO computes in float32 although bfloat16 is asked for"),
        Message("Leave the variant bf16 out: it would be the same as fused."),
    ),
    "openvino_no_operator": ErrorText(
        Message(
            "OpenVINO does not have the operator {operators:name}",
            "OpenVINO does not have the operators {operators:name}",
        ),
        Message("Record the model with --runtime onnxruntime, or convert it without them."),
    ),
    "openvino_refused": ErrorText(
        Message("OpenVINO refused the model: {reason:name}"),
        Message("Check that the model runs in OpenVINO by itself, without FuseScope."),
    ),
    "torch_changes_inputs": ErrorText(
        Message("A run of the model puts a tensor of another shape in place of {input:name}"),
        Message("Let it write into one of a fixed size, as a static cache does."),
    ),
    "torch_changes_numbers": ErrorText(
        Message("A run of the model changes a number that {input:name} holds, such as a position"),
        Message("Let it keep that in a tensor, as a static cache does: tensors are put back."),
    ),
    "torch_file_missing": ErrorText(
        Message("There is no such Python file"), Message("Check the path: FILE.py:FUNCTION.")
    ),
    "torch_file_raised": ErrorText(
        Message("The model's file raised an error: {reason:name}"),
        Message("Run the file with Python by itself; its packages must be in torch's environment."),
    ),
    "torch_fusion_not_alone": ErrorText(
        Message(
            "'{variant:name}' would also change other kernels, at {operators:name}, so it would "
            "not measure one fusion"
        ),
        _OTHER_FUSION,
    ),
    "torch_fusion_stays": ErrorText(
        Message("'{variant:name}' would still compute in one kernel: {operators:name}"),
        _OTHER_FUSION,
    ),
    "torch_model_form": ErrorText(
        Message("{model:name} does not name a model for torch"),
        Message("Give FILE.py:FUNCTION, or a built-in model such as torch:mlp."),
    ),
    "torch_model_unknown": ErrorText(
        Message("There is no built-in model {model:name}"),
        Message("Known models: {known:name}."),
    ),
    "torch_no_function": ErrorText(
        Message("The file has no function {function:name}"),
        Message("Name one that makes the model: FILE.py:FUNCTION."),
    ),
    "torch_no_map": ErrorText(
        Message("The compiler does not tell which kernel of {variant:name} computes what"),
        Message("Record without --ablate, or use another release of torch."),
    ),
    "torch_input_unknown": ErrorText(
        Message("The module takes no input {input:name}"),
        Message("It takes: {known:name}."),
    ),
    "torch_no_inputs": ErrorText(
        Message("The function {function:name} returns a module without its inputs"),
        Message("Give each with --input NAME=SHAPE:TYPE. It takes: {known:name}."),
    ),
    "torch_no_module": ErrorText(
        Message("The function {function:name} does not return a model and its inputs"), _RETURN
    ),
    "torch_no_such_fusion": ErrorText(
        Message("The compiler makes no fused kernel {kernel:name} of this model"),
        Message("Its fused kernels: {known:name}."),
    ),
    "torch_not_compiled": ErrorText(
        Message("The model was not compiled as {variant:name}: {reason:name}"),
        _OTHERS,
    ),
    "code_beside": ErrorText(
        Message("{model:name} is Python code, but several engines record one ONNX model"),
        Message("Export it as ONNX, or name one engine in --runtime."),
    ),
    "engine_not_said": ErrorText(
        Message("{model:name} is Python code, and does not say for which engine"),
        Message("Add --runtime torch, --runtime jax or --runtime mindspore."),
    ),
    "engine_not_named": ErrorText(
        Message("{model:name} is a model for {runtime:name}, not for ONNX Runtime"),
        Message("Record it with: fusescope collect {model:name} --runtime {runtime:name}."),
    ),
    "torch_nothing_compiled": ErrorText(
        Message(
            "The compiler took nothing of the model, so {variant:name} would be the eager run again"
        ),
        Message("Record eager alone, or look with TORCH_LOGS=graph_breaks for what it refuses."),
    ),
    "torch_nothing_fused": ErrorText(
        Message("The compiler fuses nothing in this model, so there is nothing to leave out"),
        Message("Record it without --ablate."),
    ),
    "torch_setting_missing": ErrorText(
        Message(
            "The variant {variant:name} needs the setting {setting:name}, which torch "
            "{version:name} does not have"
        ),
        _OTHERS,
    ),
    "torch_still_fused": ErrorText(
        Message(
            "The compiler fused although it was told not to: the kernel {kernel:name} holds "
            "{n:count} operator: {operators:name}",
            "The compiler fused although it was told not to: the kernel {kernel:name} holds "
            "{n:count} operators: {operators:name}",
        ),
        _OTHERS,
    ),
    "torch_training_frozen": ErrorText(
        Message("The variant freezing makes constants of weights, which a training step changes"),
        Message("Leave it out of --variants."),
    ),
    "torch_training_key": ErrorText(
        Message("{key:name} is not a key of the description of a training step"),
        Message("Its parts are: {known:name}."),
    ),
    "torch_training_no_function": ErrorText(
        Message("{key:name} of the training step cannot be called"),
        Message(
            "Let loss be a function of what the module returns and of the targets, optimizer one "
            "of the weights that returns an optimizer."
        ),
    ),
    "torch_training_no_weights": ErrorText(
        Message("No weight of the module is trained"),
        Message("Let at least one have requires_grad, or return (module, inputs) for inference."),
    ),
    "torch_training_random": ErrorText(
        Message("The training step draws random numbers, of which each variant would draw others"),
        Message(
            "Set the rates of dropout in the model's configuration to 0; modules of torch.nn for "
            "it are switched off by themselves."
        ),
    ),
    "variants_lacking": ErrorText(
        Message(
            "This release of the engine cannot compile {variant:name}: it has no {missing:name}"
        ),
        Message("Name two other variants, or record with another release."),
    ),
    "weight_not_translated": ErrorText(
        Message("The weight {tensor:name} has a type that FuseScope does not translate"),
        Message("Leave torch and jax out of --runtime, or record the model in float32."),
    ),
}
