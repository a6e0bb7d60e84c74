"""How the conversation shows a message."""

from kenobot.agent.prompt.speakers import message_text
from kenobot.ports.messages import Inbound
from kenobot.testing.clock import START


def test_in_a_group_the_speaker_is_named() -> None:
    """The conversation shows who said what; in private that goes without saying."""
    assert message_text(Inbound("fake", "1", "1", "42", "hello", START, user_name="Ana")) == "hello"
    group = Inbound("fake", "1", "1", "42", "hello", START, user_name="Ana", private=False)
    assert message_text(group) == "Ana: hello"
    assert message_text(Inbound("fake", "1", "1", "42", "hello", START, private=False)) == "42: hello"
