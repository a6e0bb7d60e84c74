"""Pruning: what no longer helps leaves the way, and nothing that matters is lost."""
