"""The verbs of `kenobot` that serve the API alone."""
