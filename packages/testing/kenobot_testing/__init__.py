"""Fakes and contract suites, for tests of KenoBot and of its plugins."""
