"""Providers and embedders: Anthropic, the offline rules, models in this process, and servers behind HTTP."""
