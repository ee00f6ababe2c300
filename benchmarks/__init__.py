"""Speed of FuseScope itself: `make bench`. Not asserted anywhere, since machines differ."""
