"""The words of trees: the time of one trace, and the model of two."""
