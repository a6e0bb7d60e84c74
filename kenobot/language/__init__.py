"""Pure functions over text, in Spanish and English: words, days, statements, changes, facts, questions."""
