"""Our own fusion pass: places in the model, rewritten as one operator where the rules allow it.

`rules` and `registry` say what is wanted and what is known, `passes` applies it, `verification`
runs every rewritten group against the original one, `opening` tries other sizes before the model
is written, `report` is what there is to tell.
"""
