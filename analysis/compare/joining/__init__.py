"""Which operator of one side is which of the other; nothing is dropped."""
