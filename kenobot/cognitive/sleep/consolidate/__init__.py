"""Consolidation: what was said becomes what is known."""
