"""Changes that are planted into a trace, each with its truth."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from benchmarks.explanations.document import (
    Document,
    Event,
    correlation,
    is_on_device,
    is_timed,
)
from fusescope.analysis.align.repeats import fold, walk

_FAMILY = re.compile(r"[<(]|_\d+$")
_ATTENTION = r"(?!triton).*(?:fmha|flash_|attention|sage_fwd)"
_SEEN = 0.005  # of the time of the kernels: less is no change that anybody looks for
_FEWEST = 4  # places of a change that is planted in many
_NEW = "my_quantise_rows_kernel"


@dataclass(frozen=True)
class Truth:
    """What was planted: the codes that say it, words of which its sentence has one (in lower case;
    none where nothing is to be said), by how many us the whole file takes longer, and in how many
    places. `outcomes` are the outcomes that are right; `also` are further changes of the same file,
    each of which is one of those that are told."""

    codes: tuple[str, ...]
    words: tuple[str, ...]
    change_us: float
    places: int
    outcomes: tuple[str, ...] = ("changed",)
    also: tuple[Truth, ...] = ()


Plant = Callable[[Document], Truth | None]


def family(name: str) -> str:
    """Return the name of a kernel without its template and number."""
    text = name.removeprefix("void ").replace("(anonymous namespace)::", "")
    return _FAMILY.split(text)[0].split("::")[-1] or text[:40]


def slower_kernel(document: Document) -> Truth | None:
    """Make every softmax, else a kernel of the middle, take 1.6 times as long."""
    kernels = document.kernels()
    chosen = [each for each in kernels if "softmax" in str(each["name"]).lower()]
    if _total(chosen) < 0.01 * _total(kernels):
        chosen = _repeated(kernels, share=0.02)
    if not chosen:
        return None
    added = document.scale(chosen, 1.6)
    return Truth(("time", "shapes"), _words(chosen[0]), added, len(chosen))


def faster_kernel(document: Document) -> Truth | None:
    """Make the kernels of the largest family take 0.7 of their time."""
    kernels = document.kernels()
    chosen = _repeated(kernels, share=0.05)
    if not chosen:
        return None
    added = document.scale(chosen, 0.7)
    return Truth(("time", "shapes"), _words(chosen[0]), added, len(chosen))


def new_kernels(document: Document) -> Truth | None:
    """Put a new kernel of 20 us before each attention, else before each of a repeated heavy one."""
    kernels = document.kernels()
    targets = [each for each in kernels if re.match(_ATTENTION, str(each["name"]))]
    targets = targets or _repeated(kernels, share=0.05)
    if not targets:
        return None
    launches = document.launches()
    largest = max((key for key in launches if isinstance(key, int)), default=0)
    moments = {float(target["ts"]): 20.0 for target in targets}
    places = [(float(target["ts"]), target) for target in targets]
    document.insert(moments)
    for number, (_, target) in enumerate(places):
        new = copy.deepcopy(target)
        new["name"], new["dur"] = _NEW, 19.0
        new["ts"] = round(float(target["ts"]) - 20.0, 3)
        launch = launches.get(correlation(target))
        if launch is not None:
            called = copy.deepcopy(launch)
            if str(called["name"]).endswith("GraphLaunch"):
                document.events.append(new)
                continue
            key = largest + 1 + number
            for event in (new, called):
                event["args"] = dict(event.get("args") or {}) | {"correlation": key}
            called["ts"] = round(float(launch["ts"]) - 0.002, 3)
            called["dur"] = 0.001
            document.events.append(called)
        document.events.append(new)
    words = ("quantise", _words(targets[0])[0])
    return Truth(("added", "replaced", "split"), words, 20.0 * len(targets), len(targets))


def lost_fusion(document: Document) -> Truth | None:
    """Run each kernel of a repeated small one as two, the second under another name."""
    kernels = document.kernels()
    chosen = _repeated(kernels, share=0.005, heavy=False)
    if not chosen:
        return None
    added = document.scale(chosen, 2.5)
    for kernel in chosen:
        half = round(float(kernel["dur"]) / 2, 3)
        second = copy.deepcopy(kernel)
        kernel["name"], kernel["dur"] = "elementwise_add_of_bias_kernel", half - 0.002
        second["name"], second["dur"] = "gelu_activation_kernel", half
        second["ts"] = round(float(kernel["ts"]) + half, 3)
        document.events.append(second)
    words = ("gelu_activation", "elementwise_add")
    return Truth(("split", "added", "replaced"), words, added, len(chosen))


def fused(document: Document) -> Truth | None:
    """Run each kernel of a repeated small one and the one behind it as one of half their time."""
    kernels = document.kernels()
    first = {id(each) for each in _repeated(kernels, share=0.005, heavy=False)}
    pairs = [
        (one, other)
        for one, other in pairwise(kernels)
        if id(one) in first and id(other) not in first and _computes(other)
    ]
    behind = {str(other["name"]) for _, other in pairs}
    if len(behind) != 1 or len(pairs) < _FEWEST:
        return None
    added = document.scale([kernel for pair in pairs for kernel in pair], 0.5)
    gone = set()
    for one, other in pairs:
        end = float(other["ts"]) + float(other["dur"])
        one["name"] = "triton_poi_fused_add_gelu_native_layer_norm_7"
        one["dur"] = round(float(one["dur"]) + float(other["dur"]), 3)
        one["ts"] = round(end - float(one["dur"]), 3)
        gone.add(id(other))
    document.events = [event for event in document.events if id(event) not in gone]
    return Truth(
        ("fused", "replaced", "removed", "operator"), ("fused", "triton"), added, len(pairs)
    )


def gone_kernels(document: Document) -> Truth | None:
    """Leave out each kernel of a repeated one."""
    kernels = document.kernels()
    chosen = _repeated(kernels, share=0.01, heavy=False)
    if not chosen or _total(chosen) > 0.5 * _total(kernels):
        return None
    removed = document.scale(chosen, 1e-6)
    gone = {id(kernel) for kernel in chosen}
    document.events = [event for event in document.events if id(event) not in gone]
    return Truth(("removed", "operator"), _words(chosen[0]), removed, len(chosen))


def in_pieces(document: Document) -> Truth | None:
    """Run each kernel of the largest family as four, each of 0.3 of its time."""
    kernels = document.kernels()
    chosen = _repeated(kernels, share=0.02)
    if not chosen:
        return None
    added = document.scale(chosen, 1.2)
    for kernel in chosen:
        quarter = round(float(kernel["dur"]) / 4, 3)
        kernel["dur"] = quarter
        for piece in (1, 2, 3):
            other = copy.deepcopy(kernel)
            other["ts"] = round(float(kernel["ts"]) + piece * quarter, 3)
            document.events.append(other)
    return Truth(("pieces",), ("became", "executions instead"), added, len(chosen))


def every_second(document: Document) -> Truth | None:
    """Make every second kernel of the largest family take 1.5 times as long."""
    chosen = _repeated(document.kernels(), share=0.05)[::2]
    if len(chosen) < _FEWEST:
        return None
    added = document.scale(chosen, 1.5)
    return Truth(("time", "shapes", "place"), _words(chosen[0]), added, len(chosen))


def two_changes(document: Document) -> Truth | None:
    """Make the kernels of the largest family take 1.3 times as long, and run a small one twice as
    long."""
    kernels = document.kernels()
    large, small = _repeated(kernels, share=0.05), _repeated(kernels, share=0.02, heavy=False)
    if not large or not small or set(_words(large[0])) & set(_words(small[0])):
        return None  # two kernels of one kind are told as one change
    more = document.scale(large, 1.3)
    other = document.scale(small, 2.0)
    truths = [
        Truth(("time", "shapes"), _words(large[0]), more, len(large)),
        Truth(("time", "shapes"), _words(small[0]), other, len(small)),
    ]
    first, second = sorted(truths, key=lambda truth: -truth.change_us)
    return replace(first, also=(second,))


def another_stream(document: Document) -> Truth | None:
    """Run each kernel of a repeated one on a stream of its own, at the same time as before."""
    chosen = _repeated(document.kernels(), share=0.02)
    for kernel in chosen:
        kernel["args"] = dict(kernel.get("args") or {}) | {"stream": 77}
        kernel["tid"] = 77
    return Truth((), (), 0.0, 0, ("no_change",)) if chosen else None


def more_layers(document: Document) -> Truth | None:
    """Run one of the layers that repeat in the order of kernels once more."""
    layer = _layer(document)
    if layer is None:
        return None
    taken, begin, end = layer
    copies = [copy.deepcopy(kernel) for kernel in taken]
    document.insert({end: end - begin})
    for kernel in copies:
        kernel["ts"] = round(float(kernel["ts"]) + end - begin, 3)
    document.events += copies
    return Truth(("repeats",), ("layer",), end - begin, 1)


def slow_place(document: Document) -> Truth | None:
    """Make one execution of a step's repeated kernel take so long that a step takes 4 % more."""
    kernels = document.kernels()
    repeated = _repeated(kernels, share=0.05)
    if not repeated:
        return None
    kernel = repeated[len(repeated) // 2]
    span = float(kernels[-1]["ts"]) - float(kernels[0]["ts"])
    steps = max(1, len(document.steps()))
    added = document.scale([kernel], 1 + 0.04 * span / steps / float(kernel["dur"]))
    return Truth(("place", "outlier"), _words(kernel), added, 1)


def host_stall(document: Document) -> Truth | None:
    """Let the host wait in DataLoader.__next__ before each step, at a moment without a kernel."""
    added, moments = 0.0, {}
    for begin in _quiet_moments(document):
        moments[begin], added = 15_000.0, added + 15_000.0
    if not moments:
        return None
    document.insert(moments)
    lane = _launching_lane(document)
    shift = 0.0
    for begin in sorted(moments):
        document.events.append(
            lane
            | {
                "ph": "X",
                "cat": "cpu_op",
                "name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                "ts": round(begin + shift, 3),
                "dur": moments[begin],
            }
        )
        shift += moments[begin]
    return Truth(("idle",), ("dataloader", "data loading"), added, len(moments))


def synchronisation(document: Document) -> Truth | None:
    """Let the host wait in cudaDeviceSynchronize while the device has nothing to do."""
    moments = dict.fromkeys(_quiet_moments(document), 12_000.0)
    if not moments:
        return None
    document.insert(moments)
    lane, shift = _launching_lane(document), 0.0
    for begin in sorted(moments):
        document.events.append(
            lane
            | {
                "ph": "X",
                "cat": "cuda_runtime",
                "name": "cudaDeviceSynchronize",
                "ts": round(begin + shift, 3),
                "dur": 12_000.0,
            }
        )
        shift += 12_000.0
    words = ("cudadevicesynchronize", "synchronis", "waits for the device")
    return Truth(("idle",), words, sum(moments.values()), len(moments))


def clocks(document: Document) -> Truth | None:
    """Make everything on the device take 8 % longer."""
    kernels = document.kernels()
    added = document.scale(kernels, 1.08)
    return Truth(("clocks",), ("clock", "8"), added, len(kernels), ("clock",))


def shorter_window(document: Document) -> Truth | None:
    """Leave out the last third of the steps."""
    steps = document.steps()
    if len(steps) < 3:
        return None
    end = float(steps[-(len(steps) // 3)]["ts"])
    launched = {key for key, call in document.launches().items() if float(call["ts"]) < end}
    document.events = [event for event in document.events if _is_before(event, end, launched)]
    return Truth((), (), 0.0, 0, ("no_change",))


def fewer_layers(document: Document) -> Truth | None:
    """Leave out one of the layers that repeat in the order of kernels."""
    layer = _layer(document)
    if layer is None:
        return None
    gone, begin, end = layer
    removed = {id(kernel) for kernel in gone}
    document.events = [event for event in document.events if id(event) not in removed]
    document.scale([{"ts": begin, "dur": end - begin}], 1e-6)
    return Truth(("repeats",), ("layer",), begin - end, 1)


def renamed(document: Document) -> Truth | None:
    """Give every kernel a name with a new suffix, as another version of a library does."""
    for kernel in document.kernels():
        name = str(kernel["name"])
        cut = re.search(r"[<(]", name)
        at = cut.start() if cut else len(name)
        kernel["name"] = f"{name[:at]}_v2{name[at:]}"
    return Truth((), (), 0.0, 0, ("no_change",))


def nothing(document: Document) -> Truth | None:
    """Let each kernel take up to 1 % longer or shorter, as from one recording to the next."""
    kernels = document.kernels()
    chance = np.random.default_rng(7)
    for factor in (0.99, 0.995, 1.005, 1.01):
        chosen = [kernel for kernel in kernels if chance.random() < 0.25]
        if chosen:
            document.scale(chosen, factor)
    return Truth((), (), 0.0, 0, ("no_change",))


def _layer(document: Document) -> tuple[list[Event], float, float] | None:
    """Return the kernels of one of the layers of a single step, when it begins, and when the next
    one does, in us; None without layers, and of one that is hardly any of the time."""
    kernels = document.kernels()
    names = {name: at for at, name in enumerate(dict.fromkeys(str(k["name"]) for k in kernels))}
    ids = np.array([names[str(kernel["name"])] for kernel in kernels], dtype="int64")
    layers = [repeat for _, repeat in walk(fold(ids)) if repeat.copies >= 8 and not repeat.lengths]
    if not layers or len(document.steps()) > 1:
        return None
    repeat = max(layers, key=lambda each: each.copies * each.period)
    first = repeat.start + repeat.period * (repeat.copies // 2)
    layer, following = kernels[first : first + repeat.period], kernels[first + repeat.period]
    if _total(layer) < _SEEN * _total(kernels):
        return None
    return layer, float(layer[0]["ts"]), float(following["ts"])


def _computes(kernel: Event) -> bool:
    return not re.search(r"mem(cpy|set)|nccl", str(kernel["name"]), re.IGNORECASE)


def _repeated(kernels: list[Event], share: float, *, heavy: bool = True) -> list[Event]:
    """Return the kernels of one name that runs at least 8 times and takes at least `share` of the
    time: of those the one that takes most, or least."""
    by_name: dict[str, list[Event]] = {}
    for kernel in kernels:
        if _computes(kernel):
            by_name.setdefault(str(kernel["name"]), []).append(kernel)
    times = {name: sum(float(each["dur"]) for each in of) for name, of in by_name.items()}
    whole = sum(times.values())
    usable = [name for name, of in by_name.items() if len(of) >= 8 and times[name] >= share * whole]
    if not usable:
        return []
    return by_name[(max if heavy else min)(usable, key=lambda name: times[name])]


def _total(kernels: list[Event]) -> float:
    return sum(float(each["dur"]) for each in kernels)


def _words(kernel: Event) -> tuple[str, ...]:
    """Return words of which a sentence about this kernel has one, in lower case."""
    name = str(kernel["name"])
    found = [family(name).lower()[:16]]  # a shortened name shows no more, or what it computes whole
    found += [functor.lower() for functor in _FUNCTOR.findall(name)]
    for pattern, words in _SAID.items():
        if re.search(pattern, name, re.IGNORECASE):
            found += words
    return tuple(found)


def _quiet_moments(document: Document) -> list[float]:
    """Return a moment in each step at which nothing runs on the device and all that was launched
    has run, so that the device waits for the host; of a file without steps one such moment."""
    kernels, launches = document.kernels(), document.launches()
    begins = np.array([float(each["ts"]) for each in kernels])
    ends = np.maximum.accumulate(begins + [float(each["dur"]) for each in kernels])
    launched = [launches.get(correlation(each)) for each in kernels]
    called = np.array([float(each["ts"]) if each else -np.inf for each in launched])
    gaps = np.flatnonzero((begins[1:] > ends[:-1] + 1) & (called[1:] > ends[:-1] + 0.5))
    moments = ends[gaps] + 0.25
    steps = [float(step["ts"]) for step in document.steps()]
    if len(steps) < 2:
        return moments[len(moments) // 2 :][:1].tolist()
    at = np.searchsorted(moments, steps)
    return sorted(set(moments[at[at < len(moments)]].tolist()))


def _launching_lane(document: Document) -> Event:
    """Return process and thread of most launches."""
    lanes: dict[tuple[object, object], int] = {}
    for call in document.launches().values():
        lane = (call["pid"], call["tid"])
        lanes[lane] = lanes.get(lane, 0) + 1
    pid, tid = max(lanes, key=lambda lane: lanes[lane])
    return {"pid": pid, "tid": tid}


def _is_before(event: Event, end: float, launched: set[object]) -> bool:
    """True for what belongs to the steps before `end`: kernels by their launch."""
    if not is_timed(event):
        return True
    if is_on_device(event) and correlation(event) is not None:
        return correlation(event) in launched
    return float(event["ts"]) < end


# What a colleague calls kernels whose names say it.
# What a kernel of PyTorch's elementwise operators computes, an argument of its template.
_FUNCTOR = re.compile(r"\b(\w*Functor\w*|\w+_kernel_cuda)\b")
_SAID = {
    r"softmax": ("softmax",),
    r"gemm|Cijk|nvjet|matmul|splitK": ("matrix product", "gemm"),
    r"fmha|flash|attention|sage": ("attention",),
    r"conv|dgrad|wgrad|cudnn|igemm": ("convolution",),
    r"norm|bn_": ("normalisation", "norm"),
}

PLANTS: dict[str, Plant] = {
    plant.__name__: plant
    for plant in (
        slower_kernel, faster_kernel, every_second, two_changes, new_kernels, gone_kernels,
        lost_fusion, fused, in_pieces, another_stream, slow_place, host_stall, synchronisation,
        clocks, shorter_window, fewer_layers, more_layers, renamed, nothing,
    )
}  # fmt: skip
