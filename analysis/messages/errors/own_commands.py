"""Errors of a command of the user's own that is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

OwnCommandsError = Literal[
    "command_and_model",
    "command_empty",
    "command_ended_by_signal",
    "command_expression",
    "command_failed",
    "command_groups",
    "command_name_impossible",
    "command_name_long",
    "command_name_secret",
    "command_names_alike",
    "command_names_other",
    "command_no_trace",
    "command_not_found",
    "command_not_found_by_shell",
    "command_not_started",
    "command_profile_values",
    "command_quotes_open",
    "command_time_elsewhere",
    "command_time_form",
    "command_time_impossible",
    "command_time_not_printed",
    "command_too_slow",
    "command_trace_form",
    "command_trace_unmatched",
    "command_trace_unread",
    "command_unit_missing",
    "command_unit_of_wall",
    "command_unit_unknown",
    "command_variants_many",
    "nothing_to_record",
    "option_of_commands",
    "option_of_models",
]
_FIX_AND_RETRY = Message("Run it by hand with these settings until it ends with exit code 0.")
OWN_COMMANDS: Mapping[OwnCommandsError, ErrorText] = {
    "command_and_model": ErrorText(
        Message("Both a model and --command were given"), Message("Leave one of them out.")
    ),
    "command_empty": ErrorText(
        Message("The command is empty"),
        Message('Give the program and its arguments, such as "python serve_bench.py".'),
    ),
    "command_ended_by_signal": ErrorText(
        Message("'{variant:name}' was ended by signal {signal:count}: {lines:name}"),
        _FIX_AND_RETRY,
    ),
    "command_expression": ErrorText(
        Message("'{time:name}' is not a regular expression: {reason:name}"),
        Message("Correct it, or give the text around the number with {{value}} in its place."),
    ),
    "command_failed": ErrorText(
        Message("'{variant:name}' ended with exit code {exit_code:count}: {lines:name}"),
        _FIX_AND_RETRY,
    ),
    "command_groups": ErrorText(
        Message("'{time:name}' has {n:count} groups, not one"),
        Message("Put one pair of brackets around the number; other pairs begin with ?:."),
    ),
    "command_name_impossible": ErrorText(
        Message("'{name:name}' cannot be the name of a variant"),
        Message("Give other names with --names: without '/', '\\' and signs that are not shown."),
    ),
    "command_name_long": ErrorText(
        Message("'{name:name}' is too long for the name of a variant"),
        Message("Give names of at most {limit:count} characters with --names."),
    ),
    "command_name_secret": ErrorText(
        Message("The name of variant {number:count} has the value of a secret in it"),
        Message("Give other names with --names: they stand in the file, values of secrets do not."),
    ),
    "command_names_alike": ErrorText(
        Message("Two variants have the same name, up to capital letters"),
        Message("Leave the value out that is given twice, or give other names with --names."),
    ),
    "command_names_other": ErrorText(
        Message(
            "--names has {n:count} name for {variants:count} variants",
            "--names has {n:count} names for {variants:count} variants",
        ),
        Message("Give one for each combination, the first option varying slowest."),
    ),
    "command_no_trace": ErrorText(
        Message("'{variant:name}' wrote no trace"),
        Message(
            "Have it write one into the folder that the variable {variable:name} names, or say "
            "with --trace where it writes it."
        ),
    ),
    "command_not_found": ErrorText(
        Message("There is no program '{program:name}'"),
        Message("Check its spelling, or give its path."),
    ),
    "command_not_found_by_shell": ErrorText(
        Message("The shell did not find the program: {lines:name}"),
        Message("Check its spelling, or give its path."),
    ),
    "command_not_started": ErrorText(
        Message("'{program:name}' cannot be started: {reason:name}"),
        Message("Give a program that may be run, such as the python in front of a script."),
    ),
    "command_profile_values": ErrorText(
        Message("--profile-env '{given:name}' has several values"),
        Message("Give one; several values of one variable belong to --env."),
    ),
    "command_quotes_open": ErrorText(
        Message("{option} '{given:name}' has a quote that is not closed"),
        Message("Close it, or put a backslash in front of it."),
    ),
    "command_time_elsewhere": ErrorText(
        Message("'{time:name}' leads out of the folder of a run"),
        Message(
            "Have each run write the file into the folder that the variable {variable:name} names: "
            "elsewhere one of an earlier run could be read."
        ),
    ),
    "command_time_form": ErrorText(
        Message("'{time:name}' does not say where the time stands"),
        Message(
            "Give wall, the text around the number with {{value}} in its place, re: and a regular "
            "expression, or json: and keys with dots between them."
        ),
    ),
    "command_time_impossible": ErrorText(
        Message(
            "'{variant:name}' printed a number that is no time, by '{time:name}': {lines:name}"
        ),
        Message("Choose another place with --time: the number must be above 0."),
    ),
    "command_time_not_printed": ErrorText(
        Message("'{variant:name}' printed nothing like '{time:name}', but last: {lines:name}"),
        Message("Correct --time, or leave it out: then the wall time of a run counts."),
    ),
    "command_too_slow": ErrorText(
        Message("The command took longer than {seconds:number} s, and was ended"),
        Message("Raise --timeout, or have it do less."),
    ),
    "command_trace_form": ErrorText(
        Message("--trace '{pattern:name}' leads out of the folder of a run"),
        Message("Begin with './' for files in your working folder, or give an absolute path."),
    ),
    "command_trace_unmatched": ErrorText(
        Message("'{variant:name}' wrote no file like '{pattern:name}', only: {files:name}"),
        Message(
            "Correct --trace: it is relative to the folder that {variable:name} names; begin with "
            "'./' for files in your working folder."
        ),
    ),
    "command_trace_unread": ErrorText(
        Message("The trace of '{variant:name}' cannot be read: {reason:name}"),
        Message("Let --trace name the files of one recording in a format of docs/formats.md."),
    ),
    "command_unit_missing": ErrorText(
        Message("'{time:name}' does not say in which unit the number is"),
        Message("Add it with --unit: ms, s, tok/s, ms/step and so on."),
    ),
    "command_unit_of_wall": ErrorText(
        Message("--unit is that of a printed time, and --time says none"),
        Message("Say with --time where the time stands, or leave --unit out."),
    ),
    "command_unit_unknown": ErrorText(
        Message("'{unit:name}' is neither a time nor a rate"),
        Message("Give ns, us, ms, s, min or h, a rate such as tok/s, or a time such as ms/step."),
    ),
    "command_variants_many": ErrorText(
        Message("The values of --env and --arg make {n:count} variants"),
        Message("Give fewer: {limit:count} at most."),
    ),
    "nothing_to_record": ErrorText(
        Message("Neither a model nor a command was given"),
        Message("Give a model (fusescope zoo lists those that are built in), or --command."),
    ),
    "option_of_commands": ErrorText(
        Message("{option} belongs to --command"), Message("Add --command, or leave it out.")
    ),
    "option_of_models": ErrorText(
        Message("{option} belongs to a model, and a command has none"),
        Message(
            "Leave it out, or give the command an option or variable of its own for it: in "
            "--command, or with --arg or --env where variants differ in it."
        ),
    ),
}
