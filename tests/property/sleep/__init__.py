"""Properties of sleep."""
