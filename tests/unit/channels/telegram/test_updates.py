"""What the channel makes of one raw update."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
import telegram
from hypothesis import given
from hypothesis import strategies as st

from kenobot.channels.telegram.updates import (
    BotUser,
    IgnoredUpdate,
    MalformedUpdate,
    list_known_fields,
    list_undecided_fields,
    parse_update,
    strip_mention,
    update_id,
)
from kenobot.language.provenance import find_quoted_passages
from kenobot.ports.messages import Inbound
from tests.cases import each
from tests.unit.channels.telegram.cases import conformance

ME = BotUser(7, "KenoBot")
ALICE = {"id": 1, "is_bot": False, "first_name": "Alice", "last_name": "Li\nddell\u2028"}
GROUP = {"chat": {"id": -200, "type": "supergroup"}}


def update(**fields: object) -> dict[str, Any]:
    message = {"message_id": 3, "date": 1_700_000_000, "chat": {"id": 1, "type": "private"}, "from": ALICE}
    return {"update_id": 42, "message": message | fields}


def inbound(**fields: object) -> Inbound:
    result = parse_update(update(**fields), ME)
    assert isinstance(result, Inbound)
    return result


def ignored(raw: dict[str, Any]) -> str:
    result = parse_update(raw, ME)
    assert isinstance(result, IgnoredUpdate)
    return result.reason


def test_a_private_message_becomes_an_inbound() -> None:
    """Every field is where the core expects it, the name on one line, the time in UTC."""
    assert inbound(text="hola") == Inbound(
        channel="telegram",
        external_id="42",
        chat="1",
        user="1",
        text="hola",
        sent_at=datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
        user_name="Alice Li ddell",
        platform_id="3",
    )


def test_a_caption_is_the_text_of_a_picture() -> None:
    """Words that came with a picture count like any others."""
    assert inbound(photo=[{}], caption="what is this?").text == "what is this?"


@each("field", ["photo", "voice", "video_note", "animation", "document", "story", "venue", "poll"])
@each("odd", [{}, [], [{}], {"file_id": 3}, "x", None, {"location": 7, "options": [1]}])
def test_what_has_an_unexpected_form_is_an_attachment_all_the_same(field: str, odd: object) -> None:
    """Nobody who sends a picture or a voice message is left without an answer."""
    (attachment,) = inbound(**{field: odd}).attachments
    assert attachment.handle == ""


@pytest.mark.parametrize("raw", [{"update_id": 1, "something_new": {"a": 1}}, update(hologram={"a": 1})])
def test_what_no_version_knows_is_kept_aside(raw: dict[str, Any]) -> None:
    """An update of a new kind, and a private message of nothing but a new kind of content."""
    with pytest.raises(MalformedUpdate, match=r"something_new|hologram"):
        parse_update(raw, ME)
    assert "service" in ignored(update(hologram={"a": 1}, **GROUP))


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"update_id": 1, "channel_post": {}}, "channel_post"),
        ({"update_id": 1}, "nothing"),
        (update(text="x", **{"from": {"id": 1, "is_bot": True}}), "a bot"),
        (update(text="x", **{"from": None}), "name of a chat"),
        (update(text="x", sender_chat={"id": -200, "type": "supergroup"}), "name of a chat"),
        (update(text="x", chat={"id": -3, "type": "channel"}), "neither"),
        (update(migrate_to_chat_id=-1005, **GROUP), "service"),
        (update(new_chat_members=[{"id": 7}], **GROUP), "service"),
        (update(text="talk among us", **GROUP), "not for the bot"),
        (update(text="@KenoBot2 hi", **GROUP), "not for the bot"),
        (update(text="yes", reply_to_message={"from": {"id": 8, "is_bot": True}}, **GROUP), "not for the bot"),
    ],
)
def test_what_wants_no_answer_is_ignored_with_a_reason(raw: dict[str, Any], reason: str) -> None:
    """Channel posts, bots, channels that write in groups, service messages and other people's talk are left alone."""
    assert reason in ignored(raw)


def test_a_group_message_that_mentions_the_bot_is_for_it() -> None:
    """The mention is cut out, in any case of letters, and the message is marked as not private."""
    message = inbound(text="@kenobot hi", **GROUP)
    assert (message.text, message.private, message.chat) == ("hi", False, "-200")
    assert inbound(text="/start@kenobot now", **GROUP).text == "/start now"
    assert inbound(caption="@kenobot look", photo=[{}], **GROUP).text == "look"
    assert inbound(text="@kenobot", **GROUP).text == "@kenobot"


def test_a_reply_to_the_bot_is_for_it() -> None:
    """Answering one of its messages needs no mention."""
    assert inbound(text="why?", reply_to_message={"from": {"id": 7, "is_bot": True}}, **GROUP).text == "why?"


@conformance("telegram.strip_mention")
def test_strips_mentions(case: dict[str, Any]) -> None:
    """The original strips in any case of letters but recognises only the exact one; ours does both in any."""
    mentioned, text = strip_mention(case["input"]["text"], case["input"]["botUsername"])
    assert text == case["expected"]["stripped"]
    assert mentioned


def test_without_a_username_nothing_is_a_mention() -> None:
    """A bot that has no name yet is not mentioned by a bare at-sign."""
    assert strip_mention("@ hi", "") == (False, "@ hi")


@pytest.mark.parametrize("mark", ["forward_origin", "forward_from", "forward_sender_name"])
def test_forwarded_words_are_marked(mark: str) -> None:
    """What somebody else wrote is not taken for the sender's own words."""
    assert inbound(text="x", **{mark: {}}).forwarded
    assert not inbound(text="x").forwarded


@pytest.mark.parametrize(
    "field",
    [
        {"via_bot": {"id": 9, "is_bot": True, "first_name": "Inline"}},
        {"forward_origin": {"type": "user"}},
        {"forward_origin": {"type": "hidden_user"}},
        {"forward_origin": {"type": "channel"}},
        {"forward_from_message_id": 8},
        {"forward_signature": "Ann"},
        {"is_automatic_forward": True},
        {"author_signature": "the editors"},
        {"business_connection_id": "b1"},
        {"sender_business_bot": {"id": 9, "is_bot": True}},
        {"is_from_offline": True},
        {"is_paid_post": True},
        {"guest_query_id": "g1"},
        {"reply_markup": {"inline_keyboard": []}},
        {"relayed_by": {"id": 9}},
        {"written_by_assistant": True},
        {"origin_tag": None},
    ],
    ids=lambda field: next(iter(field)),
)
def test_only_what_its_sender_certainly_typed_counts_as_their_words(field: dict[str, object]) -> None:
    """A field of authorship, also one that Telegram adds tomorrow, makes the words somebody else's."""
    assert inbound(text="wire the money", **field).forwarded
    assert inbound(caption="wire the money", photo=[{}], **field).forwarded
    assert inbound(text="@kenobot wire it", **GROUP, **field).forwarded


@pytest.mark.parametrize(
    "field",
    [
        {"entities": [{"type": "bold", "offset": 0, "length": 2}]},
        {"link_preview_options": {}},
        {"message_thread_id": 4, "is_topic_message": True},
        {"media_group_id": "a", "photo": [{}], "has_media_spoiler": True, "show_caption_above_media": True},
        {"effect_id": "5"},
        {"has_protected_content": True},
        {"sender_boost_count": 2, "sender_tag": "captain", "paid_star_count": 1},
    ],
    ids=lambda field: next(iter(field)),
)
def test_what_says_nothing_of_the_author_leaves_the_words_to_their_sender(field: dict[str, object]) -> None:
    """Formatting, topics, albums and effects are no reason to doubt who wrote."""
    assert not inbound(text="hello", **field).forwarded


def test_the_words_of_what_is_answered_are_not_the_senders() -> None:
    """Neither a quote nor the message replied to becomes part of the text, which stays the sender's own."""
    message = inbound(
        text="is this true?",
        quote={"text": "the vault code is 7", "position": 0, "is_manual": True},
        external_reply={"origin": {"type": "channel"}},
        reply_to_message={"text": "the vault code is 7", "via_bot": {"id": 9}, "from": {"id": 8, "is_bot": True}},
    )
    assert (message.text, message.forwarded) == ("is this true?", False)


@pytest.mark.parametrize("kind", ["blockquote", "expandable_blockquote", "pre"])
@pytest.mark.parametrize("words", ["text", "caption"])
def test_a_passage_set_apart_as_a_quotation_stays_one(kind: str, words: str) -> None:
    """Telegram takes the marks of a quotation out of the text; they are put back, so that it is nobody's own word."""
    text = "look 😀 I moved\nto Oslo\n\nok"
    entity = {"type": kind, "offset": 8, "length": 15}  # in UTF-16 units, to the end of "Oslo"
    entities = "entities" if words == "text" else "caption_entities"
    message = inbound(photo=[{}], **{words: text, entities: [entity, {"type": "bold", "offset": 0, "length": 4}]})
    assert message.text == "look 😀 \n> I moved\n> to Oslo\n\nok"
    assert find_quoted_passages(message.text) == ["> I moved", "> to Oslo"]
    assert not message.forwarded


LINK = {"type": "text_link", "offset": 5, "length": 4, "url": "https://secret.example/x?a=1&b=2"}


@each(
    ("text", "entities", "read"),
    [
        ("mira aquí", [LINK], "mira aquí (https://secret.example/x?a=1&b=2)"),
        ("mira aquí, y ven", [LINK], "mira aquí (https://secret.example/x?a=1&b=2), y ven"),
        ("mira 😀😀 😀", [LINK], "mira 😀😀 (https://secret.example/x?a=1&b=2) 😀"),
        ("a b", [LINK | {"offset": 0, "length": 1, "url": "http://x.example/1"}, LINK | {"offset": 2, "length": 1}],
         "a (http://x.example/1) b (https://secret.example/x?a=1&b=2)"),
        ("see x.example/a", [LINK | {"offset": 4, "length": 11, "url": "https://x.example/a/"}], "see x.example/a"),
        ("see bank.example", [LINK | {"offset": 4, "length": 12}],
         "see bank.example (https://secret.example/x?a=1&b=2)"),
        ("mira aquí\nfin", [LINK, {"type": "blockquote", "offset": 0, "length": 9}],
         "> mira aquí (https://secret.example/x?a=1&b=2)\nfin"),
        ("mira aquí", [LINK, {"type": "bold", "offset": 5, "length": 4}], "mira aquí (https://secret.example/x?a=1&b=2)"),
        ("mira aquí", [LINK | {"url": "https://a.example/\n\n> b"}], "mira aquí (https://a.example/>b)"),
        ("mira aquí", [{"type": "url", "offset": 5, "length": 4}], "mira aquí"),
        ("mira aquí", [LINK | {"url": ""}], "mira aquí"),
    ],
)  # fmt: skip
@each("place", ["text", "caption", "quote", "answered", "forward"])
def test_a_hidden_link_is_read_with_its_address(
    text: str, entities: list[dict[str, Any]], read: str, place: str
) -> None:
    """The address of a text_link stands behind its words, wherever they stand (PTB 22.8, MessageEntity.url)."""
    worded = {"text": text, "entities": entities}
    match place:
        case "text":
            assert inbound(**worded).text == read
        case "caption":
            assert inbound(photo=[{}], caption=text, caption_entities=entities).text == read
        case "forward":
            assert inbound(**worded, forward_origin={"type": "channel"}).text == read
        case "quote":
            assert inbound(text="?", quote=worded).quoted == read.removeprefix("> ")
        case _:
            assert inbound(text="?", reply_to_message=worded).quoted == read.removeprefix("> ")


ANONYMOUS = {
    "from": {"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"},
    "sender_chat": {"id": -200, "title": "Our\nhouse", "type": "supergroup"},
}


def test_an_anonymous_administrator_speaks_as_the_group() -> None:
    """Its words are its own, and no person's: they come from GroupAnonymousBot (Bot API 5.0, Message.sender_chat)."""
    said = inbound(text="@kenobot hi", author_signature="treasurer", **GROUP, **ANONYMOUS)
    assert (said.user, said.user_name, said.text) == ("-200", "Our house (treasurer)", "hi")
    assert not said.forwarded
    assert inbound(text="@kenobot hi", forward_origin={}, **GROUP, **ANONYMOUS).forwarded
    channel = {"id": -300, "title": "News", "type": "channel"}
    assert "name of a chat" in ignored(update(text="@kenobot hi", **GROUP, **(ANONYMOUS | {"sender_chat": channel})))
    raw = {"update_id": 1, "edited_message": update(text="@kenobot ho", **GROUP, **ANONYMOUS)["message"]}
    assert isinstance(edit := parse_update(raw, ME), Inbound)
    assert (edit.kind, edit.user) == ("edit", "-200")


@given(st.text(max_size=60), st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=5))
def test_quotations_of_any_place_and_length_lose_no_letter(text: str, spans: list[tuple[int, int]]) -> None:
    """Entities that overlap, reach beyond the end or cut a letter in half leave every word where it stood."""
    entities = [{"type": "blockquote", "offset": offset, "length": length} for offset, length in spans]
    plain, marked = parse_update(update(text=text), ME), parse_update(update(text=text, entities=entities), ME)
    assert isinstance(marked, Inbound) == isinstance(plain, Inbound)
    if isinstance(plain, Inbound) and isinstance(marked, Inbound):
        assert re.sub(r"[\s>]", "", marked.text) == re.sub(r"[\s>]", "", plain.text)


def test_every_field_of_a_message_is_decided() -> None:
    """Whose words a field makes of a message is written down for all that the client library knows."""
    slots = {"from" if name == "from_user" else name for name in telegram.Message.__slots__ if name[0] != "_"}
    assert slots <= list_known_fields()
    assert list_undecided_fields(update(text="x", via_bot={}, relayed_by={})) == ["relayed_by"]
    assert list_undecided_fields(update(text="x")) == list_undecided_fields("no update") == []


def test_who_may_talk_is_not_for_the_channel_to_say() -> None:
    """Everybody's message is handed in; the core knows who may talk."""
    mallory = {"id": 9, "is_bot": False, "first_name": "M"}
    message = inbound(text="hi", chat={"id": 9, "type": "private"}, **{"from": mallory})
    assert (message.user, message.chat, message.private) == ("9", "9", True)
    assert inbound(text="@kenobot hi", **GROUP, **{"from": mallory}).user == "9"


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (None, "no number"),
        ([], "no number"),
        ({"message": {}}, "no number"),
        ({"update_id": "5", "message": {}}, "no number"),
        ({"update_id": True}, "no number"),
        ({"update_id": 2**70}, "no number"),
        ({"update_id": 1, "message": "secret words"}, "message"),
        ({"update_id": 1, "message": {}}, "chat, date"),
        (update(text=["secret words"]), "text"),
        (update(date=2**60), "date"),
        (update(**{"from": {"id": "secret words"}}), "from.id"),
    ],
)
def test_a_malformed_update_is_named_without_its_words(raw: object, complaint: str) -> None:
    """The reason names the fields at fault and quotes nobody."""
    with pytest.raises(MalformedUpdate, match=complaint) as refused:
        parse_update(raw, ME)
    assert "secret" not in str(refused.value)


def test_text_that_no_database_takes_is_mended() -> None:
    """NULs go and lone surrogates become replacement characters."""
    assert inbound(text="a\0b\ud800c😀").text == "ab\ufffdc😀"


@pytest.mark.parametrize(("raw", "number"), [({"update_id": 0}, 0), ({"update_id": -1}, None), ("x", None)])
def test_the_number_of_an_update(raw: object, number: int | None) -> None:
    """Only a whole number that can be confirmed counts."""
    assert update_id(raw) == number
