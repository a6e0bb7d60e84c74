"""`procedural/patterns.json`."""
