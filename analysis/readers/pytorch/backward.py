"""Forward operators of a backward pass, by the numbers of autograd.

An operator that makes a node of the backward pass carries its number, and so do operators that run
before it and make none: the last one to begin made the node. A backward operator carries the number
of its node and, as PyTorch numbers threads, that of the thread which made it.
"""

from __future__ import annotations

import numpy as np

from fusescope.analysis.readers.building.call_stacks import Frames, Moments, innermost
from fusescope.analysis.readers.building.timetable import Ints, Timetable
from fusescope.analysis.readers.pytorch.arguments import AUTOGRAD
from fusescope.analysis.readers.pytorch.events import Sorted
from fusescope.analysis.readers.pytorch.spans import NONE, Spans

_MODULE = "nn.Module: "
_IN_MODULE, _FORWARD = -2, -1  # what holds a moment, beside positions of backward operators


def forward_of(found: Sorted, moments: Moments) -> Moments | None:
    """Return when and on which thread the forward operator of moments began that lie in a backward
    one; of those in a module or forward operator inside that, which run again, none. None where the
    file names no modules, or no backward operators."""
    frames, ops = found.frames, found.ops
    is_module_name = [name.startswith(_MODULE) for name in frames.names]
    if not any(is_module_name) or not len(ops):
        return None
    number, thread = (ops.more[name] for name in AUTOGRAD)
    backward = np.flatnonzero((number >= 0) & (thread > 0))
    forward = np.flatnonzero((number >= 0) & (thread <= 0))
    if not len(backward) or not len(forward):
        return None
    maker = _makers(ops, backward, forward)
    is_module = np.array(is_module_name, dtype=bool)[frames.name_of]
    holders = Frames(
        np.concatenate((frames.lanes[is_module], ops.lanes[forward], ops.lanes[backward])),
        np.concatenate((frames.starts[is_module], ops.starts[forward], ops.starts[backward])),
        np.concatenate((frames.lengths[is_module], ops.lengths[forward], ops.lengths[backward])),
        np.concatenate(
            (
                np.full(int(is_module.sum()), _IN_MODULE),
                np.full(len(forward), _FORWARD),
                np.arange(len(backward)),
            )
        ),
        (),
    )
    at = innermost(holders, Moments(moments.lanes, moments.times_ns, moments.rows))
    held = np.where(at >= 0, holders.name_of[at], NONE)
    linked = np.flatnonzero(held >= 0)
    linked = linked[maker[held[linked]] != NONE]
    made_by = maker[held[linked]]
    return Moments(ops.lanes[made_by], ops.starts[made_by], moments.rows[linked])


def _makers(ops: Spans, backward: Ints, forward: Ints) -> Ints:
    """Return which operator made the node of each backward one, NONE where that is not known."""
    number = ops.more["autograd_number"]
    lanes = _forward_lanes(ops, backward, forward)
    known = np.unique(number[forward])
    place = np.searchsorted(known, number[backward])
    is_known = (known[np.minimum(place, len(known) - 1)] == number[backward]) & (lanes != NONE)
    groups = ops.lanes[forward] * len(known) + np.searchsorted(known, number[forward])
    table = Timetable(groups, ops.starts[forward])
    wanted = np.where(is_known, lanes * len(known) + place, -1)
    last = table.last(wanted, ops.starts[backward], inclusive=False)
    return np.where(last >= 0, forward[table.order[last]], NONE)


def _forward_lanes(ops: Spans, backward: Ints, forward: Ints) -> Ints:
    """Return on which thread the forward operator of each backward one ran: of its process the one
    with most of the numbers that stand with PyTorch's number of that thread, NONE where two have as
    many."""
    number, thread = (ops.more[name] for name in AUTOGRAD)
    process_of = ops.processes().codes
    found = np.full(len(backward), NONE, dtype="int64")
    keys = np.stack((process_of[backward], thread[backward]), axis=1)
    for key in np.unique(keys, axis=0):
        of_thread = (keys == key).all(axis=1)
        mine = forward[process_of[forward] == key[0]]
        mine = mine[np.isin(number[mine], number[backward[of_thread]])]
        pairs = np.unique(np.stack((ops.lanes[mine], number[mine]), axis=1), axis=0)
        lanes, counts = np.unique(pairs[:, 0], return_counts=True)
        if len(lanes) and (counts == counts.max()).sum() == 1:
            found[of_thread] = lanes[counts.argmax()]
    return found
