"""Records the two traces: `python model.py eager`, and with TORCH_TRACE and INDUCTOR_PROVENANCE set
`python model.py compiled`."""

import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n, self.n2 = nn.LayerNorm(64), nn.LayerNorm(64)
        self.q, self.o = nn.Linear(64, 192), nn.Linear(64, 64)
        self.a, self.b = nn.Linear(64, 256), nn.Linear(256, 64)
        self.d = nn.Dropout(0.1)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.q(self.n(x)).view(b, t, 3, 4, 16).permute(2, 0, 3, 1, 4).unbind(0)
        a = torch.softmax(q @ k.transpose(-2, -1) / 4.0, -1) @ v
        x = x + self.d(self.o(a.transpose(1, 2).reshape(b, t, c)))
        return x + self.b(F.gelu(self.a(self.n2(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.h = nn.Embedding(100, 64), nn.Linear(64, 100)
        self.l = nn.ModuleList([Block(), Block()])

    def forward(self, i):
        x = self.e(i)
        for block in self.l:
            x = block(x)
        return torch.log_softmax(self.h(x)[:, -1], -1)


mode = sys.argv[1]
torch.manual_seed(0)
torch.set_num_threads(1)
model, data = Model().eval(), torch.randint(0, 100, (4, 32))
if mode == "compiled":
    torch._inductor.config.cpp.enable_kernel_profile = True
    model = torch.compile(model)
steps = schedule(wait=0, warmup=1, active=3, repeat=1)
with torch.no_grad():
    for _ in range(3):
        model(data)
    with profile(
        activities=[ProfilerActivity.CPU], record_shapes=True, with_flops=True, schedule=steps
    ) as prof:
        for _ in range(4):
            model(data)
            prof.step()
prof.export_chrome_trace(f"{mode}.json")
