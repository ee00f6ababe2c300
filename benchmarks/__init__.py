"""Speed of FuseScope itself: `make bench`. Not asserted anywhere, since machines differ."""

import fusescope.collectors  # noqa: F401 - the engine's telemetry is off before anything here loads it
