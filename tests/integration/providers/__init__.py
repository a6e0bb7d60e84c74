"""Providers and embedders, against stand-ins."""
