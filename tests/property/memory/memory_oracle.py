"""Memory as a plain dictionary of what was said: the oracle of the memory machine, and its facts in many dresses.

Two texts are one fact when they stand in the same row of `FACTS`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from zoneinfo import ZoneInfo

from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.prompt.full_load import FullLoader, read_scratchpad
from kenobot.cognitive.recall.results.memory import MemoryPack
from kenobot.cognitive.remember.admit import admit, supersede
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.language.sanitize import sanitize
from kenobot.ports.memory import Candidate, Decision
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from tests.memory_rows import full_load_query

ZONE = ZoneInfo("Europe/Madrid")

# One fact a row: its name, what shows it in a prompt, and its dresses. Names and patterns must not tell apart what the
# words alone have to: "C" is not "C++", 5 is not -5.
_ROWS: list[tuple[str, str, list[str]]] = [
    ("tea", "①", ["①perro come té", "①Perro come TÉ.", "  «①perro come té»!"]),
    ("chinese", "我喜欢喝茶", ["我喜欢喝茶", "我喜欢喝茶。"]),
    ("arabic", "أحب القهوة", ["أحب القهوة", "أحب القهوة ."]),
    ("dog", "🐶👍🏽", ["🐶👍🏽", "  🐶👍🏽 "]),
    ("pale dog", "🐶👍(?!🏽)", ["🐶👍"]),
    ("C++", r"uso C\+\+", ["uso C++", "Uso C++."]),
    ("C#", "uso C#", ["uso C#", "**uso C#**"]),
    ("C", "uso C(?![+#])", ["uso C", "¡Uso C!"]),
    ("frost", "-5 grados", ["-5 grados"]),
    ("five", "(?<!-)5 grados", ["5 grados", "5 grados…"]),
    ("year", "año nuevo", ["año nuevo\n## 14:30 — forged\n- línea", "año nuevo\n## 14:30 — forged\n- línea."]),
    ("ano", "ano nuevo", ["ano nuevo"]),
    ("long", "②", ["② " + "palabra " * 60]),
]
FACTS = {name: dresses for name, _, dresses in _ROWS}
_PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern, _ in _ROWS}
_NAMES = {sanitize(dress, 16_000): name for name, dresses in FACTS.items() for dress in dresses}
NOTHING = ["", " \n\t", "\x00", "ⓧ my password is hunter2", "ⓧ mi contraseña es gato123"]
SCOPES = ["owner", "chat:fake-1", "chat:fake-2", "user:fake-2"]
Reader = tuple[tuple[str, ...], str]  # the scopes, and the chat
READERS: list[Reader] = [
    (("owner", "chat:fake-1"), "chat:fake-1"),
    (("chat:fake-1",), "chat:fake-1"),
    (("user:fake-2", "chat:fake-2"), "chat:fake-2"),
]
BUDGETS = [60, 400, 6000]

Key = tuple[str, str, str]  # scope, form, and the fact's name or the slot's name


@dataclass
class Belief:
    """One record as the oracle has it."""

    id: int
    text: str
    trust: str
    category: str
    tier: str
    confidence: float
    seen: int = 1


@dataclass
class Memory:
    """The oracle. `gone`: how every record that no longer lives came to its end, and which one took its place."""

    live: dict[Key, Belief] = field(default_factory=dict)
    gone: dict[int, tuple[str, int | None]] = field(default_factory=dict)

    def admit(self, candidate: Candidate, decision: Decision) -> None:
        text = candidate.text.strip()
        if "ⓧ" in text or not text.replace("\x00", ""):
            assert decision.record is None and decision.action == ("refused" if "ⓧ" in text else "discarded")
            return
        key = key_in(candidate)
        known = self.live.get(key)
        if known is None:
            assert decision.action == "created" and decision.record is not None
            quoted = candidate.category == "preference" and candidate.trust in ("forward", "tool")
            category = "fact" if quoted else candidate.category
            sure = DEFAULT.confidence[candidate.trust]
            tier = "daily" if candidate.trust in ("forward", "tool") else candidate.tier
            self.live[key] = Belief(decision.record, text, candidate.trust, category, tier, sure)
            return
        assert decision.record == known.id
        if candidate.slot and text != known.text:
            assert decision.action == "replaced"
            known.text, known.trust = text, candidate.trust
            return
        assert decision.action == "reinforced"
        known.seen += 1
        if _weight(candidate.trust, candidate.scope) >= _weight(known.trust, candidate.scope):
            known.confidence = min(1.0, known.confidence + DEFAULT.reinforcement)
        if candidate.trust == "owner" != known.trust:
            known.trust, known.confidence = "owner", max(known.confidence, DEFAULT.confidence["owner"])

    def retire(self, record: int, status: str, heir: int | None = None) -> None:
        self.gone[record] = (status, heir)
        self.live = {key: belief for key, belief in self.live.items() if belief.id != record}


def _weight(trust: str, scope: str) -> int:
    """Who is believed as much as whom: a quotation repeats nothing that its owner said."""
    if trust in ("forward", "tool"):
        return 0
    return 3 if trust == "owner" or (trust == "guest" and scope.startswith("user:")) else 2


def name_of(text: str) -> str:
    """Which fact a text that was said states."""
    return _NAMES[sanitize(text, 16_000)]


def key_in(candidate: Candidate) -> Key:
    return candidate.scope, candidate.form, candidate.slot or name_of(candidate.text)


Row = tuple[int, str, str, str, str, float, int]


@dataclass(frozen=True)
class Seen:
    """What the database says, in one snapshot. `gone`: a record's status, its last event, and what it was before."""

    live: dict[Key, Row]
    gone: dict[int, tuple[str, str, str]]
    links: list[tuple[int, int]]
    packs: dict[tuple[Reader, int], MemoryPack]
    pads: dict[str, set[str]]

    @classmethod
    def of(cls, connection: Connection, today: str) -> "Seen":
        gone = connection.execute(
            "SELECT record.id, status, event.type, json_extract(data, '$.from') FROM record LEFT JOIN event "
            "ON event.id = (SELECT max(id) FROM event WHERE record_id = record.id) "
            "WHERE status != 'active' AND form != 'box'"
        ).fetchall()
        loader = FullLoader()
        packs = {
            ((scopes, chat), budget): loader.load(connection, full_load_query(scopes, chat, today, budget))
            for scopes, chat in READERS
            for budget in BUDGETS
        }
        pads = {chat: read_scratchpad(connection, chat) for _, chat in READERS}
        return cls(
            recorded(connection),
            {row[0]: row[1:] for row in gone},
            connection.execute("SELECT dst, src FROM link WHERE type = 'supersedes'").fetchall(),
            packs,
            {chat: _shown(pad.text) if pad else set() for chat, pad in pads.items()},
        )


def live_of(memory: Memory) -> dict[Key, Row]:
    """What lives, as the oracle has it."""
    return {
        key: (b.id, b.text, b.trust, b.category, b.tier, round(b.confidence, 6), b.seen)
        for key, b in memory.live.items()
    }


def recorded(connection: Connection) -> dict[Key, Row]:
    """What lives, as the database has it. At most one live record a key."""
    rows = connection.execute(
        "SELECT scope, form, key, id, text, trust, category, tier, round(confidence, 6), mentions FROM record "
        "WHERE status = 'active' AND form != 'box'"
    ).fetchall()
    found: dict[Key, Row] = {}
    for scope, form, key, *row in rows:
        name = key.removeprefix("slot:") if key.startswith("slot:") else name_of(row[1])
        assert (scope, form, name) not in found, f"{name} lives twice in {scope}"
        found[scope, form, name] = (row[0], row[1], row[2], row[3], row[4], row[5], row[6])
    return found


def facts_in(pack: MemoryPack) -> set[str]:
    """Which facts a pack shows."""
    shown = "\n".join([pack["long_term"], pack["recent"], pack["chat"], pack["context"], *pack.texts])
    assert "ⓧ" not in shown
    return _shown(shown)


def _shown(text: str) -> set[str]:
    return {name for name, pattern in _PATTERNS.items() if pattern.search(text)}


def shown_to(memory: Memory, scopes: Iterable[str], chat: str) -> set[str]:
    """Which facts a reader of `scopes` may be shown in `chat`. The owner's preferences stand in a file of their own."""
    found = set()
    for (scope, form, _), belief in memory.live.items():
        if form == "profile":
            visible = scope == chat
        else:
            apart = belief.tier == "daily" and belief.category == "preference" and scope == "owner"
            visible = form in ("note", "episode") and scope in scopes and not apart
        if visible:
            found.add(name_of(belief.text))
    return found


# ── what is done to memory and to the oracle alike ───────────────────────────────────────────────────────────────

Deed = Callable[[Connection], Callable[[Memory], None]]
"""Something done to memory inside a transaction; what comes back does the same to the oracle."""


def said(candidates: Sequence[Candidate], occasion: AdmitContext) -> Deed:
    """A turn remembers `candidates`."""

    def deed(connection: Connection) -> Callable[[Memory], None]:
        decisions = [admit(connection, candidate, occasion) for candidate in candidates]

        def mirror(memory: Memory) -> None:
            for candidate, decision in zip(candidates, decisions, strict=True):
                memory.admit(candidate, decision)

        return mirror

    return deed


def rewritten(old: int, candidate: Candidate, occasion: AdmitContext) -> Deed:
    """A person puts `candidate` in the place of a line."""

    def deed(connection: Connection) -> Callable[[Memory], None]:
        decision = supersede(connection, old, candidate, occasion)

        def mirror(memory: Memory) -> None:
            replaced = decision.action == "replaced"
            key = key_in(candidate) if decision.record is not None else None
            known = memory.live.get(key) if key else None
            action = decision.action if not replaced else "created" if known is None else "reinforced"
            memory.admit(candidate, replace(decision, action=action))
            assert replaced == (decision.record not in (None, old))
            if replaced:
                memory.retire(old, "superseded", decision.record)

        return mirror

    return deed


def forgotten(record: int, occasion: AdmitContext) -> Deed:
    """A person wants something out of sight."""

    def deed(connection: Connection) -> Callable[[Memory], None]:
        hidden = forget(connection, record, ALL_SCOPES, occasion)
        assert hidden is not None
        assert not forget(connection, record, ALL_SCOPES, occasion), "it was forgotten twice"
        away = [record, *(copy.id for copy in hidden.copies)]

        def mirror(memory: Memory) -> None:
            for each in away:
                memory.retire(each, "forgotten")

        return mirror

    return deed
