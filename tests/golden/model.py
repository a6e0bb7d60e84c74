"""The model of the golden run, and a witness to every request that reaches a provider.

Nothing in it knows how memory works: it reads what it is asked out of the prompt's own words, like any model.
"""

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kenobot.ports.errors import PromptTooLong, RateLimited, Rejected, TruncatedReply, Unavailable
from kenobot.ports.provider import Delta, Provider, Request, Usage

Row = Mapping[str, Any]

_FAILURES: Mapping[str, Callable[[], Exception]] = {
    "unavailable": lambda: Unavailable("The model is overloaded."),
    "rate": lambda: RateLimited("The model asks for a pause.", 7.0),
    "rejected": lambda: Rejected("The model refuses this request."),
    "truncated": lambda: TruncatedReply("The reply broke off."),
    "long": lambda: PromptTooLong("The prompt is too long."),
}
_TURN = re.compile(r"^### Turn (\d+)\b[^\n]*\n((?:>[^\n]*\n?)*)", re.MULTILINE)
_KNOWN = re.compile(r"^\[(\d+)\](?: \([^\n]{0,200}?\))* > ([^\n]*)$", re.MULTILINE)
_SUMMED = re.compile(r"^\[(\d+)\] > (.*)$", re.MULTILINE)
_KINDS = (  # what a request is, by words of its text
    ("reading", "## The conversation"),
    ("compaction", "## The summary so far"),
    ("pairs", '{"pairs": ['),
    ("principle", '{"principle": "'),
    ("promote", '{"lasting": [numbers'),
    ("distil", '{"lasting": [{'),
    ("patterns", '{"patterns": [{'),
    ("profile", '"from": [1, 2]}'),
    ("condense", "You condense a file of reflections"),
    ("week", '{"summary": "'),
    ("errors", '{"entries": [{'),
    ("rerank", "with a mark for every number"),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that reached the provider, when, and what it was for. failed: how it ended, "" when well."""

    at: datetime
    kind: str
    request: Request
    reply: str
    failed: str = ""


class Witness:
    """Keeps what another provider is asked and what it says. With none it plays the model's part itself."""

    name = "scripted"

    def __init__(self, steps: Sequence[Row], now: Callable[[], datetime]) -> None:
        self.asked: list[Asked] = []
        self.down = False
        self.fails: list[str] = []
        self.step: Row = {}
        self._steps = {step["says"]: step for step in steps if step.get("says")}
        self._now = now

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """See `kenobot.ports.Provider`."""
        kind = kind_of(request)
        failed = "unavailable" if self.down else self.fails.pop(0) if self.fails and kind == "turn" else ""
        reply = "" if failed else self._reply(kind, request)
        self.asked.append(Asked(self._now(), kind, request, reply, failed))
        if failed:
            raise _FAILURES[failed]()
        yield Delta(text=reply)
        yield Delta(stop_reason="end_turn", usage=Usage(len(reply) + 100, len(reply)), model=self.name)

    def _reply(self, kind: str, request: Request) -> str:
        asked = request.messages[-1].text
        if kind == "turn":
            found = [says for says in self._steps if says in asked]
            here = str(self.step.get("says", ""))
            step = self.step if here and here in asked else self._steps[max(found, key=len)] if found else {}
            return str(step.get("reply", "Vale."))
        if kind == "reading":
            return self._read(asked)
        return _thought(kind, asked)

    def _read(self, asked: str) -> str:
        known = [(int(number), said) for number, said in _KNOWN.findall(asked.partition("## The conversation")[0])]
        facts = []
        for number, quoted in _TURN.findall(asked):
            said = "\n".join(line.removeprefix(">").removeprefix(" ") for line in quoted.splitlines())
            step = self._steps.get(said) or self._steps.get(said.partition(": ")[2]) or {}
            if "reading" in step:
                return str(step["reading"])
            if "noted" in step:
                facts.append(_fact(step["noted"], int(number), known))
        return json.dumps({"facts": facts}, ensure_ascii=False)


class Offline(Witness):
    """Keeps what the product's own provider is asked and says; only outages are the script's."""

    rule_based = True

    def __init__(self, steps: Sequence[Row], now: Callable[[], datetime], provider: Provider) -> None:
        super().__init__(steps, now)
        self.name = provider.name
        self._provider = provider

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """See `kenobot.ports.Provider`."""
        failed = "unavailable" if self.down else self.fails.pop(0) if self.fails else ""
        if failed:
            self.asked.append(Asked(self._now(), kind_of(request), request, "", failed))
            raise _FAILURES[failed]()
        deltas = [delta async for delta in self._provider.stream(request)]
        self.asked.append(Asked(self._now(), kind_of(request), request, "".join(delta.text for delta in deltas)))
        for delta in deltas:
            yield delta


def kind_of(request: Request) -> str:
    """What a request is for, as told by its own words."""
    whole = "\n".join([*(block.text for block in request.system), request.messages[-1].text])
    last = request.messages[-1].text
    if len(request.system) > 1:
        return "turn"
    return next((kind for kind, mark in _KINDS if mark in (last if mark.startswith("##") else whole)), "turn")


def _fact(noted: Row, turn: int, known: Sequence[tuple[int, str]]) -> dict[str, object]:
    verdicts = []
    for number, said in known:
        if any(text in said for text in noted.get("contradicts", ())):
            verdicts.append({"memory": number, "relation": "contradiction"})
        elif said == noted["text"] or any(text in said for text in noted.get("repeats", ())):
            verdicts.append({"memory": number, "relation": "repeat"})
    usual = {"category": "fact", "subject": "user", "confidence": 0.95, "importance": 5, "kind": "note"}
    given = {name: value for name, value in noted.items() if name not in ("contradicts", "repeats")}
    return {**usual, **given, "evidence": [turn], "verdicts": verdicts}


def _thought(kind: str, asked: str) -> str:
    """What the model says to a question that no person put: from its words alone, the same to the same question."""
    entries = [json.loads(line) for line in asked.splitlines() if line.startswith('{"entry"')]
    numbers = [entry["entry"] for entry in entries]
    quoted = [line.removeprefix("> ") for line in asked.splitlines() if line.startswith("> ")]
    answer: dict[str, object]
    if kind == "compaction":
        old = [{"text": text, "summary": [int(number)]} for number, text in _SUMMED.findall(asked)[-12:]]
        new = [
            {"text": f"The user said: {' '.join(said.lstrip('> ').split())[:90]}", "turns": [int(number)]}
            for number, said in _TURN.findall(asked)[:6]
        ]
        answer = {"lines": old + new}
    elif kind == "pairs":
        relations = ("independent", "repeat", "independent", "contradiction")
        pairs = [int(number) for number in re.findall(r"^Pair (\d+),", asked, re.MULTILINE)]
        answer = {"pairs": [{"pair": number, "relation": relations[number % 4]} for number in pairs]}
    elif kind == "principle":
        answer = {"principle": quoted[0] if len(quoted) % 2 else None}
    elif kind == "promote":
        answer = {"lasting": numbers[::3]}
    elif kind == "distil":
        answer = {"lasting": [{"entry": number, "topic": ("", "casa")[number % 2]} for number in numbers[::2]]}
    elif kind == "patterns":
        told = [entry for entry in entries if "olution" in entry["text"] or "olución" in entry["text"]]
        words = ((entry["entry"], entry["text"].split()) for entry in told)
        answer = {
            "patterns": [{"entry": n, "trigger": " ".join(w[:6]), "response": " ".join(w[-6:])} for n, w in words]
        }
    elif kind == "profile":
        answer = {"lines": [{"text": text, "from": [number]} for number, text in enumerate(quoted, 1)]}
    elif kind == "week":
        answer = {"summary": "\n".join(f"- {entry['text'][:80]}" for entry in entries[:8])}
    elif kind == "errors":
        answer = {
            "entries": [
                {"entry": int(number), "class": ("internal", "configuration")[int(number) % 2], "lesson": text[:120]}
                for number, text in _SUMMED.findall(asked)
            ]
        }
    elif kind == "rerank":
        answer = {number: (3, 1, 0, 2)[int(number) % 4] for number in re.findall(r"^\[(\d+)\]", asked, re.MULTILINE)}
    elif kind == "condense":
        return "\n".join(line.removeprefix("> ") for line in asked.splitlines()[:20])
    else:
        answer = {}
    return json.dumps(answer, ensure_ascii=False)
