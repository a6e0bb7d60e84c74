"""Pruning: archive or expire what no longer helps; nothing that matters is lost."""
