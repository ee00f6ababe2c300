"""Errors of models, of their inputs and of the files that hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

ModelsError = Literal[
    "data_hard_link",
    "data_missing",
    "data_not_a_name",
    "data_not_allowed",
    "data_not_regular",
    "data_offset",
    "data_outside",
    "data_too_short",
    "functions_impossible",
    "functions_missing",
    "graphs_too_deep",
    "input_dynamic",
    "input_rank_differs",
    "input_type_impossible",
    "input_unknown",
    "input_without_shape",
    "inputs_are_objects",
    "inputs_damaged",
    "inputs_missing",
    "inputs_not_npz",
    "inputs_one_array",
    "inputs_shape_differs",
    "inputs_type_differs",
    "model_batch_fixed",
    "model_empty",
    "model_missing",
    "model_not_regular",
    "model_too_large",
    "model_unreadable",
    "range_without_values",
]
MODELS: Mapping[ModelsError, ErrorText] = {
    "data_hard_link": ErrorText(
        Message("The model's external data '{file:name}' has a second name (hard link)"),
        Message("Keep the model and its data files together in one folder."),
    ),
    "data_missing": ErrorText(
        Message("The model's external data '{file:name}' is missing or cannot be read"),
        Message("Keep the model and its data files together in one folder."),
    ),
    "data_not_a_name": ErrorText(
        Message(
            "The model's external data '{file:name}' is not the name of a file in the model's "
            "folder"
        ),
        Message("Keep the model and its data files together in one folder."),
    ),
    "data_not_allowed": ErrorText(
        Message("The model keeps weights in other files, which is not allowed from the browser"),
        Message("Record it with 'fusescope collect', or save it as one file."),
    ),
    "data_not_regular": ErrorText(
        Message("The model's external data '{file:name}' is not a regular file"),
        Message("Keep the model and its data files together in one folder."),
    ),
    "data_offset": ErrorText(
        Message(
            "The model's external data '{file:name}' has an offset or length that is not a number"
        ),
        Message("Keep the model and its data files together in one folder."),
    ),
    "data_outside": ErrorText(
        Message("The model's external data '{file:name}' is outside the model's folder"),
        Message("Keep the model and its data files together in one folder."),
    ),
    "data_too_short": ErrorText(
        Message(
            "The model's external data '{file:name}' has {size:count} bytes, fewer than the model "
            "needs"
        ),
        Message("Keep the model and its data files together in one folder."),
    ),
    "functions_impossible": ErrorText(
        Message("The model's functions cannot be expanded: {reason:name}"),
        Message("Check the model with onnx.checker."),
    ),
    "functions_missing": ErrorText(
        Message(
            "The model does not define any operator, so custom:library would have nothing to "
            "replace"
        ),
        Message(
            "Leave it out of the variants: operators that only the library has run in every "
            "variant. Or define them in the model (docs/custom-op.md)."
        ),
    ),
    "graphs_too_deep": ErrorText(
        Message("The model nests graphs deeper than {largest:count}"), Message("Flatten the model.")
    ),
    "input_dynamic": ErrorText(
        Message("The input '{input:name}' has dynamic dimensions: {shape:name}"),
        Message("Give its shape, for example --shape {input:name}={example:name}."),
    ),
    "input_rank_differs": ErrorText(
        Message(
            "--shape gives '{input:name}' {given:count} dimensions, the model declares {shape:name}"
        ),
        Message("Give one number for each dimension."),
    ),
    "input_type_impossible": ErrorText(
        Message("The input '{input:name}' is of type {type:name}, which FuseScope cannot make"),
        Message("Use a model with inputs that are floats, integers or booleans."),
    ),
    "input_unknown": ErrorText(
        Message("The model has no input '{input:name}'"), Message("Its inputs are: {inputs:name}.")
    ),
    "input_without_shape": ErrorText(
        Message("The model declares no shape for its input '{input:name}'"),
        Message("Give one: --shape {input:name}=1,3,224,224."),
    ),
    "inputs_are_objects": ErrorText(
        Message("The inputs file contains Python objects, which FuseScope does not load"),
        Message("Write it with numpy.savez(FILE, input_name=array)."),
    ),
    "inputs_damaged": ErrorText(
        Message("The inputs file is not an npz file, or it is damaged"),
        Message("Write it with numpy.savez(FILE, input_name=array)."),
    ),
    "inputs_missing": ErrorText(
        Message("The inputs file does not exist"), Message("Check its path.")
    ),
    "inputs_not_npz": ErrorText(
        Message("The inputs file is not an npz file"),
        Message("Write it with numpy.savez(FILE, input_name=array)."),
    ),
    "inputs_one_array": ErrorText(
        Message("This is a single array, not an npz file"),
        Message("Write it with numpy.savez(FILE, input_name=array)."),
    ),
    "inputs_shape_differs": ErrorText(
        Message(
            "The inputs file gives '{input:name}' the shape {given:name}, the model takes "
            "{shape:name}"
        ),
        Message("Change the file, or pass --shape."),
    ),
    "inputs_type_differs": ErrorText(
        Message(
            "The inputs file gives '{input:name}' as {given:name}, the model takes {type:name}"
        ),
        Message("Convert it with .astype('{type:name}')."),
    ),
    "model_batch_fixed": ErrorText(
        Message("The model has a fixed batch size: '{input:name}' is {shape:name}"),
        Message("Override it with --shape {input:name}={wanted:name}, or export a dynamic batch."),
    ),
    "model_empty": ErrorText(
        Message("The model file is empty"), Message("Export or copy it again.")
    ),
    "model_missing": ErrorText(
        Message("The model file does not exist or cannot be read"), Message("Check its path.")
    ),
    "model_not_regular": ErrorText(
        Message("The model is not a regular file"), Message("Check its path.")
    ),
    "model_too_large": ErrorText(
        Message("The model file is larger than 2 GiB, which ONNX files cannot be"),
        Message("Export it with its weights as external data."),
    ),
    "model_unreadable": ErrorText(
        Message("This is not an ONNX model, or it is cut short"),
        Message("Export or copy it again."),
    ),
    "range_without_values": ErrorText(
        Message("There is no {type:name} between {low:number} and {high:number}"),
        Message("Change --input-range."),
    ),
}
