"""Extraction: reading what was said for what should be remembered, later and off the reply's path."""
