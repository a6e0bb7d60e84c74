"""Analyze a question: the kind and the type of its answer, its keywords and its relationships."""
