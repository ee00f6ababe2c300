"""Runs a small transformer block with torch.compile and prints how long a step takes.

    TORCH_COMPILE_DISABLE=1   torch's own switch: the same code, eagerly
    PROFILE=1                 write a trace of torch.profiler into the folder of FUSESCOPE_TRACE_DIR

    fusescope collect --command "python torch_compile.py" --env TORCH_COMPILE_DISABLE=1,0 \\
        --names eager,compiled --profile-env PROFILE=1 --time "step: {value} ms"
"""

import os
import time
from pathlib import Path

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

WIDTH, TOKENS, STEPS, PROFILED = 256, 128, 30, 5


class Block(nn.Module):
    """Attention and a feed-forward part, each behind a normalisation."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.first(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(nn.functional.gelu(self.up(self.second(x)), approximate="tanh"))


def main() -> None:
    """Warm up, then as many steps, profiled or timed."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    step = torch.compile(Block().eval())
    x = torch.randn(1, TOKENS, WIDTH)
    with torch.inference_mode():
        for _ in range(5):
            step(x)
        if os.environ.get("PROFILE") == "1":
            steps = schedule(wait=0, warmup=2, active=PROFILED, repeat=1)
            with profile(
                activities=[ProfilerActivity.CPU], schedule=steps, record_shapes=True
            ) as profiler:
                for _ in range(2 + PROFILED):
                    step(x)
                    profiler.step()
            folder = Path(os.environ.get("FUSESCOPE_TRACE_DIR", "."))
            profiler.export_chrome_trace(str(folder / "block.pt.trace.json"))
            return
        times = []
        for _ in range(STEPS):
            begun = time.perf_counter()
            step(x)
            times.append(time.perf_counter() - begun)
    print(f"step: {sorted(times)[STEPS // 2] * 1e3:.4f} ms")


if __name__ == "__main__":
    main()
