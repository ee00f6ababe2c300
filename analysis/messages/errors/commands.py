"""Errors of the command line: options, files that verbs write, packages, memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

CommandsError = Literal[
    "ascend_tables_unwritable",
    "engine_not_tried",
    "language_missing",
    "language_unknown",
    "memory_exhausted",
    "memory_limit_impossible",
    "memory_limit_too_low",
    "model_instead_of_recording",
    "model_not_here",
    "model_option_without_experiment",
    "not_a_folder",
    "option_malformed",
    "option_needs_other",
    "option_needs_recipe",
    "option_of_recordings",
    "options_exclude",
    "options_name_one_file",
    "output_folder_missing",
    "output_is_a_folder",
    "output_is_an_input",
    "output_is_a_zip",
    "package_missing",
    "profile_instead_of_experiment",
    "recording_has_no_model",
    "report_unwritable",
    "runs_of_several_files",
    "sweep_needs_folder",
    "sweep_too_large",
    "table_unwritable",
    "tables_unwritable",
    "try_interrupted",
    "work_not_told",
    "work_unknown",
]
_OTHER_PLACE = Message("Choose another place with {option}.")
COMMANDS: Mapping[CommandsError, ErrorText] = {
    "ascend_tables_unwritable": ErrorText(
        Message("The Ascend tables cannot be written: {reason:name}"),
        _OTHER_PLACE,
    ),
    "engine_not_tried": ErrorText(
        Message(
            "What findings ask for can be tried in recordings of ONNX Runtime, and this one is of "
            "{engine:name}"
        ),
        Message("Leave --try out to read the findings."),
    ),
    "language_missing": ErrorText(
        Message("--lang needs the code of a language"), Message("There are: {known:name}.")
    ),
    "language_unknown": ErrorText(
        Message("FuseScope does not speak the language '{language:name}'"),
        Message("It speaks: {known:name}."),
    ),
    "memory_exhausted": ErrorText(
        Message("There is not enough memory for this"),
        Message("Raise the limit (ulimit -v), or close other programs."),
    ),
    "memory_limit_impossible": ErrorText(
        Message("--memory-limit cannot be {given}"), Message("Give gigabytes above 0.")
    ),
    "memory_limit_too_low": ErrorText(
        Message("Memory is limited to {limit:bytes} here; FuseScope needs at least {needed:bytes}"),
        Message("Raise the limit (ulimit -v), or close other programs."),
    ),
    "model_instead_of_recording": ErrorText(
        Message("This is a model, not a recording of one"),
        Message(
            "Record it with: {record:name}. To see what could be fused in it, run: {explain:name}."
        ),
    ),
    "model_not_here": ErrorText(
        Message("A recording does not contain its model, and this one's is not built in"),
        Message(
            "Give the file that was recorded: fusescope advise {given:name} --try N "
            "--model MODEL.onnx."
        ),
    ),
    "model_option_without_experiment": ErrorText(
        Message("--model needs an experiment, and this is a model"),
        Message("Leave --model out: this model is recorded first."),
    ),
    "not_a_folder": ErrorText(
        Message("This is not a folder"), Message("Give a folder to --folder.")
    ),
    "option_malformed": ErrorText(
        Message("'{given:name}' is not a value of {option}"), Message("Write {form}.")
    ),
    "option_needs_other": ErrorText(
        Message("{option} needs {needed}"), Message("Add {needed}, or leave {option} out.")
    ),
    "option_needs_recipe": ErrorText(
        Message("{option} needs the name of a recipe"),
        Message("Run fusescope recipe for the list."),
    ),
    "option_of_recordings": ErrorText(
        Message("{option} is an option for recording"),
        Message("With --from, nothing is recorded."),
    ),
    "options_exclude": ErrorText(
        Message("{first} and {second} do not go together"), Message("Leave one of them out.")
    ),
    "options_name_one_file": ErrorText(
        Message("{first} and {second} name the same file"),
        Message("Give each a different name."),
    ),
    "output_folder_missing": ErrorText(
        Message("{option} cannot be written there"), Message("Name a file in an existing folder.")
    ),
    "output_is_a_folder": ErrorText(
        Message("This is a folder"), Message("Give {option} the name of a file.")
    ),
    "output_is_an_input": ErrorText(
        Message("{option} would overwrite a file that is read"),
        Message("Give it another name."),
    ),
    "output_is_a_zip": ErrorText(
        Message("{option} would overwrite a zip file, perhaps a recording"),
        Message("Give it another name, or remove that file first."),
    ),
    "package_missing": ErrorText(
        Message("The package '{package:name}' is not installed"),
        Message("Run: pip install 'fusescope[{extra}]'."),
    ),
    "profile_instead_of_experiment": ErrorText(
        Message("This is a profile, not an experiment"),
        Message("Give a file that fusescope recipe or fusescope collect recorded."),
    ),
    "recording_has_no_model": ErrorText(
        Message("Only what FuseScope recorded can be tried, and this is a file of a profiler"),
        Message("Name the model in its place: fusescope advise MODEL.onnx --try N."),
    ),
    "report_unwritable": ErrorText(
        Message("The report cannot be written: {reason:name}"), _OTHER_PLACE
    ),
    "runs_of_several_files": ErrorText(
        Message("{option} is for a side of one file"),
        Message(
            "Leave it out: of several files each is one sample, by its whole time or by the runs "
            "that it marks."
        ),
    ),
    "sweep_needs_folder": ErrorText(
        Message("Several recordings need a folder, and this is a file"),
        Message("Give --out the name of a folder."),
    ),
    "sweep_too_large": ErrorText(
        Message("{n:count} combinations are too many to record: the limit is {limit:count}"),
        Message("Give fewer batch sizes or numbers of threads."),
    ),
    "table_unwritable": ErrorText(
        Message("The table cannot be written: {reason:name}"), _OTHER_PLACE
    ),
    "tables_unwritable": ErrorText(
        Message("The tables cannot be written: {reason:name}"),
        _OTHER_PLACE,
    ),
    "try_interrupted": ErrorText(
        Message("The recording was interrupted, so nothing was tried"),
        Message(
            "Its complete blocks are kept. Try with them: fusescope advise {given:name} --try N."
        ),
    ),
    "work_not_told": ErrorText(
        Message("The files have no kind of work in common that they name"),
        Message("Leave --work out."),
    ),
    "work_unknown": ErrorText(
        Message("There is no kind of work {work:name} in these files"),
        Message("There are: {known:name}."),
    ),
}
