"""Holds a server under load and abuse, and tells whether it bore it. `make soak`; see ../README.md."""
