"""Define the texts that a prompt shows, by whose they are."""

from collections.abc import Callable, Iterable

from kenobot.ports.frozen import dataclass


@dataclass(frozen=True, slots=True)
class ShownTexts:
    """Group the texts of a prompt by their origin.

    everything: all of them. private: memory and history. others: what else was said. own: the speaker's messages, this
    one first. replies: the model's own in the history. recalled: others' words that memory shows. only_recalled: no
    others' words are on show but these.
    """

    everything: Callable[[], Iterable[str]]
    private: Callable[[], Iterable[str]] = tuple
    others: Callable[[], Iterable[str]] = tuple
    own: Callable[[], Iterable[str]] = tuple
    replies: Callable[[], Iterable[str]] = tuple
    recalled: Callable[[], Iterable[str]] = tuple
    only_recalled: bool = False
