"""Names that people chose for themselves, made fit to stand beside what they said."""

import unicodedata

_LONGEST_NAME = 40


def sanitize_name(name: str) -> str:
    """A name that a stranger chose, fit to be shown: letters, figures, and little else; no address, no second line."""
    letters = (char for char in unicodedata.normalize("NFKC", name[:400]))
    kept = "".join(char if unicodedata.category(char)[0] in "LMN" or char in "-'’" else " " for char in letters)
    return " ".join(kept.split())[:_LONGEST_NAME].rstrip()
