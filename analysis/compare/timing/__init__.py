"""Times of a side: runs, samples, intervals, and the verdict on two sides."""
