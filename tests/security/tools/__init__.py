"""Attacks that come by what tools bring, and harmless uses of the same tools."""
