"""Desk: where timelines in browsers ask about what they draw, without a run of their page.

A tab has a ticket, without which nothing is answered, and asks about what was drawn for it alone.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from fusescope.analysis.timeline.drawing import Drawing

_MAX_TICKETS = 1000


class Desk:
    """The drawings of every tab, for as long as something else holds them; `is_served` while there
    is a route to ask by."""

    def __init__(self) -> None:
        self.is_served = False
        self._lock = threading.Lock()
        self._drawn: OrderedDict[str, WeakValueDictionary[str, Drawing]] = OrderedDict()

    def ticket(self) -> str:
        """A new ticket; with many of them that which was used longest ago is none any more."""
        ticket = secrets.token_hex(16)
        with self._lock:
            self._drawn[ticket] = WeakValueDictionary()
            if len(self._drawn) > _MAX_TICKETS:
                self._drawn.popitem(last=False)
        return ticket

    def knows(self, ticket: str) -> bool:
        """Whether this is a ticket."""
        with self._lock:
            return ticket in self._drawn

    def draw(self, ticket: str, drawing: Drawing) -> None:
        """The tab with this ticket shows this drawing."""
        with self._lock:
            if ticket in self._drawn:
                self._drawn.move_to_end(ticket)
                self._drawn[ticket][drawing.id] = drawing

    def drawing(self, ticket: str, id_: str) -> Drawing | None:
        """What the tab with this ticket shows under this id; None where it is gone."""
        with self._lock:
            return self._drawn[ticket].get(id_) if ticket in self._drawn else None


DESK = Desk()
