"""Writes the pairs beside this file: profiles of PyTorch and of Ascend, their times invented.

The host needs time to start an operator, the device runs what was started in that order, and a
call that waits holds the host until the device is done: the gaps follow from that.
"""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent
STEPS = 3
NOTE = "A miniature, written by hand for FuseScope; every number is invented."
ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, at::native::{}>(int, {})"
SHAPE = [8, 1024, 1024]
MIB = 1024**2


class Profile:
    """A Kineto trace of one host thread and one stream."""

    def __init__(self) -> None:
        self.events: list[dict[str, object]] = []
        self.host_us = 100.0
        self.device_us = 0.0
        self.number = 0
        self.allocated = 0

    def _add(self, cat: str, name: str, start: float, dur: float, **args: object) -> None:
        on_device = cat in ("kernel", "gpu_memcpy")
        self.events.append(
            {
                "ph": "X", "cat": cat, "name": name, "pid": 0 if on_device else 1,
                "tid": 7 if on_device else 1, "ts": round(start, 3), "dur": round(dur, 3),
                "args": args,
            }
        )  # fmt: skip

    def step(self, number: int, start_us: float) -> None:
        """The mark of a step that ends now."""
        self._add("user_annotation", f"ProfilerStep#{number}", start_us, self.host_us - start_us)

    def op(
        self, name: str, shapes: list[list[int]], kernel: str, dur_us: float, host_us: float
    ) -> None:
        """An operator that takes the host this long to start, and its kernel."""
        self.number += 1
        link = {"External id": self.number}
        kinds = {"Input Dims": shapes, "Input type": ["float"] * len(shapes)}
        self._add("cpu_op", name, self.host_us, host_us, **link, **kinds)
        self._launch(kernel, dur_us, self.host_us + 0.6 * host_us, link)
        self.host_us += host_us + 1

    def _launch(self, kernel: str, dur_us: float, at_us: float, link: dict[str, int]) -> None:
        correlation = {"correlation": 100 + len(self.events)}
        call = "cudaLaunchKernel"
        self._add("cuda_runtime", call, at_us, 3, **link, **correlation)
        start = max(at_us + 5, self.device_us + 0.8)
        self._add("kernel", kernel, start, dur_us, device=0, stream=7, **link, **correlation)
        self.device_us = start + dur_us

    def graph(self, kernels: list[tuple[str, float]]) -> None:
        """All kernels with one call of the host."""
        correlation = {"correlation": 100 + len(self.events)}
        self._add("cuda_runtime", "cudaGraphLaunch", self.host_us, 12, **correlation)
        start = max(self.host_us + 8, self.device_us + 0.8)
        for kernel, dur_us in kernels:
            self._add("kernel", kernel, start, dur_us, device=0, stream=7, **correlation)
            start += dur_us + 0.8
        self.device_us = start - 0.8
        self.host_us += 15

    def wait(self, name: str) -> None:
        """The host reads a value of the device, and cannot go on before it is there."""
        self.number += 1
        link = {"External id": self.number}
        begin = self.host_us
        correlation = {"correlation": 100 + len(self.events)}
        start = max(begin + 6, self.device_us + 0.8)
        self._add("cuda_runtime", "cudaMemcpyAsync", begin + 2, 3, **link, **correlation)
        self._add(
            "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", start, 1.5, device=0, stream=7,
            bytes=4, **link, **correlation,
        )  # fmt: skip
        self.device_us = start + 1.5
        waited = self.device_us + 3 - (begin + 6)
        self._add("cuda_runtime", "cudaStreamSynchronize", begin + 6, waited, **link)
        self.host_us = self.device_us + 5
        self._add("cpu_op", name, begin, self.host_us - begin, **link)

    def load(self, loader: str, dur_us: float) -> None:
        """The host takes this long to get the next batch from a loader."""
        name = f"enumerate(DataLoader)#_{loader}DataLoaderIter.__next__"
        self._add("user_annotation", name, self.host_us, dur_us)
        self.host_us += dur_us + 1

    def synchronize(self) -> None:
        """The end of a step, as torch.cuda.synchronize."""
        waited = max(2.0, self.device_us - self.host_us + 3)
        self._add("cuda_runtime", "cudaDeviceSynchronize", self.host_us, waited)
        self.host_us += waited

    def memory(self, size: int) -> None:
        """An allocation of the device, or, below 0, a release."""
        self.allocated += size
        self.events.append(
            {
                "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1,
                "tid": 1, "ts": round(self.host_us, 3),
                "args": {
                    "Total Allocated": self.allocated, "Total Reserved": 1024 * MIB,
                    "Bytes": size, "Device Id": 0, "Device Type": 1,
                },
            }
        )  # fmt: skip

    def write(self, path: str) -> None:
        """As JSON, an event a line."""
        head = {
            "note": NOTE, "schemaVersion": 1, "record_shapes": 1, "displayTimeUnit": "ms",
            "deviceProperties": [{"id": 0, "name": "NVIDIA Example GPU"}],
            "baseTimeNanoseconds": 1_790_857_026_000_000_000,
        }  # fmt: skip
        lines = ",\n".join(json.dumps(event) for event in self.events)
        text = json.dumps(head)[:-1] + ', "traceEvents": [\n' + lines + "\n]}\n"
        target = HERE / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def elementwise(functor: str) -> str:
    """The name that PyTorch's kernel for one elementwise operation has."""
    return ELEMENTWISE.format(functor, functor)


def light_chains() -> None:
    """x · sigmoid(x · scale + shift), one kernel each, and what torch.compile makes of it."""
    for name in ("before", "after"):
        profile = Profile()
        for step in range(STEPS):
            start = profile.host_us
            gemm = "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_kernel"
            profile.op("aten::mm", [[8192, 1024], [1024, 1024]], gemm, 62, 20)
            if name == "before":
                for op, inputs, functor, dur_us in (
                    ("aten::mul", [SHAPE, [1024]], "BinaryFunctor<float, MulFunctor>", 26.5),
                    ("aten::add", [SHAPE, [1024]], "CUDAFunctor_add<float>", 26.3),
                    ("aten::sigmoid", [SHAPE], "sigmoid_kernel_cuda<float>", 26.1),
                    ("aten::mul", [SHAPE, SHAPE], "BinaryFunctor<float, MulFunctor>", 39.2),
                ):
                    profile.op(op, inputs, elementwise(functor), dur_us, 9)
            else:
                fused = "triton_poi_fused_add_mul_sigmoid_0"
                profile.op(fused, [SHAPE, [1024], [1024]], fused, 28.4, 14)
            profile.synchronize()
            profile.step(step + 6, start)
            profile.host_us += 2
        profile.write(f"light_chains/{name}.json")


# Operator, shapes, kernel, its time: the small kernels of one layer of a small transformer.
LAYER = (
    ("aten::addmm", [[256], [128, 256], [256, 256]], "ampere_bf16_s16816gemm_64x64", 4.8),
    ("aten::add", [[1, 128, 256], [1, 128, 256]], elementwise("CUDAFunctor_add<float>"), 1.9),
    ("aten::native_layer_norm", [[1, 128, 256]], "vectorized_layer_norm_kernel<float>", 2.6),
    ("aten::addmm", [[1024], [128, 256], [256, 1024]], "ampere_bf16_s16816gemm_128x64", 6.1),
    ("aten::gelu", [[1, 128, 1024]], elementwise("GeluCUDAKernelImpl<float>"), 2.2),
    ("aten::addmm", [[256], [128, 1024], [1024, 256]], "ampere_bf16_s16816gemm_64x64", 7.0),
)  # fmt: skip


def dispatch_bound() -> None:
    """Two such layers, each operator started by the host, and as one CUDA graph."""
    for name in ("before", "after"):
        profile = Profile()
        for step in range(STEPS):
            start = profile.host_us
            if name == "before":
                for op, shapes, kernel, dur_us in LAYER * 2:
                    profile.op(op, shapes, kernel, dur_us, 24)
            else:
                profile.graph([(kernel, dur_us) for _, _, kernel, dur_us in LAYER * 2])
            profile.synchronize()
            profile.step(step + 6, start)
            profile.host_us += 2
        profile.write(f"dispatch_bound/{name}.json")


def host_waits() -> None:
    """Four blocks, with a value read after each (`if mask.any():`), and without."""
    for name in ("before", "after"):
        profile = Profile()
        for step in range(STEPS):
            start = profile.host_us
            for _ in range(4):
                gemm = "ampere_bf16_s16816gemm_128x128"
                for op in ("aten::mm", "aten::mm"):
                    profile.op(op, [[4096, 1024], [1024, 1024]], gemm, 55, 14)
                relu = elementwise("launch_clamp_scalar<float>")
                profile.op("aten::relu", [[4096, 1024]], relu, 12, 9)
                if name == "before":
                    profile.wait("aten::item")
            profile.synchronize()
            profile.step(step + 6, start)
            profile.host_us += 2
        profile.write(f"host_waits/{name}.json")


def idle_by_host() -> None:
    """Four products on each batch, which the host prepares itself, and which others prepare."""
    loaders = {"before": ("SingleProcess", 190), "after": ("MultiProcessing", 9)}
    for name, (loader, dur_us) in loaders.items():
        profile = Profile()
        for step in range(STEPS):
            start = profile.host_us
            profile.load(loader, dur_us)
            for _ in range(4):
                gemm = "ampere_bf16_s16816gemm_128x128"
                profile.op("aten::mm", [[4096, 1024], [1024, 1024]], gemm, 55, 14)
            profile.synchronize()
            profile.step(step + 6, start)
            profile.host_us += 2
        profile.write(f"idle_by_host/{name}.json")


def peak_memory() -> None:
    """A classifier over a large vocabulary: all scores at once, and an eighth at a time."""
    for name, parts in (("before", 1), ("after", 8)):
        profile = Profile()
        for step in range(STEPS):
            start = profile.host_us
            if not step:
                profile.memory(220 * MIB)  # weights, and what the caller holds
            for _ in range(6):
                profile.memory(8 * MIB)
                gemm = "ampere_bf16_s16816gemm_128x128"
                profile.op("aten::mm", [[4096, 512], [512, 512]], gemm, 30, 28)
                profile.memory(-8 * MIB)
            for _ in range(parts):
                rows = 4096 // parts
                size = rows * 32_000 * 4
                profile.memory(size)
                gemm = "ampere_bf16_s16816gemm_256x128"
                shapes = [[rows, 512], [512, 32_000]]
                profile.op("aten::mm", shapes, gemm, 330 / parts + 1, 25)
                soft = "void softmax_warp_forward<float, float, float, 10, true, false>(float)"
                profile.op("aten::_log_softmax", [[rows, 32_000]], soft, 350 / parts + 1, 15)
                profile.memory(-size)
            profile.synchronize()
            profile.step(step + 6, start)
            profile.host_us += 2
        profile.write(f"peak_memory/{name}.json")


HEADER = (
    "Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,"
    "Start Time(us),Duration(us),Wait Time(us),Block Num,Input Shapes,Input Data Types,"
    "Input Formats,Output Shapes,Output Data Types,Output Formats"
)
# Name, type, core, shapes in and out, time, and the gap before it while the host is behind.
NPU_LAYER = (
    ("aclnnMatmul_MatMulV3Common_MatMulV3", "MatMulV3", "AI_CORE",
     "512,1024;1024,1024", "512,1024", 34.0, 9.5),
    ("aclnnAdd_AddAiCore_Add", "Add", "AI_VECTOR_CORE", "512,1024;1024", "512,1024", 6.5, 7.0),
    ("aclnnGelu_GeluAiCore_Gelu", "Gelu", "AI_VECTOR_CORE", "512,1024", "512,1024", 7.5, 6.0),
    ("aclnnRmsNorm_RmsNorm_RmsNorm", "RmsNorm", "AI_VECTOR_CORE",
     "512,1024;1024", "512,1024;512,1", 8.0, 11.0),
)  # fmt: skip


def idle_time() -> None:
    """Three layers whose operators the host starts too late, and with the queue filled ahead."""
    for name in ("before", "after"):
        lines = [HEADER]
        at_us = 1_751_000_000_000_100.0
        for step in range(STEPS):
            for number, row in enumerate(NPU_LAYER * 3):
                op, kind, core, shapes, out, dur_us, gap_us = row
                gap_us = gap_us if name == "before" else 0.75
                at_us += gap_us
                inputs = shapes.count(";") + 1
                outputs = out.count(";") + 1
                cells = (
                    step + 11, 0, 4294967295, 100 + number, 2, op, kind, "dynamic", core,
                    f"{at_us:.3f}\t", dur_us, gap_us, 20, f'"""{shapes}"""',
                    ";".join(["DT_BF16"] * inputs), ";".join(["ND"] * inputs), f'"""{out}"""',
                    ";".join(["DT_BF16"] * outputs), ";".join(["ND"] * outputs),
                )  # fmt: skip
                lines.append(",".join(map(str, cells)))
                at_us += dur_us
            at_us += 3
        target = HERE / "idle_time" / name / "kernel_details.csv"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Write all pairs anew."""
    for pair in (
        light_chains, dispatch_bound, host_waits, idle_by_host, peak_memory, idle_time,
    ):  # fmt: skip
        pair()


if __name__ == "__main__":
    main()
