"""Tries that cannot be recorded: the recording goes on without them, and says why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Try
from fusescope.analysis.messages import language
from fusescope.collectors.variants import Variant

_CUT, _KERNEL = "segments:", "custom:"


class NothingTried(FuseScopeError):
    """No try of a recording can be recorded: the first's error, and all `tries` with theirs."""

    def __init__(self, first: FuseScopeError, tries: tuple[Try, ...]) -> None:
        super().__init__(first.code, where=first.where, **first.values)
        self.tries = tries


class Refused:
    """`asked` are the tries of a recording, `by_name` those that failed, each with its error."""

    def __init__(self, asked: Sequence[Try]) -> None:
        self._asked = asked
        self._chosen: set[str] = set()
        self.by_name: dict[str, FuseScopeError] = {}

    def choose(self, names: Iterable[str]) -> None:
        """Variants that the recording chose by itself: one that fails is left out too."""
        self._chosen.update(names)

    @property
    def chosen(self) -> dict[str, FuseScopeError]:
        """Those of them that failed."""
        return {name: error for name, error in self.by_name.items() if name in self._chosen}

    @contextmanager
    def unless(self, variant: str) -> Iterator[None]:
        """What may fail for a variant: of a try, or of what the recording chose, the error is
        kept, of any other raised."""
        try:
            yield
        except FuseScopeError as error:
            name = self._try_of(variant)
            if name is None:
                raise
            self.by_name.setdefault(name, error)

    def left(self, planned: Sequence[Variant]) -> tuple[Variant, ...]:
        """The variants without those of refused tries. Raises NothingTried where none but the
        baseline is left."""
        left = tuple(one for one in planned if self._try_of(one.name) not in self.by_name)
        if self.by_name and len(left) < 2:
            raise NothingTried(next(iter(self.by_name.values())), self.tries)
        return left

    @property
    def tries(self) -> tuple[Try, ...]:
        """All of them, with why there is no variant; in English, as the experiment has it."""
        with language.speaking(language.ENGLISH):
            return tuple(
                msgspec.structs.replace(one, refused=self.by_name[one.variant].what)
                if one.variant in self.by_name
                else one
                for one in self._asked
            )

    def _try_of(self, variant: str) -> str | None:
        """The try that a variant is recorded for, or itself where the recording chose it: a
        kernel's try also brings its cut."""
        names = [*(one.variant for one in self._asked), *self._chosen]
        kernel = _KERNEL + variant.removeprefix(_CUT) if variant.startswith(_CUT) else variant
        return next((name for name in (variant, kernel) if name in names), None)
