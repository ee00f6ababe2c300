"""Threads: those that a recording was given and that stand still for much of the run."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.subject import Answer, Subject

_MAX_LOAD = 1.0  # of the cores: with more, threads also wait for the processor
_MAX_USED = 0.7  # of the threads, above which serial parts are not worth a finding


def idle_threads(subject: Subject) -> Answer:
    """The CPU time of a median un-profiled run is at most 70 % of what its threads have.

    What a remedy could save is the time that the others would need to work as well. Threads that
    spin take CPU time for nothing, so nothing follows from theirs.
    """
    experiment, variant = subject.side.experiment, subject.side.variant
    if experiment is None or variant is None:
        return "no_threads"
    if subject.side.is_on_device:
        return "on_device"
    settings, machine = experiment.record.settings, experiment.record.machine
    if experiment.record.spins(variant):
        return "threads_spin"
    if (machine.load_before or 0.0) > _MAX_LOAD * machine.logical_cores:
        return "machine_busy"
    told = variant.settings.get("intra_op_threads")
    threads = told if isinstance(told, int) else settings.threads
    samples = variant.samples
    wall_ns = np.array(samples.wall_ns, dtype=float)
    cpu_ns = np.array(samples.cpu_ns, dtype=float)[wall_ns > 0]
    wall_ns = wall_ns[wall_ns > 0]
    if threads < 2 or not len(wall_ns) or not cpu_ns.any():
        return ()
    used = float(np.median(cpu_ns / wall_ns))
    if used > _MAX_USED * threads:
        return ()
    run_ns = float(np.median(wall_ns))
    most_ns = run_ns * (1 - used / threads)
    return (
        Finding(
            "idle_threads",
            values={
                "used": used,
                "threads": threads,
                **({"engine": subject.other_engine} if subject.other_engine else {}),
            },
            at_most_ns=most_ns,
            share=most_ns / run_ns,
            of_ns=run_ns,
            confidence="low",
        ),
    )
