"""Observers that ship: they listen to the signals, and tell others."""
