"""Evaluate what memory keeps of fortnights in the lives of invented people."""
