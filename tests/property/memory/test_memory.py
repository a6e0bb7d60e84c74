"""What memory promises whatever is said to it, in whatever order and script."""

from dataclasses import replace
from datetime import timedelta
from zoneinfo import ZoneInfo

from hypothesis import assume, given
from hypothesis import strategies as st

from kenobot.cognitive.control.forget import forget
from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.prompt.full_load import FullLoader
from kenobot.cognitive.recall.results.memory import MemoryPack
from kenobot.cognitive.remember.admit import admit
from kenobot.cognitive.remember.admit_context import AdmitContext
from kenobot.core.token_estimate import estimate_tokens
from kenobot.language.fingerprint import key_of, normalise
from kenobot.language.sanitize import sanitize
from kenobot.ports.memory import Candidate
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES
from kenobot_testing.clock import START
from tests.memory_rows import full_load_query, open_memory

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


def _occasion(days: int = 0) -> AdmitContext:
    at = START + timedelta(days=days)
    return AdmitContext(at, at.date().isoformat(), "test", "fake-1")


def _shown(pack: MemoryPack) -> str:
    return "\n".join([pack["long_term"], pack["recent"], pack["chat"], pack["context"], *pack.texts])


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
    once = sanitize(text, longest)
    assert sanitize(once, longest) == once
    assert len(once) <= longest
    once.encode("utf-8")


# ── admit ────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(_FACTS, max_size=12))
def test_admitting_everything_again_adds_nothing(candidates: list[Candidate]) -> None:
    """The same input twice gives the same store once, and beliefs that are no less sure."""
    with open_memory() as connection:
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
        with open_memory() as connection:
            for candidate in row:
                admit(connection, candidate, _occasion())
            stores.append([live[:3] for live in _live(connection)])
    assert stores[0] == stores[1]


@given(_CANDIDATES, _SECRETS, st.text(max_size=30), st.text(max_size=30))
def test_a_secret_is_refused_wherever_it_stands(candidate: Candidate, secret: str, before: str, after: str) -> None:
    """And leaves no trace in any table."""
    with open_memory() as connection:
        decision = admit(connection, replace(candidate, text=f"{before}\n{secret}\n{after}"), _occasion())
        assert (decision.action, decision.record) == ("refused", None)
        assert secret not in "\n".join(connection.iterdump())


# ── recall ───────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(_CANDIDATES, max_size=12), st.sampled_from([60, 400, 6000]))
def test_a_pack_keeps_its_budget_whatever_is_in_it(candidates: list[Candidate], budget: int) -> None:
    """It shows only what is alive and of the scopes it was asked for."""
    with open_memory() as connection:
        for candidate in candidates:
            admit(connection, candidate, _occasion())
        for scopes, chat in ((("owner", "chat:fake-1"), "chat:fake-1"), (("chat:fake-2",), "chat:fake-2")):
            pack = FullLoader().load(connection, full_load_query(scopes, chat, _occasion().day, budget))
            parts = [pack["long_term"], pack["recent"], pack["chat"]]
            notes = sum(part.count("_(MEMORY.md goes on") for part in parts) * 16
            assert sum(estimate_tokens(part) for part in parts if part) <= budget + notes + len(parts)
            assert estimate_tokens(pack["context"]) <= DEFAULT.working_tokens
            allowed = {
                text
                for scope, text in connection.execute("SELECT scope, text FROM record WHERE status = 'active'")
                if scope in scopes
            }
            assert set(pack.texts[1:]) <= allowed


@given(st.lists(st.tuples(_SCOPES, st.sampled_from(["daily", "core"]), st.booleans()), max_size=12), _SCOPES)
def test_nothing_of_another_scope_or_forgotten_is_ever_shown(kept: list[tuple[str, str, bool]], chat: str) -> None:
    """Each memory has a mark of its own, so that any trace of it in a pack is seen."""
    assume(chat.startswith("chat:"))
    with open_memory() as connection:
        marks = {}
        for number, (scope, tier, away) in enumerate(kept):
            mark = f"⟦mark {number:03}⟧"
            candidate = Candidate("note", scope, f"line\n{mark}\nline", tier="core" if tier == "core" else "daily")
            decision = admit(connection, candidate, _occasion())
            if away and decision.record is not None:
                assert forget(connection, decision.record, ALL_SCOPES, _occasion())
            marks[mark] = (scope, away)
        for scopes in (("owner", chat), (chat,), ("user:fake-2", chat)):
            shown = _shown(FullLoader().load(connection, full_load_query(scopes, chat, _occasion().day, 6000)))
            for mark, (scope, away) in marks.items():
                assert (mark in shown) == (scope in scopes and not away)
