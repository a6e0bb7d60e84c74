"""Adapters of cases about conversations and settings."""
