"""One recording: what is asked for, what comes before the first block, the blocks."""
