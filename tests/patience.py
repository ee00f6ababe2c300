"""How long a test waits for what has to come: a guard against hanging, no measure of speed.

A machine that builds other things beside the tests stands still for half a minute at times.
"""

GIVE_UP_S = 180
