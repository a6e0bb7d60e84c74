"""How Slack's formatting stands within words."""

import pytest

from kenobot.channels.markup import render_parts
from kenobot_slack.events import write


@pytest.mark.parametrize(
    ("markdown", "written"),
    [
        ("**Bold** words", "*Bold* words"),
        ("un**believ**able", "un¦*believ*¦able"),
        ("これは**重要**です", "これは¦*重要*¦です"),
        ("これは、**重要**。", "これは、¦*重要*¦。"),
        ("the `key`s and 3**rd**", "the `key`¦s and 3¦*rd*"),
        ("(**bold**), ~~struck~~!", "(*bold*), ~struck~!"),
        ("**Note:** see\n**below**", "*Note:* see\n*below*"),
        ("👍**good**👍", "👍¦*good*¦👍"),
        ("a [**b**](https://example.org) c", "a <https://example.org|*b*> c"),
    ],
)
def test_marks_within_words_have_an_edge_that_nobody_sees(markdown: str, written: str) -> None:
    """Slack takes marks for formatting at the edges of words only; slackify-markdown 5.0.0 writes U+200B there, too."""
    (part,) = render_parts(markdown, 4000)
    assert write(part).replace("\u200b", "¦") == written
