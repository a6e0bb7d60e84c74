"""How much of a prompt's beginning answers need: `python -m bench.prefix`."""
