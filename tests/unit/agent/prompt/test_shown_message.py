"""What prompts derive of a message."""

from dataclasses import astuple
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from kenobot.agent.prompt.shown_message import PersonText, ShownMessages
from kenobot.core.token_estimate import estimate_tokens
from kenobot.language.provenance import find_quoted_passages, without_quotes
from kenobot.ports.provider import Role
from kenobot.storage.conversation import StoredMessage
from kenobot_testing.clock import START

_ZONE, _DAY = ZoneInfo("Europe/Madrid"), START.date().isoformat()
_TEXTS = st.text(st.sampled_from('ab >\n"“”«»`<&ñ你'), max_size=200)


def _stored(text: str, context: str = "", role: Role = "user") -> StoredMessage:
    return StoredMessage(1, role, text, context, START.isoformat(), "owner")


def test_a_message_is_derived_once_until_it_is_changed() -> None:
    """The next prompt has the same object; another text, context or author under the same id is another message."""
    messages = ShownMessages(_ZONE)
    [first] = messages.of([_stored("I live in Oslo")])
    assert messages.of([_stored("I live in Oslo")]) == [first]
    changed = [
        _stored("I live in Rome"),
        _stored("I live in Oslo", "note"),
        _stored("I live in Oslo", role="assistant"),
    ]
    assert first not in messages.of(changed)
    assert [message.text for message in messages.of(changed)] == [message.text for message in changed]


@given(_TEXTS, _TEXTS, st.integers(8, 60), st.booleans())
def test_what_is_kept_of_a_message_is_what_its_words_say(text: str, context: str, tokens: int, shown: bool) -> None:
    """However often and in whatever size it is asked for."""
    [message] = ShownMessages(_ZONE).of([_stored(text, context)])
    rendered = [message.render(size, _DAY, with_context=shown) for size in (tokens, 10 * tokens, tokens)]
    assert rendered[0] == rendered[2]
    assert (rendered[0] is None) is not bool(text.strip())
    assert (message.text_tokens, message.context_tokens) == (estimate_tokens(text), estimate_tokens(context))
    assert message.own_words == without_quotes(text) == PersonText(text).own_words
    assert [astuple(passage) for passage in message.passages] == [
        ("forward", each) for each in find_quoted_passages(text)
    ]
