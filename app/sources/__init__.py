"""Where files come from: places, uploads, what stands on a side, what was loaded."""
