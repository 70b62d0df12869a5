"""How close counts come to what providers billed for recorded requests, ours and other counters'.

`python -m benchmarks.accuracy --help` says how it is run, `benchmarks/README.md` how such recordings
are gathered.
"""
