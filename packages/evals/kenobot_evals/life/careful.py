"""Answer as a careful model would: from the notes that a fortnight has for each of its messages."""

import json
import re
from datetime import datetime

from kenobot.core import lazy
from kenobot.ports.errors import ConfigError
from kenobot.ports.provider import Request
from kenobot_evals.life.fortnights import Fact, Fortnight
from kenobot_testing.scripted import ScriptedProvider

_TURN = lazy.regex(r"^### Turn (\d+) — .* — \w+, (\d{4}-\d\d-\d\d \d\d:\d\d)$", re.MULTILINE)
_KNOWN = lazy.regex(r"^\[(\d+)\][^>]*> (.*)$", re.MULTILINE)
_READS = "You keep the memory"  # what the request of extraction begins with


def is_extraction(request: Request) -> bool:
    """Return whether a request asks for the facts of a conversation."""
    return bool(request.system) and _READS in request.system[0].text


class CarefulModel(ScriptedProvider):
    """Extracts the notes of a fortnight's messages, with verdicts on the memories that they end; says "ok" else."""

    def __init__(self, fortnight: Fortnight) -> None:
        if not fortnight.notes:
            raise ConfigError(f"A careful model has no notes of {fortnight.name}: leave out --model careful.")
        super().__init__(self._answer, rule_based=False, name="careful", keep=8)
        self._notes = fortnight.notes

    def _answer(self, request: Request) -> str:
        if not is_extraction(request):
            return "ok"
        text = request.messages[-1].text
        known = [(int(number), words) for number, words in _KNOWN.findall(text)]
        facts = []
        for number, at in _TURN.findall(text):
            for note in self._notes.get(datetime.fromisoformat(at), ()):
                ended = [place for place, words in known if note.ends and Fact(note.ends).is_in(words)]
                fact: dict[str, object] = {"text": note.text, "confidence": 0.95, "evidence": [int(number)]}
                fact["kind"] = "note"
                fact["verdicts"] = [{"memory": place, "relation": "contradiction"} for place in ended]
                if note.due:
                    fact |= {"category": "commitment", "due": note.due}
                facts.append(fact)
        return json.dumps({"facts": facts}, ensure_ascii=False)
