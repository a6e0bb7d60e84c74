"""Condense IDENTITY.md, the bot's reflections about itself, when it has grown too long.

A model condenses it, held to what stands there. Without one, or with an unusable answer, lines that say the same are
taken out, and then the oldest, until it fits. The old text stays in the record's history.
"""

import re
from collections.abc import Iterator, Sequence

from kenobot.cognitive.policy.sleep import PruningPolicy
from kenobot.cognitive.sleep import pass_rows
from kenobot.cognitive.sleep.plan.changes import Change, expect, update
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.cognitive.sleep.plan.texts import system_prompt
from kenobot.core import lazy
from kenobot.language.fingerprint import key_of
from kenobot.language.lexicon import NEGATIONS, STOPWORDS
from kenobot.language.quoting import quote_lines
from kenobot.language.words import stems, words
from kenobot.ports.records import Record
from kenobot.ports.sentences import Sentence
from kenobot.storage.times import stamp

SLOT = "identity"
_HEADING = lazy.regex(r"#{1,6} ")
_FENCES = lazy.regex(r"\A```\w*\n(.*)\n```\s*\Z", re.DOTALL)


def questions(view: NightView) -> Sequence[ModelQuestion]:
    """Ask for each IDENTITY.md that is too long."""
    return [_question(view, record) for record in _too_long(view)]


def plan(view: NightView) -> Iterator[Change]:
    """Condense what is too long."""
    policy = view.policy.pruning
    for record in _too_long(view):
        answer = view.answer(_question(view, record))
        text = _check_condensed(answer, record.text, policy) if answer is not None else None
        trust = "model" if text is not None else record.trust
        how = Sentence("reasons.model_condensed" if text is not None else "reasons.oldest_lines_left")
        text = text if text is not None else condense(record.text, policy.max_identity_bytes)
        values = {"text": text, "trust": trust, "updated": stamp(view.now)}
        reason = Sentence("reasons.identity_long", bytes=policy.max_identity_bytes, how=how)
        yield update(record, "condensed", reason, values, expect(record, "text"))


def condense(text: str, limit: int) -> str:
    """Cut a text to `limit` bytes: each line once, at its last place, without the oldest, headings kept."""
    kept = _drop_repeats(text.splitlines())
    room, taken = limit, set[int]()
    for place in range(len(kept) - 1, -1, -1):
        if _HEADING.match(kept[place]):
            continue
        above = next((at for at in range(place, -1, -1) if _HEADING.match(kept[at])), place)
        needed = {place, above} - taken
        cost = sum(_size(kept[each]) for each in needed)
        if cost > room:
            break
        room -= cost
        taken |= needed
    if taken:
        return "\n".join(kept[place] for place in sorted(taken))
    return text.encode("utf-8", "surrogatepass")[-limit + 4 :].decode("utf-8", "ignore").strip()  # of one long line


def _too_long(view: NightView) -> list[Record]:
    limit = view.policy.pruning.max_identity_bytes
    records = pass_rows.slot_records(view.connection, "profile", SLOT)
    long = [record for record in records if _size(record.text) > limit + 1]
    return [record for record in long if not pass_rows.was_text_reverted(view.connection, record)]


def _question(view: NightView, record: Record) -> ModelQuestion:
    limit = view.policy.pruning.max_identity_bytes
    quoted = "\n".join(quote_lines(record.text))
    system = system_prompt("identity").format(size=limit // 2)
    return ModelQuestion(system, f"The file:\n{quoted}", answer_tokens=limit // 3)


def _check_condensed(answer: str, text: str, policy: PruningPolicy) -> str | None:
    """Return a model's condensed text; None when it is too long, has lost most of it, or says other things."""
    fenced = _FENCES.match(answer.strip())
    condensed = (fenced[1] if fenced else answer).strip()
    too_long = _size(condensed) > policy.max_identity_bytes
    if not condensed or too_long or len(condensed) < policy.min_length_share * len(text):
        return None
    old_stems = {stem for word in words(text) for stem in stems(word)}
    new_words = [word for word in words(condensed) if word not in STOPWORDS and word not in NEGATIONS]
    grounded = sum(not old_stems.isdisjoint(stems(word)) for word in new_words)
    numbers = {word for word in new_words if any(char.isdigit() for char in word)}
    if not new_words or grounded < policy.grounded_from_share * len(new_words) or not numbers <= set(words(text)):
        return None
    return condensed


def _drop_repeats(lines: Sequence[str]) -> list[str]:
    """Return each line once, at its last place; blank lines go."""
    last = {_key(line): place for place, line in enumerate(lines) if line.strip()}
    return [line.rstrip() for place, line in enumerate(lines) if line.strip() and last[_key(line)] == place]


def _key(line: str) -> str:
    return line.strip() if _HEADING.match(line) else key_of(line.strip().lstrip("-*+ \t") or line)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass")) + 1


PASS = Pass("identity", "consolidate", "condenses IDENTITY.md when it has grown too long", plan, questions)
