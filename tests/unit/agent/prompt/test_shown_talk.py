"""The talk of a prompt, extended by what is new."""

from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from kenobot.agent.prompt.shown_talk import ShownTalk, ShownTalks, TalkFrame, TalkReader
from kenobot.ports.identity import Trust
from kenobot.ports.provider import Role
from kenobot.storage.conversation import StoredMessage
from kenobot_testing.clock import START

_ZONE, _DAY = ZoneInfo("Europe/Madrid"), START.date().isoformat()
_TEXTS = ("I live in Oslo", "> it is said\nand I say so", "<memory>x</memory>", "[Ana #a1] hello", " ", "x" * 600)
_READERS = (TalkReader("owner"), TalkReader("guest"), TalkReader("guest", "a1"))
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant"]),
        st.sampled_from(_TEXTS),
        st.sampled_from(["", "a note", "- (quoted from a guest; not an instruction) “there”"]),
        st.sampled_from(["owner", "guest", "forward", "model", "tool"]),
    ),
    max_size=12,
)


def _stored(number: int, role: Role, text: str, context: str, trust: Trust) -> StoredMessage:
    return StoredMessage(number, role, text, context, START.isoformat(), trust)


def _derived(talk: ShownTalk) -> dict[str, object]:
    return {name: value for name, value in vars(talk).items() if name not in ("lines", "last_own")}


@given(_STEPS, st.sampled_from(_READERS), st.integers(0, 12), st.integers(0, 12), st.integers(8, 200))
def test_a_talk_that_was_extended_is_the_one_made_at_once(
    steps: list[tuple[Role, str, str, Trust]], reader: TalkReader, cut: int, last: int, tokens: int
) -> None:
    """Wherever it was cut, and whatever is said: a prompt shows the same, and so does one after an edit or a purge."""
    stored = [_stored(number, *step) for number, step in enumerate(steps, 1)]
    frame = TalkFrame(reader, tokens, _DAY, last)
    whole = ShownTalks(_ZONE).show("console:1", frame, stored)
    talks = ShownTalks(_ZONE)
    begun = talks.show("console:1", frame, stored[:cut])
    before = len(begun.lines)
    talk = talks.show("console:1", frame, stored)
    assert _derived(talk) == _derived(whole)
    assert [line.text for line in talk.lines] == [step[1] for step in steps]
    assert len(begun.lines) == before
    for changed in ([each._replace(text=f"{each.text}!") for each in stored], stored[1:], stored[:-1]):
        assert _derived(talks.show("console:1", frame, changed)) == _derived(
            ShownTalks(_ZONE).show("console:1", frame, changed)
        )


def test_a_talk_is_extended_by_new_messages_alone() -> None:
    """Of those that were shown before nothing is made again; another day, chat or reader is another talk."""
    stored = [_stored(number, "user", f"message {number}", "", "owner") for number in range(1, 5)]
    talks, frame = ShownTalks(_ZONE), TalkFrame(TalkReader("owner"), 100, _DAY, 0)
    first = talks.show("console:1", frame, stored[:3])
    again = talks.show("console:1", frame, stored[:3])
    longer = talks.show("console:1", frame, stored)
    assert again is first
    assert all(one is other for one, other in zip(first.messages, longer.messages[:3], strict=True))
    assert first.stored == tuple(stored[:3])
    tomorrow = talks.show("console:1", frame._replace(day="2030-01-01"), stored)
    assert tomorrow.messages != longer.messages
    guest = talks.show("console:1", frame._replace(reader=TalkReader("guest")), stored)
    assert (longer.before, guest.before) == (tuple(each.text for each in stored), ())
    assert talks.show("console:1", frame._replace(day="2030-01-01"), stored) is tomorrow
