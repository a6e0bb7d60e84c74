"""Recall: find what memory holds for a message, rank it, and write it into the prompt."""
