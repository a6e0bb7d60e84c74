"""Simulated years: what becomes of memory, its files, its prompts and its nights when somebody talks every day."""
