"""Sentences for what is damaged or missing in a file, and what was repaired or left out."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.messages import Message
from fusescope.analysis.trace import Diagnostic, DiagnosticCode
from fusescope.analysis.wording.diagnostics.text import NoteText, NoteTexts, told


def _unclosed_quotes(note: Diagnostic) -> NoteText:
    return _QUOTES_LEFT_OUT if note.values.get("left_out") else _QUOTES


def _ambiguous_commas(note: Diagnostic) -> NoteText:
    return _DECIMAL_COMMAS if note.values.get("decimal") else _GROUPING_COMMAS


def _durations_impossible(note: Diagnostic) -> NoteText:
    return _CUT_AT_NEXT if note.values.get("cut_ns") else _TOO_LONG


def _kernels_before_launch(note: Diagnostic) -> NoteText:
    return _CLOCKS_MOVED if note.values.get("moved") else _CLOCKS_DIFFER


def _cut_short(note: Diagnostic) -> NoteText:
    return _CUT if note.values.get("bytes_lost") else _CUT_BETWEEN


_CUT = told(
    Message("The file is cut off before its end."),
    Message("Its last {bytes_lost:bytes} were left out, because they are not a complete entry."),
)
_CUT_BETWEEN = told(Message("The file is cut off before its end."))
_QUOTES = told(
    Message(
        "{n:count} row has a quotation mark that is not closed.",
        "{n:count} rows have a quotation mark that is not closed.",
    ),
    Message("What follows was read row by row."),
)
_QUOTES_LEFT_OUT = told(
    _QUOTES.fact,
    Message("What follows was read row by row, and {left_out:rows} could not be read at all."),
)
_DECIMAL_COMMAS = told(
    Message(
        "{n:count} number has a comma that may group digits or be the decimal sign. It was read "
        "as the decimal sign.",
        "{n:count} numbers have a comma that may group digits or be the decimal sign. It was read "
        "as the decimal sign.",
    ),
    Message("If the numbers are a thousand times too small, save the table with decimal points."),
)
_GROUPING_COMMAS = told(
    Message(
        "{n:count} number has a comma that may group digits or be the decimal sign. It was read "
        "as grouping digits.",
        "{n:count} numbers have a comma that may group digits or be the decimal sign. It was read "
        "as grouping digits.",
    ),
    Message("If the numbers are a thousand times too large, save the table with decimal points."),
)
_TOO_LONG = told(
    Message(
        "{n:count} execution ends after the next one on its stream began, which cannot be.",
        "{n:count} executions end after the next one on their stream began, which cannot be.",
    ),
    Message("The sums that contain such an execution may be far too large."),
)
_CUT_AT_NEXT = told(
    _TOO_LONG.fact,
    Message(
        "They were cut there: {cut_ns:duration} less in all. Some profilers write such times "
        "after the device has stalled."
    ),
)
_CLOCKS_DIFFER = told(
    Message(
        "{n:count} execution begins before the call that launched it, by {by_ns:duration}, which "
        "cannot be: the clocks of host and device disagree.",
        "{n:count} executions begin before the calls that launched them, by up to "
        "{by_ns:duration}, which cannot be: the clocks of host and device disagree.",
    ),
    Message("Idle time and what lies in which run are uncertain by so much."),
)
_CLOCKS_MOVED = told(
    _CLOCKS_DIFFER.fact,
    Message(
        "Times of the device were moved by {by_ns:duration}, the least that makes up for it. "
        "Idle time at the beginning and the end of runs may still be wrong."
    ),
)

DAMAGED: Mapping[DiagnosticCode, NoteTexts] = {
    "lanes_cover": told(
        Message(
            "{n:count} lane is busy whenever the others of its process are, and hardly ever else.",
            "{n:count} lanes are busy whenever the others of their process are, and hardly ever "
            "else.",
        ),
        Message("If it sums up the others, its time counts twice in all totals."),
    ),
    "lanes_repeat": told(
        Message(
            "{n:count} event of lanes that repeat or sum up other lanes of the same device was "
            "left out.",
            "{n:count} events of lanes that repeat or sum up other lanes of the same device were "
            "left out.",
        )
    ),
    "host_events": told(
        Message(
            "{n:count} event of the host was left out: only operators of the device count.",
            "{n:count} events of the host were left out: only operators of the device count.",
        )
    ),
    "bad_unicode": told(
        Message(
            "{n:count} invalid character was replaced.",
            "{n:count} invalid characters were replaced.",
        )
    ),
    "bad_event": told(
        Message(
            "{n:count} malformed event was left out.", "{n:count} malformed events were left out."
        )
    ),
    "bad_time": told(
        Message(
            "{n:count} event without a valid time was left out.",
            "{n:count} events without a valid time were left out.",
        )
    ),
    "durations_impossible": _durations_impossible,
    "kernels_before_launch": _kernels_before_launch,
    "short_rows": told(
        Message(
            "{n:count} row has fewer cells than the header. The missing cells are empty.",
            "{n:count} rows have fewer cells than the header. The missing cells are empty.",
        )
    ),
    "long_rows": told(
        Message(
            "{n:count} row has more cells than the header. The extra cells were left out.",
            "{n:count} rows have more cells than the header. The extra cells were left out.",
        )
    ),
    "names_with_commas": told(
        Message(
            "{n:count} row has a name with commas that is not in quotation marks.",
            "{n:count} rows have a name with commas that is not in quotation marks.",
        ),
        Message("The parts of such a name were joined."),
    ),
    "unclosed_quotes": _unclosed_quotes,
    "heads_again": told(
        Message(
            "The header is repeated once, so several tables were joined into this file.",
            "The header is repeated {n:count} times, so several tables were joined into this file.",
        ),
        Message("Every row counts, and exact copies of a row count once."),
    ),
    "rows_twice": told(
        Message(
            "{n:count} duplicate row with the same name, time and place was left out.",
            "{n:count} duplicate rows with the same name, time and place were left out.",
        ),
        Message("The file may have been joined or exported twice."),
    ),
    "samples_twice": told(
        Message(
            "{n:count} duplicate run time with the same start and length was left out.",
            "{n:count} duplicate run times with the same start and length were left out.",
        ),
        Message("Files were joined or given twice."),
    ),
    "runs_twice": told(
        Message(
            "{n:count} duplicate run with the same times of all layers was left out.",
            "{n:count} duplicate runs with the same times of all layers were left out.",
        ),
        Message("The file may have been joined with a copy of itself."),
    ),
    "log_read": told(
        Message(
            "{n:count} page was read from the write-ahead log that belongs to the database.",
            "{n:count} pages were read from the write-ahead log that belongs to the database.",
        )
    ),
    "log_unreadable": told(
        Message("The write-ahead log is damaged or belongs to another database."),
        Message("The data that was written last is missing."),
    ),
    "database_half_written": told(
        Message("A journal file shows that writing the database was interrupted."),
        Message("Open the database once with sqlite3, or record it again."),
    ),
    "ambiguous_commas": _ambiguous_commas,
    "companion_unreadable": told(
        Message(
            "{n:count} companion file could not be read.",
            "{n:count} companion files could not be read.",
        )
    ),
    "companion_unmatched": told(
        Message(
            "{n:count} row of the companion files was left out, because it does not belong to any "
            "operator.",
            "{n:count} rows of the companion files were left out, because they do not belong to "
            "any operator.",
        )
    ),
    "companion_lacks": told(
        Message(
            "{n:count} operator is missing from the companion file.",
            "{n:count} operators are missing from the companion file.",
        ),
        Message("Only names and times are known for what is missing."),
    ),
    "neighbours_left": told(
        Message(
            "{n:count} more file in the folder was not read, so part of this recording may be "
            "missing.",
            "{n:count} more files in the folder were not read, so part of this recording may be "
            "missing.",
        ),
        Message("Put this recording into its own folder."),
    ),
    "contradiction": told(Message("Values of the file contradict each other in {n:rows}.")),
    "long_text": told(
        Message(
            "{n:count} text was shortened, because it is too long to be shown in full.",
            "{n:count} texts were shortened, because they are too long to be shown in full.",
        )
    ),
    "gzip_cut_short": told(
        Message("The gzip file ends too early."), Message("Everything up to its end was read.")
    ),
    "zstd_cut_short": told(
        Message("The zstd file ends too early."), Message("Everything up to its end was read.")
    ),
    "gzip_junk": told(
        Message(
            "{n:count} byte after the end of the gzip data was ignored.",
            "{n:count} bytes after the end of the gzip data were ignored.",
        )
    ),
    "overlapping_calls": told(
        Message(
            "{n:count} execution overlaps the previous one on the same stream.",
            "{n:count} executions overlap the previous one on the same stream.",
        )
    ),
    "rounded_starts": told(
        Message(
            "{n:count} start time was left out, because a spreadsheet program rounded it.",
            "{n:count} start times were left out, because a spreadsheet program rounded them.",
        ),
        Message("Give the original file of the profiler."),
    ),
    "json_mended": told(
        Message(
            "{n:count} place with invalid JSON was repaired: bare inf, nan or Infinity, single "
            "backslashes, control characters or extra commas.",
            "{n:count} places with invalid JSON were repaired: bare inf, nan or Infinity, single "
            "backslashes, control characters or extra commas.",
        )
    ),
    "trailing_bytes": told(
        Message(
            "{n:count} byte after the end of the trace was ignored.",
            "{n:count} bytes after the end of the trace were ignored.",
        )
    ),
    "missing_bracket": told(
        Message("The file ends without its closing bracket."), Message("Every event was read.")
    ),
    "cut_short": _cut_short,
    "open_last_line": told(
        Message("The last line of the file has no line end."),
        Message("If the file was cut off there, its last value and further lines are missing."),
    ),
    "whole_runs_kept": told(
        Message(
            "Only {n:count} run that is complete in the file was read.",
            "Only the {n:count} runs that are complete in the file were read.",
        ),
        Message("What the file has of a later one was left out."),
    ),
    "rows_lost": told(
        Message(
            "{n:count} of {of:count} records ({share:percent}) was lost: it could not "
            "be read, or has no valid time.",
            "{n:count} of {of:count} records ({share:percent}) were lost: they could "
            "not be read, or have no valid time.",
        ),
        Message("Every figure is of the others. Record again for figures of the whole."),
    ),
    "unpaired_events": told(
        Message(
            "{n:count} event with only a begin or only an end was left out.",
            "{n:count} events with only a begin or only an end were left out.",
        )
    ),
    "notes_unknown": told(
        Message(
            "{n:count} note in this report is of another version of FuseScope and is not shown.",
            "{n:count} notes in this report are of another version of FuseScope and are not shown.",
        )
    ),
}
