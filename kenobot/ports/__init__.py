"""The seams: all a plugin may import, a module each. Imports nothing of the house.

Messages are frozen dataclasses; interfaces are Protocols, so that a plugin needs no base class.

identity: who speaks, and scopes. messages: what comes in and goes out. channel, provider, embedder, postprocessor:
what a plugin implements. memory: candidates and decisions. records, recall, explanations, memory_changes, memory_files,
nights, turns: the values that memory takes and gives. plugin: what an entry point holds. signals, clock, errors.
"""
