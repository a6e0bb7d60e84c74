"""Limits on what a turn may do: the lethal-trifecta guard, URL detection."""
