"""Two files of ranks: whether they are of one job, what says so, and what is said of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis import wording
from fusescope.analysis.advice.findings import findings
from fusescope.analysis.advice.subject import Subject
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.comparison import compare_several
from fusescope.analysis.compare.side import Side
from fusescope.analysis.job import Collectives, Group, Job, collectives_frame
from fusescope.analysis.ranks.pair import rank_pair
from fusescope.analysis.report.explanation.explanation_json import explanation_values
from fusescope.analysis.report.html import report_html
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from fusescope.analysis.wording import diagnostic_sentence
from fusescope.analysis.wording.explanation import leading_sentence
from fusescope.analysis.wording.findings import remedy_text
from fusescope.analysis.wording.multiple.comparison import basis_sentences, doubt_lines

MS = 1_000_000
EPOCH = 1_764_000_000 * 10**9
PIPELINE = Group("1", "mesh_pp", (0, 2))


def waiting_ranks(gemm_ms: int, job: Job) -> Trace:
    """A rank as of `trace_of`, in whose collective data move for 1 ms."""
    plain = trace_of(job, gemm_ms=gemm_ms)
    moved = collectives_frame(source_row=[1], group=["1"], kind=["send_recv"], transfer_ns=[MS])
    return replace(plain, collectives=Collectives(moved))


def trace_of(
    job: Job | None, started_ns: int | None = EPOCH, gemm_ms: int = 10, name: str = "gemm"
) -> Trace:
    """One step of 20 ms: a product, and a collective from its end to 18 ms."""
    lasts = [gemm_ms * MS, (18 - gemm_ms) * MS]
    operators = operators_frame(
        name=[name, "ncclDevKernel_AllReduce"],
        op_type=[name, "all_reduce"],
        op_class=["matrix_product", "communication"],
        level=["device_kernel"] * 2,
        is_communication=[False, True],
        operator=[0, 1],
    )
    calls = calls_frame(
        operator=[0, 1],
        run=[0, 0],
        start_ns=[0, gemm_ms * MS],
        dur_ns=lasts,
        source_row=[0, 1],
        stream=["7", "7"],
        device=["0", "0"],
    )
    runs = runs_frame(run=[0], kind=["step"], start_ns=[0], dur_ns=[20 * MS], profiled=[True])
    sha = f"{abs(hash((str(job), started_ns, gemm_ms, name))) % 10**9:064d}"
    meta = Meta("kineto", "PyTorch profiler", sha256=sha, started_ns=started_ns, job=job)
    return Trace(meta, runs, operators, calls)


def compared(first: Trace, second: Trace, names: tuple[str, str] = ("a", "b")) -> Comparison:
    one, other = (Side(name, trace) for name, trace in zip(names, (first, second), strict=True))
    return compare(one, other)


def codes(found: Comparison) -> dict[str, str]:
    return {note.code: note.severity for note in found.diagnostics}


def said(found: Comparison) -> str:
    assert found.explanation is not None
    texts = [
        wording.verdict_sentence(found),
        wording.verdict_basis(found.verdict),
        leading_sentence(found.explanation),
        *map(diagnostic_sentence, found.diagnostics),
    ]
    return " ".join(texts)


def test_ids_in_both_files_name_two_ranks_of_one_job() -> None:
    jobs = [Job(rank, 4, (PIPELINE,), ("x", f"own{rank}")) for rank in (0, 2)]
    found = compared(trace_of(jobs[0]), trace_of(jobs[1], gemm_ms=16))
    assert found.verdict.reason == "two_ranks" and found.verdict.speedup is None
    assert found.has_changes  # what each runs is compared all the same
    for table in (found.operators, found.op_types, found.op_classes):
        assert table["delta_ns"].notna().all() and table["speedup"].isna().all()
    told = codes(found)
    assert told["ranks_of_one_job"] == "info"
    assert not told.keys() & {
        "unpaired", "one_process_each", "machines_unknown", "profiled_headline",
    }  # fmt: skip
    text = said(found)
    assert "ranks 0 and 2 of one job of 4 ranks" in text
    assert "They are stages 1 and 2 of the 2 of its pipeline" in text
    assert (
        "Rank 2 computes for 16.0 ms of a step, rank 0 for 10.0 ms: layers moved from rank 2 to "
        "rank 0 would shorten the wait."
    ) in leading_sentence(found.explanation)
    assert "separate recordings" not in text and "models" not in text
    values = explanation_values(found.explanation)
    assert values is not None and values["difference"] == "stages"
    assert values["ranks"] == {
        "relation": "one_job",
        "evidence": "named",
        "before": {"rank": 0, "world": 4, "stage": 1, "stages": 2},
        "after": {"rank": 2, "world": 4, "stage": 2, "stages": 2},
    }
    # the product takes 6 ms longer, the wait for it 6 ms less: the cause is said first
    assert found.explanation is not None and "gemm" in leading_sentence(found.explanation)


def communication_remedy(before: Trace, after: Trace) -> str:
    """What is advised against the communication of the candidate."""
    found = findings(Subject(Side("b", after), compared(before, after)))
    [finding] = [each for each in found.found if each.code == "communication"]
    return remedy_text(finding)


def test_what_limits_a_stage_gives_the_advice_that_the_comparison_gives() -> None:
    """Rank 2 computes for 5 ms of a step and waits for 12 ms, rank 0 computes for 10 ms."""
    stages = [Job(rank, 4, (PIPELINE,), ("x",)) for rank in (0, 2)]
    longer, shorter = waiting_ranks(10, stages[0]), waiting_ranks(5, stages[1])
    assert "layers moved from rank 0 to rank 2" in said(compared(longer, shorter))
    remedy = communication_remedy(longer, shorter)
    assert remedy.startswith("Move layers from rank 0 to rank 2, which computes for less of a step")
    alike = communication_remedy(waiting_ranks(5, stages[0]), shorter)
    assert alike.startswith("Split the batch into more micro-batches")
    [alone] = [
        each for each in findings(Subject(Side("b", shorter))).found if each.code == "communication"
    ]
    assert remedy_text(alone) == alike  # its own file says that it is a stage
    others = [waiting_ranks(5, Job(rank, 4, ids=("x",))) for rank in (0, 2)]
    assert "with the one that comes last" in communication_remedy(*others)


def test_report_and_table_say_of_two_ranks_that_they_are_of_one_job() -> None:
    first, second = (trace_of(Job(rank, 4, ids=("x",))) for rank in (0, 2))
    page = report_html(compared(first, second))
    assert "recorded apart" not in page and "drift between the recordings" not in page
    assert "There is none, and no speedup. Ranks of one job wait" in page
    alone = trace_of(None, EPOCH + 10**13)
    sides = [Side(name, trace) for name, trace in zip("abc", (first, second, alone), strict=True)]
    several = compare_several(sides)
    assert "b: The two files are ranks 0 and 2 of one job" in basis_sentences(several)
    lines = doubt_lines(several)
    assert not any("ranks 0 and 2" in line for line in lines), "no doubt, but what they are"
    [apart] = [line for line in lines if "recorded apart" in line]
    assert apart.startswith("c: ")


def test_ranks_at_the_same_time_look_like_one_job() -> None:
    second = trace_of(Job(1, 8), EPOCH + 5 * MS)
    found = compared(trace_of(Job(0, 8)), second)
    assert found.verdict.reason == "like_two_ranks"
    assert "look like ranks 0 and 1 of one job" in said(found)
    pair = rank_pair(trace_of(None), replace(second, meta=replace(second.meta, job=None)))
    assert pair is None  # nothing gives the ranks
    named = compared(trace_of(None), trace_of(None, EPOCH + 1), ("rank0.json", "rank3.json"))
    assert named.ranks is not None and named.ranks.ranks == (0, 3)
    assert not named.ranks.is_named


def test_ranks_at_other_times_are_of_different_recordings() -> None:
    first, second = trace_of(Job(0, 8)), trace_of(Job(1, 8), EPOCH + 3600 * 10**9)
    found = compared(first, second)
    assert found.verdict.reason not in ("two_ranks", "like_two_ranks")
    told = codes(found)
    assert told["ranks_apart"] == "warning" and "unpaired" in told
    assert "by the clocks in the files did not run at the same time" in said(found)
    apart = compared(trace_of(None), trace_of(None, EPOCH + 10**12), ("rank0.json", "rank3.json"))
    assert apart.ranks is None  # of names alone nothing is said


def test_without_times_nothing_says_whether_they_are_of_one_job() -> None:
    pair = rank_pair(trace_of(Job(0, 8), None), trace_of(Job(1, 8)))
    assert pair is not None and pair.relation == "unknown_jobs"
    shared = rank_pair(trace_of(Job(0, 8, (), ("x",)), None), trace_of(Job(1, 8, (), ("x",))))
    assert shared is not None and shared.is_one_job and shared.is_named


def test_jobs_of_other_sizes_are_named_instead_of_two_models() -> None:
    found = compared(trace_of(Job(0, 8)), trace_of(Job(0, 16), name="conv"))
    assert found.ranks is not None and found.ranks.relation == "other_sizes"
    text = said(found)
    assert "a job of 8 ranks, the candidate of one of 16 ranks" in text
    assert codes(found)["worlds_differ"] == "warning"
    assert "look like different models" not in text


@pytest.mark.parametrize(
    ("first", "second"),
    [(Job(3, 8), Job(3, 8)), (Job(3), None), (None, None), (Job(None, 8), Job(None, 8))],
)
def test_one_rank_twice_is_no_pair_of_ranks(first: Job | None, second: Job | None) -> None:
    assert rank_pair(trace_of(first), trace_of(second, EPOCH + 1)) is None


JOBS = st.builds(
    Job,
    st.none() | st.integers(0, 3),
    st.none() | st.integers(1, 4),
    st.just(()),
    st.lists(st.sampled_from("xyz"), max_size=2).map(tuple),
)
STARTS = st.none() | st.sampled_from([5, EPOCH, EPOCH + 9 * MS, EPOCH + 10**12])


@given(JOBS, JOBS, STARTS, STARTS)
def test_both_ways_round_are_the_same_pair(
    first: Job, second: Job, start: int | None, other: int | None
) -> None:
    one, two = trace_of(first, start), trace_of(second, other)
    pair, back = rank_pair(one, two), rank_pair(two, one)
    assert (pair is None) == (back is None)
    if pair is None or back is None:
        return
    assert back == replace(
        pair, ranks=pair.ranks[::-1], worlds=pair.worlds[::-1], stages=pair.stages[::-1]
    )
    if pair.is_one_job:
        assert None not in pair.ranks and pair.ranks[0] != pair.ranks[1]
        assert None in pair.worlds or pair.worlds[0] == pair.worlds[1]
