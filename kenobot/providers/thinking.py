"""Leave out what a model thinks aloud, where a server passes that on in the text of its answer.

It comes between tags at the beginning; between tags that begin a line, further on; or before a closing tag alone,
because the opening one was in the prompt. Tags of which a text only speaks, in code or in a sentence, stay.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from kenobot.core import lazy

_NAMES: Final = ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think", "antthinking")
_FINAL: Final = "<|channel|>final<|message|>"
_HARMONY_CALL: Final = r"|(?=<\|channel\|>commentary to=)"
_PAIRS: Final[Mapping[str, str]] = {
    **{f"<{name}>": f"</{name}>" for name in _NAMES},
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|start_thinking|>": "<|end_thinking|>",
    "<|channel>thought": "<channel|>",
    "<|channel|>analysis": _FINAL,
    "<|start|>assistant<|channel|>analysis": _FINAL,
}
"""What opens a thought and what closes it, of one model or another, in small letters but for brackets."""
_NOISE: Final = ("<|return|>", "<|end|>", "<|start_response|>", "<|end_response|>")
"""Marks around the answer of a model whose thoughts close with one of `_MARKED`."""
_MARKED: Final = (_FINAL, "<|end_thinking|>")
_TAGS: Final = (*_PAIRS, *dict.fromkeys(_PAIRS.values()), *_NOISE)
_LONGEST: Final = max(map(len, _TAGS))
_TAG: Final = lazy.regex("(?i)" + "|".join(map(re.escape, sorted(_TAGS, key=len, reverse=True))))
_STRIPPED, _STRIPPED_END = "analysis", "assistantfinal"  # harmony, of which the marks were left out
_QUOTES: Final = "`'\"«»“”‘’"
_MOST_HELD: Final = 200_000
_LINE: Final = 2000  # letters of a line that are looked at


_OPENERS: Final = lazy.regex(
    r"(?i)gemma|llama|mistral|mixtral|ministral|devstral|codestral|phi-?[34]|smollm|granite|command-?[ra]|gpt-oss"
    r"|qwen-?2|olmo-?2"
)
_UNOPENED: Final = lazy.regex(r"(?i)think|reason|distill|deepseek|nemotron|qwq|cot|(?<![a-z])r1(?![0-9])")


def opens_thoughts(model: str) -> bool:
    """Return whether a model is of a family that opens its thoughts with a tag, or has none."""
    return bool(_OPENERS.search(model) and not _UNOPENED.search(model))


class Passed(NamedTuple):
    """What may be passed on. replaces: all that was passed on before was a thought."""

    text: str
    replaces: bool = False


class ThinkingFilter:
    """Passes a text on as it arrives, but for thoughts and the blanks after them.

    holds: pass nothing on before a closing tag, or the end: the model is likely to think without an opening one.
    has_orphan: there was a closing tag of that kind.
    """

    def __init__(self, *, holds: bool = False) -> None:
        self.has_orphan = False
        self._holds = holds
        self._held = ""
        self._kept: list[str] = []  # bounded: 200,000 letters; test_a_text_is_held_up_to_a_length
        self._thought: list[str] = []  # bounded: as long as the answer; turn
        self._size = 0
        self._place: Literal["start", "thought", "answer"] = "start"
        self._closing = ""
        self._returns = False  # what is in a thought, if it is not closed
        self._marked = self._replaces = False
        self._spoken_of: set[str] = set()  # bounded: the tags there are; turn
        self._line = ""
        self._fenced = False

    def release(self) -> None:
        """Hold nothing back for a closing tag any more: the model opens its thoughts, or has them apart."""
        self._holds = False

    def take(self, text: str) -> Passed:
        """Return what may be passed on, now that `text` has arrived."""
        self._held += text
        return self._read(at_end=False)

    def rest(self) -> Passed:
        """Return what was held back for a tag that did not come."""
        text, replaces = self._read(at_end=True)
        thought = [*self._thought, self._held] if self._place == "thought" and self._returns else []
        rest, self._kept, self._held = "".join((*self._kept, *thought)), [], ""
        return Passed(text + rest, replaces)

    def _read(self, *, at_end: bool) -> Passed:
        out: list[str] = []
        self._replaces = False
        goes_on = True
        while goes_on:
            if self._place == "start":
                goes_on = self._start(at_end)
            elif self._place == "thought":
                goes_on = self._skip_thought()
            else:
                goes_on = self._answer(out, at_end)
        return Passed("".join(out), self._replaces)

    def _start(self, at_end: bool) -> bool:
        """Look for a thought; False where more of the text has to come first."""
        begun = self._held.lstrip()
        low = _lower_tag(begun[:_LONGEST])
        opening = next((opening for opening in _PAIRS if low.startswith(opening)), "")
        if opening:
            self.release()
            self._begin(_PAIRS[opening], begun[len(opening) :])
        elif begun.startswith(_STRIPPED) and begun[len(_STRIPPED) :][:1].isupper():
            self._begin(_STRIPPED_END, begun[len(_STRIPPED) :], _STRIPPED)
        elif not at_end and any(each.startswith(low) for each in (*_PAIRS, _STRIPPED)):
            return False
        else:
            self._place = "answer"
            self._held = begun if self._closing else self._held
        return True

    def _begin(self, closing: str, behind: str, returning: str = "") -> None:
        """Begin a thought. returning: its opening, which comes back with it if it is not closed; "" for never."""
        self._place, self._closing, self._held = "thought", closing, behind
        self._returns, self._thought = bool(returning), [returning]
        self._marked |= closing in _MARKED

    def _skip_thought(self) -> bool:
        calls = _HARMONY_CALL if self._closing == _FINAL else ""  # which comes after a thought, too
        if found := re.search(re.escape(self._closing) + calls, self._held, re.IGNORECASE):
            self._held, self._place = self._held[found.end() :], "start"
            return True
        # A thought may be long: of one that does not come back only a tag that is cut in two is needed.
        if self._returns:
            self._thought.append(self._held[:-_LONGEST])
        self._held = self._held[-_LONGEST:]
        return False

    def _answer(self, out: list[str], at_end: bool) -> bool:
        """Pass text on up to a tag, and see what that is; False where more of the text has to come first."""
        found = _TAG.search(self._held)
        if found is None or (not at_end and len(self._held) - found.end() < 2):  # what follows a tag tells what it is
            cut = found.start() if found else len(self._held) - (0 if at_end else _measure_begun_tag(self._held))
            self._pass(out, self._held[:cut])
            self._held = self._held[cut:]
            return False
        tag, low, behind = found[0], _lower_tag(found[0]), self._held[found.end() :]
        self._pass(out, self._held[: found.start()])
        self._held = behind
        if low in _PAIRS and not self._line.strip() and not self._fenced:
            self._begin(_PAIRS[low], behind, tag)
        elif low in _PAIRS.values() and self._is_orphan(low, behind):
            self._take_back(out, low)
        elif low not in _NOISE or not self._marked:
            self._spoken_of.add(_PAIRS.get(low, ""))
            self._pass(out, tag)
        return True

    def _is_orphan(self, tag: str, behind: str) -> bool:
        """Return whether a closing tag ends a thought whose opening was in the prompt."""
        before, after, words = self._line[-1:], behind[:1], self._line.rstrip()
        if tag in self._spoken_of or self._fenced or self._line.count("`") % 2:
            return False
        if before and after and before in _QUOTES and after in _QUOTES:
            return False
        in_sentence = after in tuple(",.;:?!)") or (after == " " and behind[1:2].islower())
        return not (words and before == " " and in_sentence)

    def _take_back(self, out: list[str], tag: str) -> None:
        """Take all so far for a thought."""
        out.clear()
        self._kept.clear()
        self._replaces = not self._holds
        self._holds, self.has_orphan = False, True
        self._place, self._closing, self._line = "start", tag, ""
        self._marked |= tag in _MARKED

    def _pass(self, out: list[str], text: str) -> None:
        *ended, line = (self._line + text).split("\n")
        for each in ended:
            self._fenced ^= each.lstrip().startswith(("```", "~~~"))
        self._line = line[-_LINE:]
        self._kept.append(text)
        self._size += len(text)
        if not self._holds or self._size > _MOST_HELD:
            out += self._kept
            self._kept, self._holds = [], False


def _lower_tag(tag: str) -> str:
    """Return a tag in small letters; one in brackets as it is, for a word in brackets is none."""
    return tag if tag.startswith("[") else tag.lower()


def _measure_begun_tag(text: str) -> int:
    """Return how many letters at the end of a text may begin a tag."""
    tail = text[-_LONGEST:].lower()
    sizes = range(len(tail), 0, -1)
    return next((size for size in sizes if any(tag.lower().startswith(tail[-size:]) for tag in _TAGS)), 0)
