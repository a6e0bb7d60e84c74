"""Tags in replies: one tag by its scan and its processor, all of them by the pipeline."""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kenobot.core import plugins, texts
from kenobot.core.settings.load import Settings
from kenobot.ports.plugin import NoSettings, PluginContext
from kenobot.ports.postprocessor import PostProcessor
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.postprocessors.scanner import scan_tags
from kenobot_testing.clock import ManualClock
from kenobot_testing.postprocessor import RecordingTurn
from tests.conformance.cases import Case, Checked, NotApplicable, Outcome, compare, same

Told = dict[str, Any]
Look = Callable[[str], Told]

_PROCESSORS: Mapping[str, str] = {"user": "user-update"}
_KEYS: Mapping[str, str] = {
    "memory": "memories",
    "chat-memory": "chatMemories",
    "working-memory": "workingMemory",
    "user-update": "updates",
    "chat-context": "chatContext",
    "bootstrap-complete": "isComplete",
}
_SINGLE = ("working-memory", "chat-context")
_LEAKS = "ADR 4: markup never reaches the person; a tag is known in any case, an unclosed one loses only its markup"


@functools.cache
def processors() -> dict[str, PostProcessor]:
    """The product's own post-processors by name, through their entry points."""
    surroundings = PluginContext(Path("home"), ManualClock(), "KenoBot")
    enabled = Settings().postprocessors.enabled
    return {name: plugins.load("kenobot.postprocessors", name).build(NoSettings(), surroundings) for name in enabled}


def one_tag(case: Case) -> Outcome:
    """A reply that only one post-processor looks at."""
    written = case.area.removeprefix("tags.")
    name = _PROCESSORS.get(written, written)
    processor = processors()[name]

    def look(text: str) -> Told:
        found = scan_tags(text, dict.fromkeys(processor.tags, name))
        return {"cleanText": found.clean, _KEYS[name]: _shaped(name, processor.extract(found.elements))}

    return _judge(case, look, processor.tags)


def pipeline(case: Case) -> Outcome:
    """A reply that all of them look at. The sentence that stands for a reply of tags alone counts as empty."""
    pipe = Pipeline(tuple(processors().values()), str)

    def look(text: str) -> Told:
        turn = RecordingTurn()
        processed = pipe.process(text, (), turn, "en")
        items = {applied.name: applied.items for applied in processed.applied}
        told: Told = {key: _shaped(name, items.get(name, ())) for name, key in _KEYS.items()}
        clean = "" if processed.clean == texts.NOTED("en") else processed.clean
        return {**told, "cleanText": clean, "isComplete": turn.bootstrap_ended}

    return _judge(case, look, [tag for processor in processors().values() for tag in processor.tags])


def _shaped(name: str, items: Sequence[str]) -> Any:
    if name == "bootstrap-complete":
        return bool(items)
    if name in _SINGLE:
        return items[-1] if items else None
    return [*items]


def _judge(case: Case, look: Look, tags: Sequence[str]) -> Outcome:
    markup = _Markup(tuple(tag.removesuffix("/") for tag in tags))
    told = look(case.input)
    check = next((check for quirk, check in _BETTER.items() if quirk in case.quirk), None)
    if case.quirk and check is not None:
        return Checked(told, check(case, look, markup))
    leaked = markup.stands_in(case.expected["cleanText"]) and not markup.stands_in(told["cleanText"])
    if leaked and not case.quirk and not same(told, case.expected):
        return NotApplicable(_LEAKS)
    return compare(case, told)


# ── what is better than the original ─────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Markup:
    """The markup of some tags in any spelling a reader would take for it."""

    names: tuple[str, ...]

    def stands_in(self, *texts: str) -> bool:
        return any(self._pattern.search(text) for text in texts)

    def plainly(self, text: str) -> str:
        """`text` with every tag in its plainest spelling: lower case, without attributes and blanks."""
        return self._pattern.sub(lambda found: f"<{found[1]}{found[2].lower()}>", text)

    @property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(rf"<\s*(/?)\s*({'|'.join(map(re.escape, self.names))})(?:[\s/][^<>]*)?>", re.IGNORECASE)


def _items(told: Told) -> list[str]:
    """Everything that was taken out of the reply."""
    values = (value for key, value in told.items() if key not in ("cleanText", "isComplete"))
    return [item for value in values if value for item in ([value] if isinstance(value, str) else value)]


def _any_spelling(case: Case, look: Look, markup: _Markup) -> dict[str, bool]:
    told, plain = look(case.input), markup.plainly(case.input)
    return {
        "no markup is left in the text": not markup.stands_in(told["cleanText"]),
        "the content is taken out": bool(_items(told)),
        "it means what the plainest spelling means": same(told, look(plain)),
        "the plainest spelling means what it meant": plain != case.input or same(told, case.expected),
    }


def _code_is_text(case: Case, look: Look, markup: _Markup) -> dict[str, bool]:
    told = look(case.input)
    return {
        "nothing in the code is acted on": not _items(told),
        "the code is shown as it was written": told["cleanText"] == case.input,
    }


def _no_debris(case: Case, look: Look, markup: _Markup) -> dict[str, bool]:
    told = look(case.input)
    kept = " ".join([told["cleanText"], *_items(told)])
    words = re.findall(r"\w+", re.sub(r"<[^<>]*>", " ", case.input))
    return {
        "no markup is left in the text": not markup.stands_in(told["cleanText"]),
        "no markup is remembered": not markup.stands_in(*_items(told)),
        "what was closed is taken out": bool(_items(told)),
        "no word is lost": all(word in kept for word in words),
    }


def _breaks_collapse(case: Case, look: Look, markup: _Markup) -> dict[str, bool]:
    told = look(case.input)
    return {
        "three and more line breaks become two": re.search(r"(\r\n|\r|\n){3}", told["cleanText"]) is None,
        "it means what it means with plain line breaks": same(
            [told["cleanText"].split(), _items(told)],
            [look(case.input.replace("\r", ""))["cleanText"].split(), _items(told)],
        ),
        "the content is taken out": _items(told) == _items(case.expected),
    }


def _not_swallowed(case: Case, look: Look, markup: _Markup) -> dict[str, bool]:
    told = look(case.input)
    closed = {name for name in _KEYS if f"</{name}>" in case.input}
    return {
        **_no_debris(case, look, markup),
        "each tag has its own content": all(told[_KEYS[name]] for name in closed),
        "the text is what it was": told["cleanText"] == case.expected["cleanText"],
    }


def _advertised(case: Case, look: Look, markup: _Markup) -> dict[str, bool]:
    told = look(case.input)
    return {
        "no markup is left in the text": not markup.stands_in(told["cleanText"]),
        "it is a preference": bool(told["updates"]),
    }


_BETTER: Mapping[str, Callable[[Case, Look, _Markup], dict[str, bool]]] = {
    "variants are not recognised": _any_spelling,
    "code fence is still executed": _code_is_text,
    "leaves debris": _no_debris,
    "CRLF blank runs": _breaks_collapse,
    "inner tag swallowed": _not_swallowed,
    "no processor handles it": _advertised,
}
