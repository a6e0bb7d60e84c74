"""What counts as a reaction to a memory, what does not, and what it is applied to."""

from datetime import timedelta

import pytest

from kenobot.cognitive.control.reactions import apply_reaction
from kenobot.cognitive.store import events
from kenobot.language.reactions import ReactionKind, match_reaction
from kenobot.ports.identity import Principal
from kenobot.ports.json_value import Json
from kenobot.ports.records import Record
from kenobot.storage.connection import Connection
from kenobot_testing.clock import START
from tests.memory_rows import get, open_memory, put_record

_OWNER = Principal("owner", ("owner", "chat:fake-1"), "owner", "owner")
_GUEST = Principal("guest", ("user:fake-2", "chat:fake-1"), "user:fake-2", "guest")
_THEN = START + timedelta(minutes=1)
_NOW = START + timedelta(minutes=2)


_YES = """
yes, that's right|Yes that's right!|That’s correct.|exactly|you're right|That is still true
that's right, I told you in May|exacto|Sí, exacto|Así es|¡Correcto!|tienes razón|Eso es cierto|sí, sigue siendo verdad
"""
_NO = """
no, that's wrong|That's not true anymore|thats wrong|No, that is no longer the case|that's wrong because I moved
you're wrong about that|no, I never said that|You got that wrong|eso ya no es así|No, eso no es cierto|eso está mal
te equivocas|Eso ya no es así, me mudé a Lyon|No es verdad|no, no es así|eso es falso|nunca dije eso|Eso ha cambiado
"""
_PIN = """
pin this|Please always remember that|never forget this!|remember this always|recuerda esto siempre
No lo olvides nunca|nunca olvides eso|Fíjalo, por favor
"""
_ANYTHING_ELSE = """
no|nope|No.|yes|sí|ok|no, thanks|no, gracias|ya no|right|is that right?|¿es correcto?|that's right, but I moved
exacto, pero ahora prefiero té|no that is right|no, exacto|If that's wrong tell me|> that's wrong|“that's wrong”
eso es todo|the answer in chapter 3 is wrong|No es correcto usar tabs aquí|I think that's wrong|Is it true|wrong number
that's right now the best we have|recuerda esto siempre: soy alérgico|remember this|Que tengas razón no importa
"""


@pytest.mark.parametrize(("reaction", "texts"), [("confirmed", _YES), ("disputed", _NO), ("pinned", _PIN)])
def test_short_plain_reactions_are_recognised(reaction: ReactionKind, texts: str) -> None:
    """In Spanish and English, with or without a yes or no before and a reason after."""
    heard = {text: match_reaction(text) for text in _each(texts)}
    assert {text for text, found in heard.items() if found is None or found.kind != reaction} == set()


def test_everything_else_is_no_reaction() -> None:
    """A bare no answers a question, a question asks, a but takes back, and a longer sentence is about something."""
    assert {text: found for text in _each(_ANYTHING_ELSE) if (found := match_reaction(text)) is not None} == {}


def test_a_long_text_is_about_something_else() -> None:
    """However it begins."""
    assert match_reaction("that's wrong, " + "and so on " * 40) is None


@pytest.mark.parametrize("text", ["why did you say that", "¿Por qué dices eso?", "¿de dónde sacas eso?"])
def test_asking_for_a_reason_is_no_reaction(text: str) -> None:
    """It is a question, to be answered by /why."""
    assert match_reaction(text) is None


def test_a_yes_applies_to_the_memory_that_the_reply_used() -> None:
    """And to no other one that was on show."""
    with open_memory() as connection:
        lyon, tea = _told(connection, "Adrian lives in Lyon", "Adrian prefers green tea")
        _turn(connection, "Where do I live?", "You live in Lyon.", lyon, tea)
        assert apply_reaction(connection, "fake-1", "Yes, that's right", _OWNER, _NOW) == [lyon.id]
        assert get(connection, lyon.id).verification == "user_confirmed"
        assert get(connection, tea.id) == tea


def test_a_no_applies_in_spanish_too() -> None:
    """The memory becomes disputed and stale, and weaker."""
    with open_memory() as connection:
        [lyon] = _told(connection, "Adrian vive en Lyon")
        _turn(connection, "¿Dónde vivo?", "Vives en Lyon.", lyon)
        apply_reaction(connection, "fake-1", "eso ya no es así", _OWNER, _NOW)
        now = get(connection, lyon.id)
        assert (now.verification, now.lifecycle) == ("disputed", "stale")
        assert now.confidence < lyon.confidence


def test_a_no_that_could_mean_several_memories_means_none() -> None:
    """It would hit one that is right; unless the reaction itself says which."""
    with open_memory() as connection:
        tea, cat = _told(connection, "Adrian drinks tea", "Adrian owns a cat")
        _turn(connection, "What do you know of me?", "Adrian drinks tea and owns a cat.", tea, cat)
        assert apply_reaction(connection, "fake-1", "no, that's wrong", _OWNER, _NOW) == []
        assert apply_reaction(connection, "fake-1", "no, that's wrong, the cat died", _OWNER, _NOW) == [cat.id]


def test_a_memory_that_the_reply_did_not_use_is_not_meant() -> None:
    """It was on show, and the talk was about something else."""
    with open_memory() as connection:
        [tea] = _told(connection, "Adrian drinks green tea")
        _turn(connection, "What is the capital of France?", "Paris.", tea)
        assert apply_reaction(connection, "fake-1", "yes, that's right", _OWNER, _NOW) == []


def test_what_the_turn_before_taught_can_be_pinned() -> None:
    """ "Remember this always" right after telling it, though the reply says nothing of it."""
    with open_memory() as connection:
        _turn(connection, "I am allergic to peanuts", "Noted!")
        record = put_record(connection, "Adrian is allergic to peanuts", at=_THEN, session="fake-1")
        assert apply_reaction(connection, "fake-1", "recuerda esto siempre", _OWNER, _NOW) == [record.id]
        assert get(connection, record.id).policy_class == "protected"


def test_a_reaction_a_day_later_means_something_else() -> None:
    """The last reply is too long ago."""
    with open_memory() as connection:
        [lyon] = _told(connection, "Adrian lives in Lyon")
        _turn(connection, "Where do I live?", "You live in Lyon.", lyon)
        assert apply_reaction(connection, "fake-1", "that's wrong", _OWNER, _NOW + timedelta(days=2)) == []


def test_another_chat_means_its_own_last_reply() -> None:
    """A yes in one chat says nothing about what was shown in another."""
    with open_memory() as connection:
        [lyon] = _told(connection, "Adrian lives in Lyon")
        _turn(connection, "Where do I live?", "You live in Lyon.", lyon)
        assert apply_reaction(connection, "fake-9", "that's wrong", _OWNER, _NOW) == []


def test_a_guest_speaks_for_what_is_theirs_alone() -> None:
    """In a group, a stranger's "that's wrong" does not touch what belongs to the chat or to the owner."""
    with open_memory() as connection:
        ours = put_record(connection, "Adrian lives in Lyon", scope="chat:fake-1")
        theirs = put_record(connection, "Bob lives in Lyon", scope="user:fake-2")
        owners = put_record(connection, "Adrian lives in Lyon", scope="owner")
        _turn(connection, "Who lives in Lyon?", "Adrian and Bob live in Lyon.", ours, theirs, owners)
        assert apply_reaction(connection, "fake-1", "that's wrong", _GUEST, _NOW) == [theirs.id]


def test_a_forwarded_message_is_nobodys_reaction() -> None:
    """Somebody else's words say nothing about the owner's memories."""
    with open_memory() as connection:
        [lyon] = _told(connection, "Adrian lives in Lyon")
        _turn(connection, "Where do I live?", "You live in Lyon.", lyon)
        forwarded = Principal("owner", _OWNER.read_scopes, "owner", "forward")
        assert apply_reaction(connection, "fake-1", "that's wrong", forwarded, _NOW) == []


def _told(connection: Connection, *texts: str) -> list[Record]:
    return [put_record(connection, text, at=START - timedelta(days=3)) for text in texts]


def _turn(connection: Connection, asked: str, reply: str, *shown: Record) -> None:
    """A turn of fake-1 as the database keeps it, with what was shown for it."""
    rows = (
        ("fake-1", role, text, _THEN.isoformat(), 7, "owner") for role, text in (("user", asked), ("assistant", reply))
    )
    connection.executemany(
        "INSERT INTO message (session, role, text, at, inbox_id, trust) VALUES (?, ?, ?, ?, ?, ?)", rows
    )
    data: dict[str, Json] = {"inbox": 7, "records": [record.id for record in shown]}
    events.add_event(connection, _THEN, "recall", "recalled", session="fake-1", data=data)


def _each(texts: str) -> list[str]:
    return [text for line in texts.strip().splitlines() for text in line.split("|")]
