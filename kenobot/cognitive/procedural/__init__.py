"""Procedural memory: what to do when something happens, learned from problems that were solved."""
