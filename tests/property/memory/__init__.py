"""Properties of memory: what is admitted, changed, found and forgotten."""
