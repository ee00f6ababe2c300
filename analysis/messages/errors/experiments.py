"""Errors of experiments, and of the choice of their variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import COPY_AGAIN, ErrorText
from fusescope.analysis.messages.message import Message

ExperimentsError = Literal[
    "experiment_contradiction", "experiment_file_damaged", "experiment_file_missing",
    "experiment_version", "folder_without_experiments", "graph_cycle", "no_such_unit",
    "no_such_variant", "not_an_experiment", "one_side", "profile_has_no_variants",
    "scaling_of_one_setting",
    "scaling_of_several_models", "too_few_variants", "too_many_experiments", "too_many_variants",
    "variant_unprofiled", "experiment_among_files", "file_on_both_sides", "file_twice",
    "formats_on_one_side", "models_on_one_side", "profilers_on_one_side", "side_without_files",
]  # fmt: skip
EXPERIMENTS: Mapping[ExperimentsError, ErrorText] = {
    "not_an_experiment": ErrorText(
        Message("This zip does not contain {file:name}, so it is not an experiment"),
        Message("Give a file made by `fusescope collect`."),
    ),
    "experiment_file_missing": ErrorText(
        Message("The file '{file:name}' is missing in this experiment"), COPY_AGAIN
    ),
    "experiment_file_damaged": ErrorText(
        Message("This file of an experiment is damaged: {reason:name}"),
        Message("Copy or record the experiment again."),
    ),
    "experiment_contradiction": ErrorText(
        Message("This experiment contradicts itself: {reason:name}"), COPY_AGAIN
    ),
    "experiment_version": ErrorText(
        Message(
            "This experiment has schema version {version}, but this version of FuseScope reads "
            "{known}"
        ),
        Message("Open it with the version of FuseScope that recorded it, or record it again."),
    ),
    "variant_unprofiled": ErrorText(
        Message("Variant '{variant:name}' does not have a profile"), COPY_AGAIN
    ),
    "no_such_variant": ErrorText(
        Message("This experiment does not have a variant '{variant:name}'"),
        Message("Its variants are: {known:name}."),
    ),
    "no_such_unit": ErrorText(
        Message("This file does not contain a process or device '{unit:name}'"),
        Message("It contains: {known:name}."),
    ),
    "one_side": ErrorText(
        Message("A profile is only one side of a comparison"),
        Message("Give a second file to compare it with."),
    ),
    "profile_has_no_variants": ErrorText(
        Message("A profile does not have variants"),
        Message("Leave out the name of a variant."),
    ),
    "scaling_of_one_setting": ErrorText(
        Message("All of these were recorded with one batch size and one number of threads"),
        Message("Record others: fusescope collect MODEL --batch 1,4,16 --threads 1,2."),
    ),
    "scaling_of_several_models": ErrorText(
        Message("These are recordings of several models: {models:name}"),
        Message("Give those of one model."),
    ),
    "folder_without_experiments": ErrorText(
        Message("This folder does not contain an experiment"),
        Message("Give a folder of files made by `fusescope collect`."),
    ),
    "too_many_experiments": ErrorText(
        Message("{n:count} experiments are too many: the limit is {limit:count}"),
        Message("Give fewer."),
    ),
    "too_few_variants": ErrorText(
        Message("A comparison of several needs at least two variants or files"),
        Message("Name two or more."),
    ),
    "too_many_variants": ErrorText(
        Message(
            "{n:count} variants or files are too many to compare at once: the limit is "
            "{limit:count}"
        ),
        Message("Name fewer."),
    ),
    "experiment_among_files": ErrorText(
        Message("An experiment holds its own blocks and cannot be one of several files"),
        Message("Compare it alone, or leave it out."),
    ),
    "file_on_both_sides": ErrorText(
        Message("This file is on both sides"), Message("Leave it out on one of them.")
    ),
    "file_twice": ErrorText(
        Message("This file is the same as {other:name}, and one recording is one sample"),
        Message("Give each file once."),
    ),
    "formats_on_one_side": ErrorText(
        Message("The files of one side have different formats: this one and {other:name}"),
        Message("Give files that the profiler wrote in the same way."),
    ),
    "profilers_on_one_side": ErrorText(
        Message(
            "The files of one side are from different profilers: {tool:name} here, "
            "{other_tool:name} in {other:name}"
        ),
        Message("Give files of one profiler."),
    ),
    "models_on_one_side": ErrorText(
        Message("The files of one side are of different models: this one and {other:name}"),
        Message("Give recordings of one graph on each side."),
    ),
    "side_without_files": ErrorText(
        Message("No recording was given for this side"),
        Message("Give the files of both sides: `--baseline a/*.json --candidate b/*.json`."),
    ),
    "graph_cycle": ErrorText(
        Message("The graph has a cycle through '{node:name}'"), Message("Record it again.")
    ),
}
