"""The composition root: wire the parts from settings, start and stop them."""
