"""Serve what people do to memory: find, explain, undo, forget, purge, react, export."""
