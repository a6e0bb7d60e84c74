"""Channels against real servers of their platforms, or stand-ins of their wire."""
