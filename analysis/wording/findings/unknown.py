"""Why a kind of finding cannot be answered for a file."""

from __future__ import annotations

from collections.abc import Mapping

from fusescope.analysis.advice.finding import Unknown
from fusescope.analysis.messages import Message

REASONS: Mapping[Unknown, Message] = {
    "different_models": Message("The two sides look like different models"),
    "different_phases": Message("The two sides are two phases of serving, which do different work"),
    "capture_and_replay": Message("One side is the capture of a graph, which runs nothing"),
    "different_ranks": Message("The two sides are ranks that run different work"),
    "different_jobs": Message("The two sides are of jobs of different sizes"),
    "different_sizes": Message("The weights of the two sides have different sizes"),
    "models_unknown": Message("Nothing shows that the two sides are the same model"),
    "engines_differ": Message(
        "The sides ran in different engines, so no single optimisation explains what got slower"
    ),
    "kernels_missing": Message("The file lacks kernels of launched graphs"),
    "longer_than_run": Message("The calls of a run are longer than the run that the file marks"),
    "machine_busy": Message("The machine was busy when the recording began"),
    "marked": Message(
        "This variant also copies the result of every operator out of the model, so what limits it "
        "does not limit the model"
    ),
    "mixed_levels": Message(
        "The file mixes operators of the host with kernels of a device, so idle time is not known"
    ),
    "no_ablation": Message(
        "Nothing was left out one at a time; a recording with --ablate does that"
    ),
    "no_ablation_of_jax": Message("JAX has no way to leave out one fusion at a time"),
    "no_ablation_of_mindspore": Message("MindSpore leaves out a pass, and no single fusion"),
    "no_ablation_of_openvino": Message("OpenVINO has no way to leave out one fusion at a time"),
    "no_ablation_of_several": Message(
        "Nothing is left out in a recording of several engines; one of this engine alone, with "
        "--ablate, does that"
    ),
    "no_comparison": Message("This needs a second side to compare with"),
    "no_counted_flops": Message("The FLOPs of the operators cannot be counted from this file"),
    "no_dtypes": Message("The data types are not known of the operators that are looked at"),
    "no_graph": Message("This needs the graphs, which only an experiment contains"),
    "no_groups": Message("No groups of operators of the two sides are known"),
    "no_host_calls": Message("The file does not hold what the host called on the device"),
    "no_host_waits": Message("The file does not say when the host waited for the device"),
    "no_members": Message("The file does not say which operators a fused one contains"),
    "no_whole_members": Message(
        "The file names the operators in a fused one, but not whether it computes the whole of them"
    ),
    "no_memory": Message("The file has no memory over time"),
    "ends_early": Message("The file ends early, so no run is known to be complete"),
    "no_operators": Message("The file has no operators"),
    "no_peak": Message(
        "The peaks of the machine are not known; Settings on the page Compare take them"
    ),
    "no_providers": Message("The file does not say where operators run"),
    "no_samples": Message("The file has no un-profiled runs"),
    "no_shapes": Message("The file has no shapes"),
    "no_sizes": Message(
        "How many bytes the operators that are looked at read and write is not known: shapes of "
        "outputs or data types are missing"
    ),
    "no_start_times": Message("The file has no start times"),
    "no_threads": Message("The file does not say how many threads there were"),
    "no_times": Message("No operator took any time"),
    "no_types": Message("The file has no op types that are known"),
    "on_device": Message("It ran on a device, not on threads of the processor"),
    "other_engine": Message("The conditions under which this engine fuses are not known"),
    "other_model": Message("It runs another model than the recorded one, whose graph is not known"),
    "other_provider": Message(
        "The conditions under which this execution provider fuses are not known"
    ),
    "runs_unknown": Message("The file does not mark its runs"),
    "threads_spin": Message("Threads that spin take CPU time while they wait"),
    "too_few_samples": Message("There are fewer than 20 un-profiled runs"),
}
