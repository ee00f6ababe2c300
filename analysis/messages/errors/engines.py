"""Errors of the engine, of its process, and of libraries that run in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

EnginesError = Literal[
    "engine_ended",
    "engine_ended_saying",
    "engine_killed",
    "engine_killed_by_others",
    "engine_killed_saying",
    "engine_out_of_memory",
    "engine_over_limit",
    "engine_refused",
    "engine_too_slow",
    "kernel_missing",
    "library_changed",
    "library_cut_short",
    "library_empty",
    "library_ended",
    "library_is_a_folder",
    "library_killed",
    "library_missing",
    "library_needs",
    "library_needs_library",
    "library_newer",
    "library_noexec",
    "library_not_regular",
    "library_not_shared",
    "library_operators_differ",
    "library_other_processor",
    "library_over_memory",
    "library_path_not_text",
    "library_refused",
    "library_unreadable",
    "library_uses",
    "library_without_entry",
    "operator_missing",
    "model_format_too_new",
    "opset_too_new",
]
_BY_ITSELF = Message("Check that the model runs in its engine by itself, without FuseScope.")
ENGINES: Mapping[EnginesError, ErrorText] = {
    "engine_ended": ErrorText(
        Message("The engine's process ended with status {status:name}"),
        _BY_ITSELF,
    ),
    "engine_ended_saying": ErrorText(
        Message("The engine's process ended with status {status:name}: {reason:name}"),
        _BY_ITSELF,
    ),
    "engine_killed": ErrorText(
        Message("The engine's process was ended by signal {signal:name}"),
        _BY_ITSELF,
    ),
    "engine_killed_by_others": ErrorText(
        Message("The engine's process was ended from outside (SIGKILL)"),
        Message(
            "If the system did that because memory ran out, free some, or use a smaller batch or "
            "input; else record again."
        ),
    ),
    "engine_killed_saying": ErrorText(
        Message("The engine's process was ended by signal {signal:name}: {reason:name}"),
        _BY_ITSELF,
    ),
    "engine_out_of_memory": ErrorText(
        Message("The model needs more memory than there is"),
        Message("Use a smaller batch or input, or raise the limit with --memory-limit."),
    ),
    "engine_over_limit": ErrorText(
        Message("The model needs more memory than the limit of {limit:capacity}"),
        Message("Use a smaller batch or input, or raise the limit with --memory-limit."),
    ),
    "engine_refused": ErrorText(
        Message("The engine refused the model: {reason:name}"),
        _BY_ITSELF,
    ),
    "engine_too_slow": ErrorText(
        Message("The engine did not finish within {seconds:number} s and was ended"),
        Message("A loop in the model may never end. For a slow model, raise --timeout."),
    ),
    "model_format_too_new": ErrorText(
        Message(
            "The model's format (IR version {format:count}) is too new for this ONNX Runtime, "
            "which knows those up to {known:count}"
        ),
        Message("Use a newer release, or export the model with an older one of onnx."),
    ),
    "opset_too_new": ErrorText(
        Message(
            "The model needs operator set {opset:count}, and this ONNX Runtime knows those up to "
            "{known:count}"
        ),
        Message("Use a newer release, or export the model with an older operator set."),
    ),
    "kernel_missing": ErrorText(
        Message("The engine has no CPU kernel for {operator:name} of opset {opset:name}"),
        Message("Convert the model to another data type or opset."),
    ),
    "library_changed": ErrorText(
        Message("The custom-op library was changed while it was recorded"),
        Message("Nothing was written. Record again, and build into another file meanwhile."),
    ),
    "library_cut_short": ErrorText(
        Message("The custom-op library is cut short, or is not a shared library"),
        Message("Give the file that the compiler made with -shared, or copy it again."),
    ),
    "library_empty": ErrorText(
        Message("The custom-op library is empty"), Message("Build or copy it again.")
    ),
    "library_ended": ErrorText(
        Message(
            "The engine's process, with the custom-op library {library:name} in it, ended with "
            "status {status:name}"
        ),
        Message("Load and run the library in ONNX Runtime by itself, under a debugger."),
    ),
    "library_is_a_folder": ErrorText(
        Message("The custom-op library is a folder"), Message("Give the library's file.")
    ),
    "library_killed": ErrorText(
        Message(
            "The engine's process, with the custom-op library {library:name} in it, was ended by "
            "signal {signal:name}"
        ),
        Message("Load and run the library in ONNX Runtime by itself, under a debugger."),
    ),
    "library_missing": ErrorText(
        Message("The custom-op library does not exist"), Message("Check its path.")
    ),
    "library_needs": ErrorText(
        Message("The custom-op library needs {name:name}, which this system does not have"),
        Message("Build it on this machine."),
    ),
    "library_needs_library": ErrorText(
        Message(
            "The custom-op library needs the library {name:name}, which the system does not find"
        ),
        Message("Install it, or add its folder to LD_LIBRARY_PATH."),
    ),
    "library_newer": ErrorText(
        Message(
            "The custom-op library is for a newer engine, with an interface of version "
            "{version:name}"
        ),
        Message("Build it for the engine that is installed, or install the engine that it is for."),
    ),
    "library_noexec": ErrorText(
        Message("The system does not run code of the custom-op library"),
        Message("Put it into a folder that is not mounted noexec, and let your user read it."),
    ),
    "library_not_regular": ErrorText(
        Message("The custom-op library is not a regular file"), Message("Give the library's file.")
    ),
    "library_not_shared": ErrorText(
        Message("The custom-op library is not a shared library"),
        Message("Give the file that the compiler made with -shared."),
    ),
    "library_operators_differ": ErrorText(
        Message(
            "The custom-op library has none of the operators that the model defines: "
            "{operators:name}"
        ),
        Message("Give the operator the domain, name and inputs of the model's function."),
    ),
    "library_other_processor": ErrorText(
        Message("The custom-op library was built for another processor"),
        Message("Build it on this machine, or for it."),
    ),
    "library_over_memory": ErrorText(
        Message("The custom-op library needs more memory than the limit"),
        Message("Raise the limit with --memory-limit."),
    ),
    "library_path_not_text": ErrorText(
        Message("The path of the custom-op library is not UTF-8 text"), Message("Rename it.")
    ),
    "library_refused": ErrorText(
        Message("The custom-op library was refused: {reason:name}"),
        Message("Build it for ONNX Runtime {version:name}, which runs here."),
    ),
    "library_unreadable": ErrorText(
        Message("The custom-op library cannot be read: {reason:name}"),
        Message("Check its path and who may read it."),
    ),
    "library_uses": ErrorText(
        Message(
            "The custom-op library uses {name:name}, which no library that it is linked with has"
        ),
        Message("Link the library that has it, or define it."),
    ),
    "library_without_entry": ErrorText(
        Message(
            "The custom-op library does not have the function RegisterCustomOps, which the engine "
            "calls"
        ),
        Message('Export it, with C linkage (extern "C" in C++). docs/custom-op.md has an example.'),
    ),
    "operator_missing": ErrorText(
        Message("The engine does not have the operator {operator:name}"),
        Message("On the command line, --custom-op-library PATH registers a library that has it."),
    ),
}
