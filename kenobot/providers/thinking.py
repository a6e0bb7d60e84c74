"""Leave out what a model thinks aloud, where a server passes that on in the text of its answer.

It comes between tags at the beginning; between tags that begin a line, further on; or before a closing tag alone,
because the opening one was in the prompt. Tags of which a text only speaks, in code or in a sentence, stay.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from kenobot.core import lazy

_NAME: Final = (
    r"(?:(?:[a-z]{2,12}[:_]){1,2}|ant)?(?:think(?:ing)?|thoughts?|reasoning|reflection|(?:inner|internal)_monologue"
    r"|thought_process|reasoning_(?:process|steps)|scratch_?pad|deliberation|cot)(?:_fast)?"
)
_SOFT: Final = lazy.regex(r"(?i)<(?:[a-z]{2,12}_){0,2}(?:analysis|planning)>")
"""Tags of thoughts that are those of an ordinary text, too."""
_ASKED: Final = lazy.regex(
    r"(?i)\b(?:xml|html|tags?|etiquetas?|elements?|elementos?)\b|<(?:\w{1,24}_)?(?:analysis|planning)\b"
)
_NAMED: Final = rf"<{_NAME}>|<\|(?!end_){_NAME}\|>"
_NAMED_END: Final = rf"</{_NAME}>|<\|(?:/|(?=end_)){_NAME}\|>"
_FINAL: Final = "<|channel|>final<|message|>"
_FINALS: Final = r"<\|channel\|>final(?: ?<\|constrain\|>\w{1,20})?<\|message\|>"
_HARMONY_CALL: Final = r"|(?=<\|channel\|>commentary to=)"
_PAIRS: Final[Mapping[str, str]] = {
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|channel>thought": "<channel|>",
    "<unused94>thought": "<unused95>",
    "<|channel|>analysis": _FINAL,
    "<|start|>assistant<|channel|>analysis": _FINAL,
}
"""What opens a thought and what closes it, beside tags with a name, in small letters but for brackets."""
_PHRASES: Final[Mapping[str, str]] = {
    "here are my reasoning steps:": "[BEGIN FINAL RESPONSE]",
    "here is my thought process:": "here is my response:",
}
"""The same in words, which are the answer where they are not closed."""
_WRAPPERS: Final[Mapping[str, str]] = {
    **{f"<{name}>": f"</{name}>" for name in ("answer", "response", "output")},
    "<|begin_of_solution|>": "<|end_of_solution|>",
    "<|im_start|>assistant": "<|im_end|>",
    "[BEGIN FINAL RESPONSE]": "[END FINAL RESPONSE]",
}
"""What some put around the answer behind their thoughts."""
_NOISE: Final = (
    "<|return|>",
    "<|end|>",
    "<|start_response|>",
    "<|end_response|>",
    "<|begin_of_box|>",
    "<|end_of_box|>",
)
"""Marks in the answer of a model that thinks."""
_OPENINGS: Final[Mapping[str, str]] = {**_PAIRS, **_PHRASES}
_CLOSINGS: Final = tuple(dict.fromkeys((*_PAIRS.values(), "[BEGIN FINAL RESPONSE]")))
_TAGS: Final = (*_PAIRS, *_CLOSINGS, *_WRAPPERS.values(), *_NOISE)
_LOWERED: Final = tuple(map(str.lower, _TAGS))
_LONGEST: Final = 64  # of a tag
_BEGUN: Final = lazy.regex(r"(?i)(?:<\|?/?[a-z:_]{0,40}\|?|<\|channel\|>final[^\n]{0,40})\Z")
_BEGINS: Final = ("<|begin_", "<|start_")
_NAMED_TAG: Final = lazy.regex(rf"(?i){_NAMED}")
_NAMED_CLOSING: Final = lazy.regex(rf"(?i){_NAMED_END}")
_TAG: Final = lazy.regex(
    "(?i)" + "|".join([_NAMED, _NAMED_END, _FINALS, *map(re.escape, sorted(_TAGS, key=len, reverse=True))])
)
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
    """Text to pass on. replaces: all that was passed on before was a thought."""

    text: str
    replaces: bool = False


class ThinkingFilter:
    """Passes a text on as it arrives, but for thoughts and the blanks after them.

    holds: pass nothing on before a closing tag, or the end: the model is likely to think without an opening one.
    asked: the words it answers; where they are about tags, those that are not of thoughts alone stay.
    has_orphan: there was a closing tag of that kind.
    """

    def __init__(self, *, holds: bool = False, asked: str = "") -> None:
        self.has_orphan = False
        self._reads_soft = not _ASKED.search(asked)
        self._is_soft = False
        self._holds = holds
        self._held = ""
        self._kept: list[str] = []  # bounded: 200,000 letters; test_a_text_is_held_up_to_a_length
        self._thought: list[str] = []  # bounded: as long as the answer; turn
        self._size = 0
        self._place: Literal["start", "thought", "answer"] = "start"
        self._closing = ""
        self._returns = False  # what is in a thought, if it is not closed
        self._wrapper = ""  # what closes the answer
        self._replaces = False
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
                goes_on = self._skip_thought(at_end)
            else:
                goes_on = self._answer(out, at_end)
        return Passed("".join(out), self._replaces)

    def _start(self, at_end: bool) -> bool:
        """Look for a thought; False where more of the text has to come first."""
        begun = self._held.lstrip()
        low = _lower_tag(begun[:_LONGEST])
        named = _NAMED_TAG.match(begun)
        opening = named[0] if named else next((each for each in _OPENINGS if low.startswith(each)), "")
        wrappers = _WRAPPERS if self._closing else {}
        if opening:
            self.release()
            self._begin(
                _close(low[: len(opening)]), begun[len(opening) :], begun[: len(opening)] * (opening in _PHRASES)
            )
        elif self._reads_soft and not self._is_soft and (soft := _SOFT.match(begun)):
            self._begin(soft[0].lower().replace("<", "</"), begun[soft.end() :], soft[0])
            self._is_soft = True
        elif wrapper := next((each for each in wrappers if low.startswith(each)), ""):
            self._wrapper, self._held = wrappers[wrapper], begun[len(wrapper) :]
        elif begun.startswith(_STRIPPED) and begun[len(_STRIPPED) :][:1].isupper():
            self._begin(_STRIPPED_END, begun[len(_STRIPPED) :], _STRIPPED)
        elif not at_end and (
            _BEGUN.match(begun) or any(each.startswith(low) for each in (*_OPENINGS, *wrappers, _STRIPPED))
        ):
            return False
        else:
            self._place = "answer"
            self._held = begun if self._closing else self._held
        return True

    def _begin(self, closing: str, behind: str, returning: str = "") -> None:
        """Begin a thought. returning: its opening, which comes back with it if it is not closed; "" for never."""
        self._place, self._closing, self._held = "thought", closing, behind
        self._returns, self._thought = bool(returning), [returning]

    def _skip_thought(self, at_end: bool) -> bool:
        # A call comes after a thought, too.
        end = _FINALS + _HARMONY_CALL if self._closing == _FINAL else re.escape(self._closing)
        if found := re.search(end, self._held, re.IGNORECASE):
            if self._is_soft and (kind := self._judge_soft(self._held[found.end() :].lstrip(), at_end)) != "thought":
                return kind == "answer"
            self._wrapper = _WRAPPERS.get(self._closing, "")
            self._held, self._place = self._held[found.end() :], "start"
            return True
        # A thought may be long: of one that does not come back only a tag that is cut in two is needed.
        if self._returns:
            self._thought.append(self._held[:-_LONGEST])
        self._held = self._held[-_LONGEST:]
        return False

    def _judge_soft(self, behind: str, at_end: bool) -> Literal["open", "thought", "answer"]:
        """Tell by what follows whether a text in an ordinary tag was a thought: before an answer of words, it was."""
        if not behind or (not at_end and behind.startswith("<") and _BEGUN.match(behind)):
            return "open"  # at the end it comes back
        low = behind.lower()
        if not behind.startswith("<") or _NAMED_TAG.match(low) or any(map(low.startswith, _WRAPPERS)):
            self._is_soft = False
            return "thought"
        self._held, self._thought, self._closing = "".join((*self._thought, self._held)), [], ""
        self._place = "answer"
        return "answer"

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
        closing, is_code = _close(low), self._fenced or self._line.count("`") % 2
        if closing and not self._line.strip() and not self._fenced:
            self._begin(closing, behind, tag)
        elif (low in _CLOSINGS or _NAMED_CLOSING.fullmatch(low)) and self._is_orphan(low, behind):
            self._take_back(out, low)
        elif not is_code and low == self._wrapper:
            self._wrapper = ""
        elif is_code or low not in _NOISE or not self._closing:
            self._spoken_of.add(closing)
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
        self._wrapper = _WRAPPERS.get(tag, "")

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


def _close(opening: str) -> str:
    """Return what closes a thought that a tag in small letters opens; "" for any other tag."""
    if not _NAMED_TAG.fullmatch(opening):
        return _OPENINGS.get(opening, "")
    if begins := next((each for each in _BEGINS if opening.startswith(each)), ""):
        return opening.replace(begins, "<|end_")
    return opening.replace("<|", "<|/") if opening.startswith("<|") else opening.replace("<", "</")


def _lower_tag(tag: str) -> str:
    """Return a tag in small letters, in its shortest form; one in brackets as it is, for a word in brackets is none."""
    low = tag if tag.startswith("[") else tag.lower()
    return _FINAL if low.startswith("<|channel|>final") and low.endswith("<|message|>") else low


def _measure_begun_tag(text: str) -> int:
    """Return how many letters at the end of a text may begin a tag."""
    tail = text[-_LONGEST:].lower()
    begun = _BEGUN.search(tail)
    starts = (at for at, letter in enumerate(tail) if letter in "<[◁")
    literal = next((len(tail) - at for at in starts if any(tag.startswith(tail[at:]) for tag in _LOWERED)), 0)
    return max(literal, len(begun[0]) if begun else 0)
