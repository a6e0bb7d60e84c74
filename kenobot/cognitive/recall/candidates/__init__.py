"""Collect candidates for a question: by words, by vectors and along the links of records."""
