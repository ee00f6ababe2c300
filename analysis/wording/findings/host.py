"""Sentences of idle time by what the host did, for each kind of cause."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from fusescope.analysis.messages import Message


class CauseText(msgspec.Struct, frozen=True):
    """`label` names the kind of cause, `limits` is the sentence with its figures, `why` what it
    means, `remedy` what to try."""

    label: Message
    limits: Message
    why: Message
    remedy: Message


CAUSES: Mapping[str, CauseText] = {
    "data_loading": CauseText(
        Message("Idle while data is loaded"),
        Message(
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in one gap "
            "in which the host loads data, in {place:name}.",
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in {n:count} "
            "gaps in which the host loads data, the largest part, "
            "{place_ns:duration}, in {place:name}.",
        ),
        Message("The next batch is not ready, so there is nothing to launch."),
        Message(
            "Load batches ahead in other processes: DataLoader(num_workers=…, prefetch_factor=…, "
            "persistent_workers=True, pin_memory=True); or prepare the data beforehand."
        ),
    ),
    "synchronisation": CauseText(
        Message("Idle while the host waits for the device"),
        Message(
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in one gap "
            "in which the host is in a call that waits for the device, in {place:name}.",
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in {n:count} "
            "gaps in which the host is in calls that wait for the device, the largest part, "
            "{place_ns:duration}, in {place:name}.",
        ),
        Message("Until such a call returns the host launches nothing, so the device runs dry."),
        Message(
            "Read values of the device less often (item, nonzero, .cpu()), or once at the end; "
            "leave out synchronize."
        ),
    ),
    "allocation": CauseText(
        Message("Idle while memory is allocated or freed"),
        Message(
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in one gap "
            "in which the host allocates or frees memory, in {place:name}.",
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in {n:count} "
            "gaps in which the host allocates or frees memory, the largest part, "
            "{place_ns:duration}, in {place:name}.",
        ),
        Message(
            "These calls wait until the device is done, or take long themselves, and nothing is "
            "launched meanwhile. A framework that keeps its memory makes them only at the start."
        ),
        Message(
            "Let the framework keep memory: no PYTORCH_NO_CUDA_MEMORY_CACHING (on AMD also "
            "PYTORCH_NO_HIP_MEMORY_CACHING), and no empty_cache() inside the loop. Where memory "
            "is short, use a smaller batch or expandable_segments:True."
        ),
    ),
    "copy_waits": CauseText(
        Message("Idle while the host waits for a copy"),
        Message(
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in one gap "
            "in which the host waits in a call that copies, in {place:name}.",
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in {n:count} "
            "gaps in which the host waits in calls that copy, the largest part, "
            "{place_ns:duration}, in {place:name}.",
        ),
        Message(
            "A copy from or to memory that is not pinned returns only when it is done, and after "
            "everything that was launched before it."
        ),
        Message(
            "Copy from pinned memory with non_blocking=True, early, and in fewer and larger pieces."
        ),
    ),
    "compilation": CauseText(
        Message("Idle while code is compiled"),
        Message(
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in one gap "
            "in which the host compiles or loads code, in {place:name}.",
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in {n:count} "
            "gaps in which the host compiles or loads code, the largest part, "
            "{place_ns:duration}, in {place:name}.",
        ),
        Message(
            "Code is compiled or loaded when it first runs with these shapes, types or settings."
        ),
        Message(
            "Warm up before the part that is measured; keep shapes the same, or mark them as "
            "dynamic; keep the compiler's cache between processes."
        ),
    ),
    "garbage_collection": CauseText(
        Message("Idle while Python collects garbage"),
        Message(
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in one gap "
            "in which Python collects garbage.",
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in {n:count} "
            "gaps in which Python collects garbage.",
        ),
        Message("While Python looks through its objects it launches nothing."),
        Message(
            "Call gc.freeze() after the start, gc.disable() inside the loop, and gc.collect() "
            "where the device has work."
        ),
    ),
    "launching": CauseText(
        Message("Idle while operators are launched"),
        Message(
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in one gap "
            "in which the host launches operators.",
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in {n:count} "
            "gaps in which the host launches operators.",
        ),
        Message("There the host takes longer to launch the operators than the device to run them."),
        Message(
            "Start fewer operators: fuse them, raise the batch size, or start the whole run at "
            "once (CUDA graphs, HIP graphs, graph mode of CANN)."
        ),
    ),
    "python": CauseText(
        Message("Idle while the host runs other code"),
        Message(
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in one gap "
            "in which the host runs code that launches nothing, in {place:name}.",
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in {n:count} "
            "gaps in which the host runs code that launches nothing, the largest part, "
            "{place_ns:duration}, in {place:name}.",
        ),
        Message("Nothing is queued for the device while this code runs."),
        Message(
            "Move this code out of the loop, or into another thread or process, or launch work "
            "before it that lasts as long."
        ),
    ),
    "queued": CauseText(
        Message("Idle before operators that are launched"),
        Message(
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in one gap "
            "before an operator that was launched already.",
            "The device is idle for {idle_ns:duration}, {share:percent} of the time, in {n:count} "
            "gaps before operators that were launched already.",
        ),
        Message(
            "Here the host is not the limit: the device needs some time from one kernel to the "
            "next, waits for another stream, or works on something that the file does not show."
        ),
        Message(
            "Fuse small operators, or start the whole run at once (CUDA graphs, HIP graphs, graph "
            "mode of CANN), which shortens these gaps; of long gaps look at what the streams wait "
            "for."
        ),
    ),
}
# A call that several operators make: the one in which most of its time lies.
CALLER = Message(
    "{sentence} Of that idle time in {place:name} the largest part, {by_ns:duration}, is in "
    "{by:name}."
)
# Why launching is the limit, where launches are known: the host is ahead elsewhere, or nowhere.
LAUNCHING = {
    True: Message(
        "There the host takes longer to launch the operators than the device to run them. "
        "Elsewhere it is ahead: for half of all launches the kernel starts at least "
        "{latency_ns:duration} later."
    ),
    False: Message(
        "The host takes longer to launch the operators than the device to run them: for half of "
        "all launches the kernel starts within {latency_ns:duration}, so hardly any kernel waits "
        "in a queue."
    ),
}
# Of operators of which graphs launch most already.
MORE_IN_GRAPHS = Message(
    "Graphs launch {of_graphs:percent} of the time of kernels already: let them take in what runs "
    "outside of them, or start fewer operators there."
)
# Of code of the profiler, which a run without it does not have.
PROFILERS_OWN = Message(
    "This code is the profiler's own: a run without it does not have this time."
)
PROFILERS_REMEDY = Message(
    "Leave this time out of what you judge, or record with fewer options of the profiler."
)
