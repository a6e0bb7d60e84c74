"""What memory promises whatever is said to it, in whatever order and script."""

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from zoneinfo import ZoneInfo

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kenobot.cognitive import store
from kenobot.cognitive.keys import key_of, normalise
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.reach import WHOLE_HOME
from kenobot.cognitive.recall.load import Pack, Query, Recall
from kenobot.cognitive.remember.admit import Occasion, admit, clean, forget, supersede
from kenobot.db import Connection, migrations
from kenobot.ports import Candidate
from kenobot.testing.clock import START
from kenobot.tokens import estimate

_ZONE = ZoneInfo("Europe/Madrid")
_WORDS = st.sampled_from(
    "perro gato año ano niño té 狗 猫 喜欢 茶 كلب قطة شاي 🐶 🐱 👍 👍🏽 ❤️ C C++ C# .NET -5 5 ~5 5% 10² 102 AI not no "
    "node.js @ana #tag x=1 x!=1 a<b a>b /etc _id id ½ 1/2".split()
)
_PHRASES = st.lists(_WORDS, min_size=1, max_size=6)
_TEXTS = st.text(max_size=200) | _PHRASES.map(" ".join)
_SCOPES = st.sampled_from(["owner", "chat:fake-1", "chat:fake-2", "user:fake-2"])
_SECRETS = st.sampled_from(
    [
        "my password is hunter2",
        "mi contraseña es gato123",
        "sk-ant-api03-abcdefghijklmnop",
        "123456789:AAFd3kq9ZxcVbnmAsdfGhjkLqwertyUiop0",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "-----BEGIN PRIVATE KEY-----",
    ]
)
_FACTS = st.builds(
    Candidate,
    form=st.sampled_from(["note", "episode"]),
    scope=_SCOPES,
    text=_TEXTS,
    category=st.sampled_from(["fact", "preference"]),
    trust=st.sampled_from(["owner", "guest", "forward", "model", "tool"]),
    tier=st.sampled_from(["daily", "core"]),
)
_CANDIDATES = _FACTS | st.builds(
    Candidate,
    form=st.sampled_from(["profile", "scratchpad"]),
    scope=_SCOPES,
    text=_TEXTS,
    trust=st.sampled_from(["owner", "forward"]),
    slot=st.sampled_from(["context", "working"]),
)


@contextlib.contextmanager
def _memory() -> Iterator[Connection]:
    connection = _open()
    try:
        yield connection
    finally:
        connection.close()


def _open() -> Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    for _, script in migrations():
        connection.executescript(script)
    return connection


def _occasion(days: int = 0) -> Occasion:
    at = START + timedelta(days=days)
    return Occasion(at, at.date().isoformat(), "test", "fake-1")


def _shown(pack: Pack) -> str:
    return "\n".join([pack.long_term, pack.recent, pack.chat, pack.context, *pack.texts])


def _live(connection: Connection) -> list[tuple[str, str, str, str]]:
    return sorted(connection.execute("SELECT scope, form, key, text FROM record WHERE status = 'active'").fetchall())


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.text())
def test_normalising_twice_is_normalising_once(text: str) -> None:
    """What comes out is normal."""
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(), st.sampled_from(["  {} ", "\n{}\t", "{}.", "**{}**", "“{}”", "{}!!!"]))
def test_the_dress_of_a_text_does_not_matter(text: str, dress: str) -> None:
    """Blanks, emphasis and marks around it leave its key, as long as it has words."""
    assume(normalise(text))
    assert key_of(dress.format(text)) == key_of(text)


@given(_PHRASES, _PHRASES)
def test_words_of_every_script_keep_apart(one: list[str], other: list[str]) -> None:
    """Spanish, Chinese, Arabic, emoji and code symbols are as distinct as English words."""
    same = [word.casefold() for word in one] == [word.casefold() for word in other]
    assert (key_of(" ".join(one)) == key_of(" ".join(other))) == same


@given(st.text(alphabet=st.characters(exclude_categories=[])), st.integers(0, 50))
def test_cleaning_twice_is_cleaning_once(text: str, longest: int) -> None:
    """What is stored can be read back from a file and is the same; it is bounded and has a UTF-8 form."""
    once = clean(text, longest)
    assert clean(once, longest) == once
    assert len(once) <= longest
    once.encode("utf-8")


# ── admit ────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(_FACTS, max_size=12))
def test_admitting_everything_again_adds_nothing(candidates: list[Candidate]) -> None:
    """The same input twice gives the same store once, and beliefs that are no less sure."""
    with _memory() as connection:
        first = [admit(connection, candidate, _occasion()) for candidate in candidates]
        before = _live(connection)
        surely = dict(connection.execute("SELECT id, confidence FROM record").fetchall())
        second = [admit(connection, candidate, _occasion(1)) for candidate in candidates]
        assert _live(connection) == before
        assert [decision.record for decision in second] == [decision.record for decision in first]
        assert {decision.action for decision in second} <= {"reinforced", "refused", "discarded"}
        after = dict(connection.execute("SELECT id, confidence FROM record").fetchall())
        assert all(surely[number] <= after[number] <= 1 for number in surely)


@given(st.lists(_FACTS, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_what_is_said_does_not_matter(candidates: list[Candidate], random: object) -> None:
    """Which facts live does not depend on which came first."""
    shuffled = list(candidates)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    stores = []
    for row in (candidates, shuffled):
        with _memory() as connection:
            for candidate in row:
                admit(connection, candidate, _occasion())
            stores.append([live[:3] for live in _live(connection)])
    assert stores[0] == stores[1]


@given(_CANDIDATES, _SECRETS, st.text(max_size=30), st.text(max_size=30))
def test_a_secret_is_refused_wherever_it_stands(candidate: Candidate, secret: str, before: str, after: str) -> None:
    """And leaves no trace in any table."""
    with _memory() as connection:
        decision = admit(connection, replace(candidate, text=f"{before}\n{secret}\n{after}"), _occasion())
        assert (decision.action, decision.record) == ("refused", None)
        assert secret not in "\n".join(connection.iterdump())


# ── everything together ──────────────────────────────────────────────────────────────────────────────────────────


class Memory(RuleBasedStateMachine):
    """A memory to which anything may be said, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.connection = _open()
        self.day = 0
        self.records = 0
        self.statuses: dict[int, str] = {}

    def teardown(self) -> None:
        self.connection.close()

    @rule(candidate=_CANDIDATES)
    def say(self, candidate: Candidate) -> None:
        """Something asks to be remembered."""
        admit(self.connection, candidate, _occasion(self.day))

    @rule(candidate=_CANDIDATES, number=st.integers(1, 12))
    def rewrite(self, candidate: Candidate, number: int) -> None:
        """A person changes a line that the mirror shows."""
        old = store.get(self.connection, number, WHOLE_HOME)
        if old is not None and old.status == "active" and not candidate.slot and old.form in ("note", "episode"):
            supersede(
                self.connection, number, replace(candidate, scope=old.scope, form=candidate.form), _occasion(self.day)
            )

    @rule(number=st.integers(1, 12))
    def take_away(self, number: int) -> None:
        """A person wants something forgotten."""
        forget(self.connection, number, WHOLE_HOME, _occasion(self.day))

    @rule(days=st.integers(1, 40))
    def wait(self, days: int) -> None:
        """Time passes."""
        self.day += days

    @invariant()
    def one_live_row_a_key(self) -> None:
        """At most one live record has a key, in a scope and form."""
        keys = [row[:3] for row in _live(self.connection)]
        assert len(keys) == len(set(keys))

    @invariant()
    def nothing_is_erased(self) -> None:
        """The number of records never falls."""
        count = self.connection.execute("SELECT count(*) FROM record").fetchone()[0]
        assert count >= self.records
        self.records = count

    @invariant()
    def every_change_of_status_has_an_event(self) -> None:
        """It says which record it was and what it was before; nothing comes back to life by itself."""
        now = dict(self.connection.execute("SELECT id, status FROM record").fetchall())
        for number, status in now.items():
            before = self.statuses.get(number, "active")
            if status != before:
                kind, data = self.connection.execute(
                    "SELECT type, data FROM event WHERE record_id = ? ORDER BY id DESC LIMIT 1", (number,)
                ).fetchone()
                assert (kind, before) == (status, "active")
                assert '"from": "active"' in data
        self.statuses = now

    @invariant()
    def superseding_makes_no_circle(self) -> None:
        """Every superseded record leads to one that lives or was put away otherwise."""
        heirs: dict[int, list[int]] = {}
        for source, target in self.connection.execute("SELECT src, dst FROM link WHERE type = 'supersedes'"):
            heirs.setdefault(target, []).append(source)
        for number, status in self.statuses.items():
            assert (status == "superseded") <= (number in heirs)
            seen, front = set(), [number]
            while front:
                following = front.pop()
                for heir in heirs.get(following, []):
                    assert heir != number, "a circle"
                    if heir not in seen:
                        seen.add(heir)
                        front.append(heir)

    @invariant()
    def belief_stays_between_none_and_certainty(self) -> None:
        """Confidence is a share, and what was seen was seen once at least."""
        for confidence, seen in self.connection.execute("SELECT confidence, seen FROM record"):
            assert 0 < confidence <= 1
            assert seen >= 1

    @invariant()
    def packs_show_what_they_may(self) -> None:
        """Within the budget, of the right scopes only, and nothing that is not alive."""
        today = _occasion(self.day).day
        for scopes, chat in ((("owner", "chat:fake-1"), "chat:fake-1"), (("chat:fake-2",), "chat:fake-2")):
            for budget in (60, 400, 6000):
                pack = Recall(_ZONE)(self.connection, Query(scopes, chat, today, budget))
                parts = [pack.long_term, pack.recent, pack.chat]
                notes = sum(part.count("_(MEMORY.md goes on") for part in parts) * 16
                assert sum(estimate(part) for part in parts if part) <= budget + notes + len(parts)
                assert estimate(pack.context) <= DEFAULT.working_tokens
                allowed = {
                    text
                    for scope, text in self.connection.execute("SELECT scope, text FROM record WHERE status = 'active'")
                    if scope in scopes
                }
                assert set(pack.texts[1:]) <= allowed


TestMemory = Memory.TestCase
TestMemory.settings = settings(max_examples=40, stateful_step_count=25)


@given(st.lists(st.tuples(_SCOPES, st.sampled_from(["daily", "core"]), st.booleans()), max_size=12), _SCOPES)
def test_nothing_of_another_scope_or_forgotten_is_ever_shown(kept: list[tuple[str, str, bool]], chat: str) -> None:
    """Each memory has a mark of its own, so that any trace of it in a pack is seen."""
    assume(chat.startswith("chat:"))
    with _memory() as connection:
        marks = {}
        for number, (scope, tier, away) in enumerate(kept):
            mark = f"⟦mark {number:03}⟧"
            candidate = Candidate("note", scope, f"line\n{mark}\nline", tier="core" if tier == "core" else "daily")
            decision = admit(connection, candidate, _occasion())
            if away and decision.record is not None:
                assert forget(connection, decision.record, WHOLE_HOME, _occasion())
            marks[mark] = (scope, away)
        for scopes in (("owner", chat), (chat,), ("user:fake-2", chat)):
            shown = _shown(Recall(_ZONE)(connection, Query(scopes, chat, _occasion().day, 6000)))
            for mark, (scope, away) in marks.items():
                assert (mark in shown) == (scope in scopes and not away)
