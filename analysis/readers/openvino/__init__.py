"""OpenVINO: execution graphs and performance counters."""
