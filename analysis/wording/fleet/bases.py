"""What the figures of a fleet rest on, and their formulas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from fusescope.analysis.messages import Message

Question = Literal[
    "slow", "cause", "waits", "links", "transfers", "split", "outliers", "differing", "delays",
    "free", "versus",
]  # fmt: skip
TITLES: Mapping[Question, Message] = {
    "slow": Message("Slow ranks"),
    "cause": Message("Why they are late"),
    "waits": Message("Who waits for whom"),
    "links": Message("Slow links"),
    "transfers": Message("Communication apart from waiting"),
    "split": Message("Where a step goes"),
    "outliers": Message("Operators far from the median of the ranks"),
    "differing": Message("Ranks with other kernels"),
    "delays": Message("Delays by rank and step"),
    "free": Message("Without the slow ranks"),
    "versus": Message("Against another fleet, rank by rank"),
}
BASES: Mapping[Question, Message] = {
    "slow": Message(
        "Measured. In each collective the rank of the shortest execution came last; it came "
        "clearly last by its own delay where it is shorter than the next by more than 5 % and 3 "
        "spreads (interquartile range / 1.349) of the others, and at least half of its delay arose "
        "since the collective before. Slow: share of the collectives with such a rank above "
        "1 / ranks of the group by the lower bound (Clopper and Pearson, all ranks together at "
        "99 %), and waiting of at least 1 % of the steps."
    ),
    "cause": Message(
        "Measured. Time since the collective before, on the slow rank minus the median of the "
        "other ranks, summed over the collectives in which it came clearly last, a step; of "
        "operators and idle time likewise. Below 80 % explained, the cause is not measured."
    ),
    "waits": Message(
        "Measured. In each collective a rank waits for the rank of the shortest execution, by as "
        "much as its own is longer; sum over all collectives of a step, send and receive too, "
        "whether or not that rank is late by its own delay. Below 1 % of the step it is not shown."
    ),
    "links": Message(
        "Transfer: the time in which data moved, by the profiler's own count (counter); where the "
        "file has none, the shortest execution of a collective (measured), which is assumed to "
        "wait for nobody. Slow: median transfer at least 1.25 times the median of the other groups "
        "of the same kind, size and data, and the slowest of them more often than chance (Clopper "
        "and Pearson, all groups together at 99 %)."
    ),
    "transfers": Message(
        "Transfer: median over collectives of the time in which data moved, by the profiler's own "
        "count (counter); where the file has none, of the shortest execution (measured), which is "
        "assumed to wait for nobody, also where ranks of its group are not here. Mean wait: "
        "execution − transfer, as the mean of one execution on one rank, not the sum of a step. "
        "Skew: median of longest − shortest. Bus bandwidth = data · "
        "a (n − 1) / n / transfer, a = 2 for all-reduce, 1 for all-gather, reduce-scatter and "
        "all-to-all; data / transfer for others."
    ),
    "split": Message(
        "Measured. Step = computing + communication not hidden + idle, by the union of "
        "intervals on the device; means over steps, and of several ranks over these."
    ),
    "outliers": Message(
        "Measured. Deviations = 0.6745 (median call − median of the ranks) / median "
        "absolute deviation, this taken as 1 % of the median at the least. Shown: 3.5 or more "
        "either way, 5 % from the median, and 0.5 % of the steps in sum. In a step: (median call − "
        "median of the ranks) · calls in a step, before whichever collective."
    ),
    "differing": Message(
        "Measured. A rank differs where at least three times as many ranks that share its "
        "collectives agree on how often a step runs each kernel as run what it runs."
    ),
    "delays": Message(
        "Measured. Sum over the collectives of a step of max(0, time since the collective before − "
        "median over the ranks of the group) / step."
    ),
    "free": Message(
        "Modelled. The collectives are replayed with the slow ranks coming at the median of their "
        "group; saved = 1 − that replay / the replay of what was measured."
    ),
    "versus": Message(
        "Measured. Trimmed mean over ranks of ln(candidate / baseline), interval at 95 % (Yuen); "
        "the rank is the block. Ranks of one job share its steps, so the interval says how ranks "
        "differ, not how two starts of the job would."
    ),
}
PARTS: Mapping[str, Message] = {
    "step_ns": Message("step"),
    "computing_ns": Message("computing"),
    "uncovered_ns": Message("communication not hidden"),
    "free_ns": Message("idle"),
    "communication_ns": Message("communication"),
}
