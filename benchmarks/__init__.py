"""Measures the service beside its peers, in one run, on this machine. See README.md."""
