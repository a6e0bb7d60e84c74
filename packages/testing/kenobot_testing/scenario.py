"""Scenarios: people that talk to a bot, and expectations about its prompts and files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_TOLERANCE = 0.005  # of a pattern's score


@dataclass(frozen=True, slots=True)
class Speaker:
    """A person in a chat. private: only that person reads the chat."""

    name: str
    user: str
    chat: str
    channel: str = "telegram"
    private: bool = True


@dataclass(frozen=True, slots=True)
class Expectation:
    """Condition that holds after a step.

    prompt, never: texts that the prompt's memory holds, and does not.
    nowhere: texts that stand neither in the prompt's memory nor in its conversation.
    there, without: by path, a text that the file holds, and does not.
    gone: files that do not exist.
    score: of the pattern that fits the message best; None when it does not matter.
    """

    prompt: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    nowhere: tuple[str, ...] = ()
    there: Mapping[str, str] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    score: float | None = None

    def find_missing(self, memory: str) -> list[str]:
        """Return the expected texts that the prompt's memory lacks."""
        return [text for text in self.prompt if text not in memory]

    def find_shown(self, memory: str, conversation: str = "") -> list[str]:
        """Return the unwanted texts that the prompt shows."""
        whole = f"{memory}\n{conversation}"
        return [text for text in self.never if text in memory] + [text for text in self.nowhere if text in whole]

    def unmet(self, memory: str, files: Mapping[str, str], best_score: float) -> Iterator[str]:
        """Return what does not hold, a sentence each."""
        yield from (f"the prompt's memory does not hold “{text}”" for text in self.find_missing(memory))
        yield from (f"the prompt's memory shows “{text}”" for text in self.find_shown(memory))
        yield from (
            f"{path} does not hold “{text}”" for path, text in self.there.items() if text not in files.get(path, "")
        )
        yield from (f"{path} holds “{text}”" for path, text in self.without.items() if text in files.get(path, ""))
        yield from (f"{path} is still there" for path in self.gone if path in files)
        if self.score is not None and abs(best_score - self.score) > _TOLERANCE:
            yield f"the pattern that fits best scores {best_score:.2f}, not {self.score:.2f}"
