"""Errors of what is asked of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

RequestsError = Literal[
    "baseline_not_recorded",
    "batch_contradicts_shape",
    "clock_was_set",
    "dimension_below_one",
    "interrupted_too_early",
    "library_not_given",
    "model_differs",
    "model_file_name",
    "model_is_a_folder",
    "model_unknown",
    "model_unknown_in_zoo",
    "no_model_among",
    "no_variants",
    "number_out_of_range",
    "number_too_small",
    "one_variant_only",
    "provider_missing",
    "provider_not_built",
    "provider_not_loaded",
    "provider_takes_nothing",
    "range_malformed",
    "shape_given_twice",
    "shape_malformed",
    "variant_cannot_be_recorded",
    "variant_given_twice",
    "variant_name_impossible",
    "variant_unknown",
    "variant_unknown_of_engine",
    "zoo_backbone_unknown",
    "zoo_model_unknown",
    "zoo_without_backbone",
]
REQUESTS: Mapping[RequestsError, ErrorText] = {
    "baseline_not_recorded": ErrorText(
        Message("The baseline '{baseline:name}' is not among the variants"),
        Message("Choose one of {variants:name}, or add it to --variants."),
    ),
    "batch_contradicts_shape": ErrorText(
        Message("--batch {batch:name} and --shape contradict each other"),
        Message("Leave one of them out."),
    ),
    "clock_was_set": ErrorText(
        Message("The system's clock was set several times while profiles were taken"),
        Message("Wait until it is synchronised, and record again."),
    ),
    "dimension_below_one": ErrorText(
        Message("--shape gives '{input:name}' a dimension below 1"), Message("Use sizes from 1 up.")
    ),
    "interrupted_too_early": ErrorText(
        Message("The recording was interrupted before its first block was complete"),
        Message("Nothing was written. Start it again."),
    ),
    "library_not_given": ErrorText(
        Message("'{variant:name}' needs a library of operators"),
        Message("Give one on the command line with --custom-op-library PATH."),
    ),
    "model_differs": ErrorText(
        Message("This is not the model that the experiment recorded: its content differs"),
        Message("Give the file that was recorded, or record this one anew."),
    ),
    "model_file_name": ErrorText(
        Message("'{name:name}' cannot be the name of a model or of a file with its weights"),
        Message("Rename it: letters, digits, spaces, '.', '_', '+' and '-', 120 at most."),
    ),
    "no_model_among": ErrorText(
        Message("No file here is an ONNX model"),
        Message("Give the .onnx file, and with it the files that hold its weights."),
    ),
    "model_is_a_folder": ErrorText(
        Message("'{model:name}' is a folder, not a model"),
        Message("Give the .onnx file inside it."),
    ),
    "model_unknown": ErrorText(
        Message("There is no file '{model:name}'"), Message("Known models: {known:name}.")
    ),
    "model_unknown_in_zoo": ErrorText(
        Message("There is no file '{model:name}', and no built-in model of that name"),
        Message("Known models: {known:name}."),
    ),
    "no_variants": ErrorText(
        Message("No variant was given"), Message("Give at least one with --variants.")
    ),
    "number_out_of_range": ErrorText(
        Message("{option} cannot be {given}"),
        Message("Give a number from {smallest:count} to {largest:count}."),
    ),
    "number_too_small": ErrorText(
        Message("{option} cannot be {given}"), Message("Give a number above 0.")
    ),
    "one_variant_only": ErrorText(
        Message("A comparison needs two variants"),
        Message("Choose at least two, such as unfused and fused."),
    ),
    "provider_missing": ErrorText(
        Message(
            "ONNX Runtime {version:name} as it is installed has no provider for {provider:name}, "
            "only {known:name}"
        ),
        Message(
            "Install {package:name} in place of onnxruntime (pip uninstall onnxruntime; pip "
            "install {package:name}), or leave the variant out."
        ),
    ),
    "provider_not_built": ErrorText(
        Message(
            "ONNX Runtime {version:name} as it is installed has no provider for {provider:name}, "
            "only {known:name}"
        ),
        Message(
            "Install a build of ONNX Runtime that has it in place of onnxruntime, or leave the "
            "variant out."
        ),
    ),
    "provider_not_loaded": ErrorText(
        Message(
            "ONNX Runtime could not load its provider for {provider:name}, and would have run all "
            "on the CPU"
        ),
        Message(
            "Look whether the libraries and the device that it needs are there, or leave the "
            "variant out."
        ),
    ),
    "provider_takes_nothing": ErrorText(
        Message(
            "{provider:name} takes no operator of this model, so all of it would run on the CPU"
        ),
        Message("Record the model without the variant."),
    ),
    "range_malformed": ErrorText(
        Message("--input-range of '{input:name}' is not a range"),
        Message("Give LO,HI with the lower end first."),
    ),
    "shape_given_twice": ErrorText(
        Message("The input '{input:name}' has two shapes"), Message("Give it one.")
    ),
    "shape_malformed": ErrorText(
        Message("'{given:name}' is not a shape of an input"),
        Message("Write name=1,3,224,224 with sizes from 1 up."),
    ),
    "variant_cannot_be_recorded": ErrorText(
        Message("{variant:name} cannot be recorded: {reason:name}"),
        Message(
            "Record int8 for lower precision on a CPU, or read a trace of a device that has "
            "{variant:name} kernels."
        ),
    ),
    "variant_given_twice": ErrorText(
        Message("A variant is given twice"), Message("Give each one once in --variants.")
    ),
    "variant_name_impossible": ErrorText(
        Message("'{variant:name}' cannot be the name of a variant"),
        Message("The name of a rule file has up to 80 letters, digits and . _ + -. Rename it."),
    ),
    "variant_unknown": ErrorText(
        Message("There is no variant '{variant:name}'"), Message("Known: {known:name}.")
    ),
    "variant_unknown_of_engine": ErrorText(
        Message("The engine {engine:name} has no variant '{variant:name}'"),
        Message("Known: {known:name}."),
    ),
    "zoo_backbone_unknown": ErrorText(
        Message("There is no backbone '{backbone:name}' for {model:name}"),
        Message("Known: {known:name}."),
    ),
    "zoo_model_unknown": ErrorText(
        Message("There is no built-in model '{model:name}'"), Message("Known: {known:name}.")
    ),
    "zoo_without_backbone": ErrorText(
        Message("The model '{model:name}' has no choice of backbones"),
        Message("Leave --backbone out; it is for {able:name}."),
    ),
}
