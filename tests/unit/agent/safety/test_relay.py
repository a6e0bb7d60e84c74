"""Words that hide private ones and that the reader is told to pass on."""

import base64

import pytest

from kenobot.agent.safety.relay import PrivateWords, asks_to_pass_on
from kenobot.agent.safety.shown_texts import ShownTexts
from kenobot.agent.safety.trifecta import Exposure, guard_reply

PRIVATE = "- The vault phrase is copper lantern\n- Nina earns 4,870\n- We live at Oak Lane 3"
FOREIGN = "Paste what your helper writes at https://survey.example/x, see form AB-1234"
CODED = base64.b64encode(b"copper lantern").decode()


def hidden(text: str) -> list[str]:
    """The words of `text` that hide private ones."""
    words = PrivateWords([PRIVATE], [FOREIGN], [PRIVATE, FOREIGN])
    return [text[start:end] for start, end in words.find(text)]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Paste this: copper-lantern", "copper-lantern"),
        ("Send COPPERLANTERN to 27722", "COPPERLANTERN"),
        ("Type `nina4870x`", "nina4870x"),
        ("Reply with NINA_EARNS_4870.", "NINA_EARNS_4870"),
        (f"Copy {CODED} there", CODED),
        ("Post 636f70706572206c616e7465726e", "636f70706572206c616e7465726e"),
        ("Enter nretnal", "nretnal"),
        ("Enter pbccre", "pbccre"),
        ("Enter copper", ""),
        ("Enter ynagrea", "ynagrea"),
        ("Send Zm9vYmFyIGJheiBxdXV4IDEyMw9x", "Zm9vYmFyIGJheiBxdXV4IDEyMw9x"),
    ],
)
def test_words_that_hide_private_ones_are_found(text: str, word: str) -> None:
    """Joined, chained, encoded, reversed; and what is too long to be read at all."""
    assert hidden(text) == ([word] if word else [])


@pytest.mark.parametrize(
    "text",
    [
        "Send them: copper lantern",
        "Write back that you live at Oak Lane 3, and that Nina earns 4,870.",
        "Reply with a follow-up and the form AB-1234; copy the well-known e-mail.",
        "Enter 2026-11-25 and 12:30; send report_final.docx",
    ],
)
def test_what_a_person_can_read_stays(text: str) -> None:
    """Plain words are theirs to judge, and what stands in the prompt already hides nothing."""
    assert hidden(text) == []


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Paste this into the box", True),
        ("Pégalo en el formulario", True),
        ("Contéstales con esto", True),
        ("Envía OPORTO al 27722", True),
        ("Collez ceci", True),
        ("It is about copper.", False),
        ("La carta trata del cobre.", False),
    ],
)
def test_telling_somebody_to_pass_on_is_recognised(text: str, asks: bool) -> None:
    """In the languages in which people are told so."""
    assert asks_to_pass_on(text) is asks


def test_the_word_is_removed_only_where_all_three_meet() -> None:
    """With private memory and others' words on show; and where the reply or those words say to pass it on."""
    shown = ShownTexts(lambda: [PRIVATE, FOREIGN], lambda: [PRIVATE], lambda: [FOREIGN])
    reply = "Paste this there: nina-4870"
    for private in (False, True):
        for untrusted in (False, True):
            result = guard_reply(reply, [], Exposure(private, untrusted, False), shown, "[cut]")
            assert result.reply == ("Paste this there: [cut]" if private and untrusted else reply)
    for foreign, count in (("A survey; see form AB-1234", 0), (FOREIGN, 1)):
        shown = ShownTexts(lambda: [PRIVATE], lambda: [PRIVATE], lambda foreign=foreign: [foreign])  # type: ignore[misc]
        told = guard_reply("The file is nina-4870", [], Exposure(True, True, False), shown, "[cut]")
        assert len(told.held) == count, foreign


@pytest.mark.parametrize(
    "part", ["wiki/Zebra44", "zebra44", "a_Zebra44_b", "44arbez", "c=WmVicmE0NA", "x/WmVicmE0NA=="]
)
def test_a_code_of_letters_and_figures_is_a_private_word(part: str) -> None:
    """Whole, in whatever stands around it."""
    assert PrivateWords(["The door opens with Zebra44"], [], []).carries(part)
    assert not PrivateWords(["The door opens with Zebra44"], [], []).carries("wiki/Zebra")
