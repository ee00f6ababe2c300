"""Seeded mutations of every sample: a trace or one sentence, nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import miniatures
from tests.security.mutations import mutated

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("count", [2, pytest.param(200, marks=pytest.mark.exhaustive)])
def test_damaged_files_give_a_trace_or_one_sentence(count: int) -> None:
    command = [sys.executable, "-m", "tests.security.fuzz", "--count", str(count), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 3), done.stderr[-2000:]
    outcomes = json.loads(done.stdout)
    failures = [
        f"{one['format']} {one['file']} {line}" for one in outcomes for line in one["failures"]
    ]
    assert failures == []
    for reader in miniatures.FORMATS:
        mine = [one for one in outcomes if one["format"] == reader.name]
        assert sum(one["count"] for one in mine) == count, reader.name
        if count >= 100:
            assert sum(one["traces"] for one in mine) > count / 20, (
                "damage that nothing survives tests little"
            )


def test_the_same_seed_does_the_same_damage() -> None:
    data = b'{"ts": "12.5", "dur": 3, "name": "a,b\\n"}\n' * 20
    assert [mutated(data, seed) for seed in range(50)] == [mutated(data, s) for s in range(50)]
    assert sum(mutated(data, seed) != data for seed in range(50)) > 40
