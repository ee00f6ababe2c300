"""The host in recordings of an NPU: what its threads did, its waits, and when it launched."""
