"""Pairs of records that are near each other: what is one is merged, what contradicts each other is resolved."""
