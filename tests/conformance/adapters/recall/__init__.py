"""Adapters of cases about recall."""
