"""What is measured with a size of the latest notes that prompts begin with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PrefixRow:
    """A size of the latest notes. Tokens: of the prompt for "hello", of the mean prompt. Others: shares, 0 to 1."""

    recent_tokens: int
    hello: int
    prompt: float
    cached: float
    month_failures: int
    years: float
    notes: float
    notes_by_words: float
    outdated: int
    talks: float
