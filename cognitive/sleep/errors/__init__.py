"""Errors: what went wrong becomes lessons."""
