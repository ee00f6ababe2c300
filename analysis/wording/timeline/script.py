"""What the timeline's script says: texts that it fills in by itself, where it draws."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.messages import language, mark

# A {name} is filled in by the script; what stands in [ ] is a key of the keyboard.
WORDS: Mapping[str, str] = {
    "aligned": mark("aligned by group"),
    "aligned_note": mark(
        "Every group starts at the same place on both sides, so a gap is how much shorter or "
        "longer it takes on one of them in the two runs shown, as profiled. Groups are in the "
        "order of the baseline; time between operators is left out."
    ),
    "and_next": mark("{start}, {next}"),
    "axes_linked": mark("All sides show the same time: {range}."),
    "axis_of": mark("Every side has its own time. Keys now move {range}."),
    "bin": mark("{count} executions within {width}"),
    "bin_busy": mark("something ran for"),
    "bin_class": mark("drawn together"),
    "calls": mark("{time} in {count} calls"),
    "classes": mark("Operator classes"),
    "detail_exact": mark("Every execution in view is drawn: {count}."),
    "detail_more": mark("Zoom in to see them one by one."),
    "detail_most": mark("This page is exact down to {width}: it does not hold more detail."),
    "detail_together": mark(
        "In view: {alone} executions one by one, and {together} shorter than {width} together, as "
        "high as the part of each {width} in which they ran."
    ),
    "duration": mark("duration"),
    "flow": mark("fusion flow"),
    "flow_note": mark(
        "A ribbon leads from a group of operators to what replaced it; its ends are as long as "
        "these took in the two runs shown, as profiled. The change beside the pointer is the mean "
        "of all runs."
    ),
    "fold": mark("Fold the lanes with almost no time"),
    "from_to": mark("{start} to {end}"),
    "change": mark("change"),
    "change_of_group": mark("change of its group"),
    "change_of_mean": mark("{change}, mean of all runs"),
    "group": mark("group"),
    "help": mark("Keys and pointer"),
    "help_across": mark("go to the lane above or below"),
    "help_all": mark("show all of the time"),
    "help_clear": mark("clear the selection"),
    "help_close": mark("Close"),
    "help_double": mark("double click"),
    "help_drag": mark("drag"),
    "help_drag_map": mark("drag in the strip below the axis"),
    "help_fit": mark("fit what is selected, else all of the time"),
    "help_help": mark("show this list"),
    "help_link": mark("show the same time on all sides, or let each have its own"),
    "help_map": mark("move the part that is shown"),
    "help_pan": mark("pan"),
    "help_search": mark("search for an operator"),
    "help_select": mark("select the operator"),
    "help_shift_drag": mark("drag with Shift, or along the axis"),
    "help_side": mark("let the keys move the next side, where each has its own time"),
    "help_step": mark("step through executions"),
    "help_sum": mark("sum up a stretch of time, on all sides"),
    "help_wheel": mark("wheel, once the timeline was clicked, or with Ctrl"),
    "help_zoom": mark("zoom at the pointer"),
    "hint": mark(
        "Click, then scroll to zoom, or hold [Ctrl] / [⌘] and scroll; drag to pan, double-click "
        "to reset. Drag along the axis, or with [Shift], to sum up a stretch of time. [←] [→] pan, "
        "[+] [−] zoom, [↑] [↓] step through operators, [Enter] select, [F] zoom to it, [X] sum up "
        "what is shown, [0] reset, [/] search, [?] all keys."
    ),
    "host_all": mark("all of this cause"),
    "host_allocation": mark("allocating or freeing memory"),
    "host_bin": mark("{count} idle intervals within {width}"),
    "host_bin_idle": mark("idle for"),
    "host_colours": mark("While the device is idle, the host is:"),
    "host_colours_of_operators": mark("While no operator runs, the host is:"),
    "host_compilation": mark("compiling or loading code"),
    "host_copy_waits": mark("waiting for a copy"),
    "host_data_loading": mark("loading data"),
    "host_fold": mark("Fold the host lane"),
    "host_garbage_collection": mark("collecting garbage"),
    "host_idle": mark(
        "the device is idle for {time} ({share} of the time drawn), in which the host is:"
    ),
    "host_in_all": mark("{time} ({share} of the idle time); idle intervals: {count}"),
    "host_lane": mark("host"),
    "host_launches": mark(
        "Launches of what is selected, in view: {count}, each with a line to where it ran."
    ),
    "host_launching": mark("preparing the next launch"),
    "host_longest": mark("{name}, {time}"),
    "host_nothing_runs": mark(
        "no operator runs for {time} ({share} of the time drawn), in which the host is:"
    ),
    "host_part": mark("{kind} {share}"),
    "host_python": mark("running other code"),
    "host_queued": mark("ahead: the next operator is launched already"),
    "host_show": mark("Show the host lane"),
    "host_some_launches": mark(
        "Launches of what is selected, in view: {count}; {drawn} of them have a line to where they "
        "ran."
    ),
    "host_stack": mark("stack of most of it"),
    "host_synchronisation": mark("waiting for the device"),
    "host_type": mark("the device is idle"),
    "host_unknown": mark("doing nothing that the file shows"),
    "hurts": mark("slower beyond noise"),
    "in_side": mark("in {side}"),
    "inputs": mark("inputs"),
    "inside": mark("depth {depth}"),
    "kept": mark("unchanged"),
    "labelled": mark("{label}: {text}"),
    "lane": mark("lane"),
    "lane_inside": mark("{lane}, depth {depth}"),
    "link": mark("Show the same time on all sides, or let each have its own"),
    "linked": mark("Same time"),
    "longest": mark("longest"),
    "longest_of": mark("{name}, {type}, {time}"),
    "mean": mark("mean of all runs"),
    "modes": mark("Place operators by"),
    "name_closer": mark("zoom in for the name"),
    "next_sentence": mark("{first} {second}"),
    "no_call": mark("no match"),
    "no_operator": mark("no operator in this run"),
    "no_run": mark("no run"),
    "no_start": mark("not in the file"),
    "not_known": mark("not known"),
    "not_linked": mark(
        "Fusion flow and alignment by group need every execution in the browser, and these are "
        "too many."
    ),
    "nothing": mark("nothing"),
    "nothing_folded": mark("nothing: folded into weights"),
    "nothing_removed": mark("nothing: not needed"),
    "outputs": mark("outputs"),
    "provider": mark("provider"),
    "replaced": mark("fused or replaced"),
    "reset": mark("Reset"),
    "reset_zoom": mark("Reset zoom"),
    "search": mark("operator or type"),
    "search_before": mark("The hit before"),
    "search_hit": mark("{place} of {hits}"),
    "search_hit_drawn": mark("{place} of {hits} drawn one by one"),
    "search_label": mark("Search executions by the name or type of their operator"),
    "search_next": mark("The next hit"),
    "search_none": mark("no execution"),
    "select": mark("Sum up"),
    "select_shown": mark("Sum up the stretch of time that is shown"),
    "share_drawn": mark("share of the time drawn"),
    "share_run": mark("share of run"),
    "shared_pixel": mark(
        "Executions too short for a pixel are drawn together: the bar's height is the part of that "
        "pixel's time in which something ran."
    ),
    "show_folded": mark("Show them"),
    "show_folded_label": mark("Show the folded lanes"),
    "single_out": mark("Single out {class}"),
    "spoken": mark("{side}, {number} of {count}: {name}, {type}, {class}, {facts}"),
    "start": mark("start"),
    "stretch": mark("Selected stretch of time"),
    "stretch_busy": mark(
        "something ran for {busy} ({busy_share}), nothing for {idle} ({idle_share}); executions: "
        "{count}."
    ),
    "stretch_class": mark("Class"),
    "stretch_clear": mark("Clear the selection"),
    "stretch_count": mark("Executions"),
    "stretch_ended": mark("the run has ended before."),
    "stretch_ends": mark("The run ends after {time} of it; shares are of these."),
    "stretch_note": mark(
        "Measured, as profiled, of the run shown. An execution counts as far as it lies in the "
        "stretch; executions that overlap add up to more than the time in which something ran."
    ),
    "stretch_of": mark("{range} ({time})"),
    "stretch_operator": mark("Operator"),
    "stretch_pick": mark("Select {operator}"),
    "stretch_ran": mark("something ran for {busy} ({busy_share}); executions: {count}."),
    "stretch_rest": mark("other operators: {count}"),
    "stretch_share": mark("Share"),
    "stretch_short": mark("shorter ones, drawn together"),
    "stretch_time": mark("Time"),
    "stretch_together": mark("Executions shorter than {width} are counted in steps of that width."),
    "stretch_unrecorded": mark(
        "Of the time in which nothing ran, {time} may not be idle time: what was launched before "
        "the file begins is not in the file."
    ),
    "stretch_zoom": mark("Zoom to it"),
    "then": mark("{start}; {next}"),
    "these_runs": mark("these two runs"),
    "time": mark("true time"),
    "time_note": mark(
        "Profiled time of one run, step or repetition per side, or of the whole file where there "
        "is none. The profiler adds cost to every operator: a verdict uses un-profiled runs, where "
        "there are any."
    ),
    "timeline_of": mark("Timeline of {runs}"),
    "timeline_role": mark("timeline"),
    "unnamed": mark("unnamed operator"),
    "untyped": mark("unknown type"),
    "view_rest": mark("The table has the longest executions in view; {count} more are not in it."),
    "view_rest_bars": mark(
        "The table has the longest bars of the host's lane in view; {count} more are not in it."
    ),
    "view_side": mark("Side"),
    "view_table": mark("What is in view, as a table"),
    "view_type": mark("Type"),
    "waiting": mark("waits for other ranks"),
    "waiting_of": mark("{time} ({share} of it)"),
    "waits": mark("faint: a collective waits for other ranks"),
    "wide": mark("{time} wide"),
    "zoom_in": mark("Zoom in"),
    "zoom_out": mark("Zoom out"),
}


def script_words() -> dict[str, str]:
    """The texts in the language that is spoken, by the keys that the script uses."""
    return {key: language.translated(text) for key, text in WORDS.items()}
