"""Vectors of texts: store and compare them. They can always be made again from the texts."""
