"""Recognise that a statement changes an earlier one, and which part of it."""
