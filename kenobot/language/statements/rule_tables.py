"""Load the phrases and patterns by which plain statements are read."""

from kenobot.language.lexicon import join_phrases, load_tables

TABLES = load_tables(__package__, "rules.toml")
"""The tables of rules.toml."""

PHRASES = join_phrases(TABLES)
"""The phrases of rules.toml, each as the alternatives of one pattern."""
