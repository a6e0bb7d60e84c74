"""Models that run on this machine: embedders, and a transcriber."""
