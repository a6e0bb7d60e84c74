"""Adapters of cases about memory."""
