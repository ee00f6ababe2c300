"""Errors of fleets: traces of many ranks, and the store that they are read into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages.errors.error_text import ErrorText
from fusescope.analysis.messages.message import Message

FleetError = Literal[
    "experiment_in_fleet",
    "fleet_file_of_several",
    "fleet_store_damaged",
    "fleet_store_newer",
    "fleet_without_files",
    "fleet_without_ranks",
    "no_fleet_store",
    "no_such_rank",
    "rank_pattern_invalid",
    "rank_unknown",
    "readers_lost",
    "scheduler_address_wrong",
    "scheduler_elsewhere",
    "scheduler_unreachable",
    "store_being_written",
    "store_is_other_folder",
    "ranks_too_large",
    "store_unreachable",
    "store_unwritable",
    "workers_lost",
]
_INGEST = Message("Fill one with `fusescope ingest DIR --to STORE`.")
_AGAIN = Message("Ingest the files into a new store.")
FLEET: Mapping[FleetError, ErrorText] = {
    "experiment_in_fleet": ErrorText(
        Message("This is an experiment of FuseScope, not the trace of a rank"),
        Message("Open it with `fusescope compare`."),
    ),
    "fleet_file_of_several": ErrorText(
        Message("This file is not of one rank: it contains {known:name}"),
        Message("Compare two of them: `fusescope compare FILE --baseline NAME --candidate NAME`."),
    ),
    "fleet_store_damaged": ErrorText(
        Message("The file {file:name} of this store is damaged"), _AGAIN
    ),
    "fleet_store_newer": ErrorText(
        Message(
            "This store has version {version}, but this version of FuseScope reads up to {known}"
        ),
        Message("Read it with the version of FuseScope that wrote it, or ingest the files again."),
    ),
    "fleet_without_files": ErrorText(
        Message("There are no files here"),
        Message("Give the folder with the traces of the ranks."),
    ),
    "fleet_without_ranks": ErrorText(
        Message(
            "This store has no rank: of {n:count} file none could be read",
            "This store has no rank: of {n:count} files none could be read",
        ),
        Message("Ingest the files again: it says of each what is wrong with it."),
    ),
    "no_fleet_store": ErrorText(Message("This is not a store of ranks"), _INGEST),
    "no_such_rank": ErrorText(
        Message("Rank {rank:count} is not in this store"),
        Message("The ranks are listed by `fusescope fleet STORE`."),
    ),
    "rank_pattern_invalid": ErrorText(
        Message("The pattern '{pattern:name}' has no group for the rank"),
        Message("Give a regular expression with the rank in brackets, such as 'node-(\\d+)'."),
    ),
    "rank_unknown": ErrorText(
        Message("Nothing tells which rank this is: neither the trace nor the name of the file"),
        Message("Say where the name has it: --rank-pattern 'node-(\\d+)'."),
    ),
    "scheduler_address_wrong": ErrorText(
        Message("'{address:name}' is not the address of a scheduler"),
        Message("Give it as tcp://HOST:8786."),
    ),
    "scheduler_elsewhere": ErrorText(
        Message(
            "{address:name} is another machine: whoever answers there can execute code as you, on "
            "this machine"
        ),
        Message("If the scheduler and its network are yours alone, add --trust-scheduler."),
    ),
    "scheduler_unreachable": ErrorText(
        Message("No scheduler of Dask answers there"),
        Message("Start one with `dask scheduler`, and give its address: tcp://HOST:8786."),
    ),
    "store_being_written": ErrorText(
        Message("Another ingest is writing to this store"), Message("Wait until it has ended.")
    ),
    "store_is_other_folder": ErrorText(
        Message("This folder has other files and is not a store of ranks"),
        Message("Give --to an empty folder, or one that is not there yet."),
    ),
    "store_unreachable": ErrorText(
        Message("This path cannot be reached: {reason:name}"),
        Message("Check the path, and that the package of its protocol is installed."),
    ),
    "store_unwritable": ErrorText(
        Message("The store cannot be written to: {reason:name}"),
        Message("Free some space, or give --to another folder. What is in the store stays."),
    ),
    "ranks_too_large": ErrorText(
        Message(
            "The ranks do not fit into the library beside what it holds: {size:capacity} are left"
        ),
        Message("Remove something from the library, or raise FUSESCOPE_LIBRARY_SIZE."),
    ),
    "readers_lost": ErrorText(
        Message("The process that reads it was ended each time, most likely for want of memory"),
        Message(
            "Free some memory, or leave this file out, and ingest again: what is in the store "
            "stays."
        ),
    ),
    "workers_lost": ErrorText(
        Message("The scheduler lost its workers time and again"),
        Message("Give them more memory, and ingest again: what is in the store stays."),
    ),
}
