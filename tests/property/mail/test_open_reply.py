"""What a chat sees of a reply while it is written is never what the whole reply hides."""

from dataclasses import dataclass

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kenobot.agent.safety.shown_texts import ShownTexts
from kenobot.agent.safety.trifecta import Exposure, guard_reply
from kenobot.agent.turn.open_reply import OpenReply
from kenobot.core.redaction import Redactor
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.storage.connection import make_storable
from kenobot_testing.postprocessor import RecordingTurn
from tests.unit.postprocessors.test_tags import TAGS

KNOWN = "hunter2233-ñandú"
REDACT = Redactor([KNOWN, "hunter22"])
PIPELINE = Pipeline(tuple(TAGS.values()), REDACT)
PRIVATE = "- The vault phrase is copper lantern\n- Nina earns 4,870 and lives at Oak Lane 3"
PROMPT = ShownTexts(
    lambda: (PRIVATE, "See known.example/page"), lambda: (PRIVATE,), lambda: ("See known.example/page",)
)
MARK = "[link removed]"

WORDS = ("Hello", " ", " ", ". ", ", ", "\n", "\n\n", "é", "e\u0301", "🎉", "👩‍👩‍👧", "🇪🇸", "日本", "12", "a", "the")
SECRETS = (
    *(
        "hunter22",
        "33-ñandú",
        "sk-",
        "sk-ant-api03-abc",
        "defghijklmnop",
        "AKIA",
        "IOSFODNN7EXAMPLE",
        "xoxb-",
        "Bearer ",
    ),
    *("password", " is ", "la clave", ": ", "perro99", "12345678", ":", "AAFd3kq9ZxcVbnmAsdfGhjkLqwertyUiop0"),
    *("https://", "user", "@host", "eyJhbGciOi", ".", "-----BEGIN PRIVATE KEY-----", "\nMIIEvQIBADANBgkqhkiG9w0BAQ"),
)
TAGGED = ("<memory>", "</memory>", "<user>", "</user>", "<chat-memory>", "</chat-memory>", "<mem", "ory>", "<", ">")
ADDRESSES = (
    *(
        "evil",
        ".",
        "example",
        "shop",
        " dot ",
        "com",
        "casino",
        "[.]",
        "(",
        ")",
        " at ",
        "@",
        "@bob",
        "/?q=7741",
        "http:",
    ),
    *(
        "known.example/page",
        "+34 612 34",
        " 56 78",
        "call ",
        "91 555",
        "me",
        "**",
        "&#46;",
        "copper-lantern",
        "nina4870",
    ),
    *("Paste it. ", "Ask", "[more](", "](", "`", "\u200b", "mailto:", "//", "? ", "! ", ".)", "… "),
)


@dataclass(frozen=True)
class Case:
    pieces: tuple[str, ...]
    guarded: bool


cases = st.builds(
    Case, st.lists(st.sampled_from(WORDS + SECRETS + TAGGED + ADDRESSES), max_size=14).map(tuple), st.booleans()
)


def whole(text: str, exposure: Exposure) -> str:
    """What the person is shown in the end, as a turn makes it."""
    processed = PIPELINE.process(REDACT.redact_known(make_storable(text)), (), RecordingTurn(), "en").clean
    return REDACT.redact_known(guard_reply(processed, (), exposure, PROMPT, MARK).reply)


def ink(text: str) -> str:
    """What is seen of a text, however it is laid out."""
    return "".join(text.replace("<", "‹").split())


@settings(deadline=None, max_examples=30)
@given(cases)
@example(Case(("Pay shop", " dot ", "com", " now. ", "Then ask again, will you?"), guarded=True))
@example(Case(("me", ". ", " at ", "evil", ".", "example", " and then ", "some more of it"), guarded=True))
@example(Case(("Use copper-lantern. ", "It is old. ", "Paste it. ", "Then ask again, will you?"), guarded=True))
@example(Case(("la clave", ": ", "perro99", ")", " x"), guarded=False))
@example(Case(("hunter22", "33-ñandú", " ."), guarded=False))
@example(Case(("`", "<memory>", "x", "</memory>", " `", " y ", "<user>"), guarded=False))
def test_what_is_shown_early_begins_what_is_shown_in_the_end(case: Case) -> None:
    """Whatever the reply: with tags, secrets, addresses and letters that come in halves."""
    text, exposure = "".join(case.pieces), Exposure(case.guarded, case.guarded, way_out=False)
    end = ink(whole(text, exposure))
    reply = OpenReply(PIPELINE, REDACT, exposure, PROMPT, MARK)
    for length in range(len(text) + 1):
        shown = ink(reply.show(text[:length]))
        assert end.startswith(shown), (text[:length], shown, end)
