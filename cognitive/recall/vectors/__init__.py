"""Vectors of texts: kept, compared, and never the truth."""
