"""Tell the message that breaks off a turn: a single word, `stop`, `para`, `cancel`, with a slash or without."""

from kenobot.ports.messages import Inbound

STOP_WORDS = ("stop", "para", "cancel", "cancelar")


def stop_word(text: str) -> str:
    """Return the word of a message that is nothing but one; "" for any other."""
    word = text.strip().casefold().removeprefix("/").rstrip(".!")
    return word if word in STOP_WORDS else ""


def ends(stop: Inbound, other: Inbound) -> bool:
    """Return whether `stop` speaks for an earlier message of its chat: in a group, each for their own."""
    return stop.private or stop.user == other.user
