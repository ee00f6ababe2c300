"""What can limit a run: one file for each kind of finding."""

from __future__ import annotations
