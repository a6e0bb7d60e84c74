"""A long run of a real process: is anything lost, doubled or growing? `python -m tests.soak --help` says how."""
