"""Properties of the agenda."""
