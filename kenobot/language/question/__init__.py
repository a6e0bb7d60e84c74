"""Analyze a question: its keywords, its period, and how many turns an answer needs."""
