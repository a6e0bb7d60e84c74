"""Embedders: models in this process, and servers behind HTTP."""
