"""Fleet: the traces of all ranks of a distributed job, and what is wrong with which rank."""
