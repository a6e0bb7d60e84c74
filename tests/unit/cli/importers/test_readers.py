"""One reader a kind of export: each piece of a file is one record, counted once."""

import io
import json
from collections import Counter
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from kenobot_importers import whatsapp
from kenobot_importers.chatgpt import CHATGPT
from kenobot_importers.claude_export import CLAUDE
from kenobot_importers.talk import AmbiguousDates, TalkFormat, TalkOptions, TalkRecord, summarize_talk
from kenobot_importers.telegram_export import TELEGRAM
from kenobot_importers.whatsapp import WHATSAPP
from tests.cases import each
from tests.unit.cli.importers import exports
from tests.unit.cli.importers.exports import chatgpt_node, claude_message, telegram_message

NOW = datetime(2026, 2, 14, 14, 30, tzinfo=UTC)
OPTIONS = TalkOptions(ZoneInfo("Europe/Madrid"), NOW, NOW)


def read(form: TalkFormat, content: object, day_first: bool | None = None) -> list[TalkRecord]:
    """What a reader makes of a file; what is no text is written as JSON."""
    raw = (content if isinstance(content, str) else json.dumps(content)).encode()
    options = form.settle(lambda: io.BytesIO(raw), TalkOptions(OPTIONS.zone, NOW, NOW, day_first))
    return list(form.read(lambda: io.BytesIO(raw), options))


def list_of(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def said(records: list[TalkRecord]) -> list[tuple[str, str]]:
    return [(record.speaker, record.text) for record in records if record.kind == "kept"]


# ── WhatsApp ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_iphone_in_spanish_is_read_with_its_marks() -> None:
    """Narrow blanks, invisible marks, pictures, captions, notes of the program and messages of several lines."""
    records = read(WHATSAPP, exports.WHATSAPP_IPHONE)
    assert said(records) == [
        ("Luis", "El dentista de Toby se llama Quintanilla\ntiene consulta en Lugo"),
        ("+34 612 34 56 78", "Voy a Roma"),
        ("Ana García", "mira"),
    ]
    assert records[2].at == datetime(2026, 1, 13, 20, 5, tzinfo=UTC)
    assert records[3].at == datetime(2026, 1, 13, 23, 5, tzinfo=UTC)
    lines = summarize_talk(records).lines
    assert lines == Counter(kept=4, system=2, media=1, empty=1)
    assert lines.total() == exports.WHATSAPP_IPHONE.count("\n")


@each(
    "head",
    [
        "1/2/26, 21:03 - ", "1/2/26, 9:03 PM - ", "1/2/26, 9:03\u202fpm - ", "1/2/26 9:03 p. m. - ",
        "01/02/2026 à 21:03 - ",
        "01.02.26, 21:03 - ", "1.2.2026 klo 21.03 - ", "[1.2.2026 klo 21.03.00] ", "01-02-2026 21:03 - ",
        "2026-02-01 21:03 - ", "2026/2/1 下午9:03 - ", "[2026/2/1, 下午9:03:00] ", "2026. 2. 1. 오후 9:03 - ",
        "[01/02/26, 21:03:00] ", "\u200e[01/02/2026, 9:03:00 PM] ", "\u200f[١\u200f/٢\u200f/٢٠٢٦, ٩:٠٣:٠٠ م] ",
        "1. 2. 2026, 21:03 - ",
        "1/2/2569, 21:03 - ", "01/02/26, 21.03 - ", "[1/2/26 21:03:00] ", "01.02.26, 21:03:00: ",
    ],
)  # fmt: skip
def test_forms_of_phones_and_languages_are_one_moment(head: str) -> None:
    """Whatever stands between and around the numbers."""
    records = read(WHATSAPP, f"{head}Ana: hola: qué tal\n", day_first=True)
    assert said(records) == [("Ana", "hola: qué tal")]
    assert records[0].at == datetime(2026, 2, 1, 20, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("lines", "day"),
    [
        (["13/1/26, 10:00 - A: x", "2/2/26, 10:00 - A: y"], (2, 2)),
        (["1/13/26, 10:00 - A: x", "2/1/26, 10:00 - A: y"], (2, 1)),
        (["1/2/26, 10:00 - A: x", "2/2/26, 10:00 - A: y", "1/3/25, 10:00 - B: z"], None),
        (["1/12/25, 10:00 - A: x", "3/1/26, 10:00 - A: y"], (1, 3)),
        (["2/1/26, 10:00 - A: x", "1/2/26, 10:00 - A: y"], (2, 1)),
        (["12/1/26, 10:00 - A: x"], (1, 12)),
        (["2/2/26, 10:00 - A: x"], (2, 2)),
        (["1/2/26, 10:00 - A: x"], None),
    ],
)
def test_whether_days_come_first_is_read_from_the_whole_file(lines: list[str], day: tuple[int, int] | None) -> None:
    """By numbers above 12, by the order of the lines, by what is still to come; else it is asked."""
    if day is None:
        with pytest.raises(AmbiguousDates):
            read(WHATSAPP, "\n".join(lines))
        return
    at = read(WHATSAPP, "\n".join(lines))[-1].at
    assert at is not None
    assert (at.month, at.day) == day


@pytest.mark.parametrize(("line", "month"), [("1/2/26", 1), ("13/2/26", 2)])
def test_what_a_person_says_of_dates_holds_where_it_can(line: str, month: int) -> None:
    """One answer is for all files, of which some tell that they are otherwise."""
    at = read(WHATSAPP, f"{line}, 10:00 - Ana: x\n", day_first=False)[0].at
    assert at is not None
    assert at.month == month


@each(
    ("line", "kind"),
    [
        ("Ana: <Media omitted>", "media"), ("Ana: <Medien ausgeschlossen>", "media"),
        ("Ana: IMG-1.jpg (file attached)", "media"),
        ("Ana: PTT-2.opus (archivo adjunto)", "media"), ("Ana: null", "system"),
        ("Ana: location: https://maps.google.com/?q=43.0,-7.5", "media"),
        ("Ana: look: https://x.example", "kept"),
        ("Ana: This message was deleted", "system"),
        ("Ana: ", "empty"), ("Ana: \nbelow", "kept"),
        ('Ana changed the subject to "Trip: Rome"', "system"), ("Ana added Bob", "system"),
        ("Messages and calls are end-to-end encrypted. Tap to learn more.", "system"),
        ("Ana: \u200evideo omitted", "media"),
        ("Ana: I changed the subject: it is Rome now", "kept"), ("Ana: video call tomorrow?", "kept"),
        ("Ana: see a<b and c>d", "kept"), ("Ana: image omitted from the report, sorry", "kept"),
        ("Ana: \u200ePOLL:\n\u200eWhich hut?\n\u200eOPTION: Alm (\u200e2 votes)", "kept"),
        ("Ana: \u200eYou deleted this message.", "system"),
        ("Ana: Waiting for this message. This may take a while.", "system"),
        ("Ana: waiting for this message made me late", "kept"),
        ("Ana: Данное сообщение удалено", "system"), ("Ana: Bu mesaj silindi", "system"),
        ("Ana: данное сообщение удалено админом, жаль", "kept"),
        ("Ana: \u200einforme.pdf • \u200e12 páginas \u200edocumento omitido", "media"),
    ],
)  # fmt: skip
def test_what_the_program_writes_is_no_talk(line: str, kind: str) -> None:
    """And what people write about it is."""
    assert [each.kind for each in read(WHATSAPP, f"13/1/26, 10:00 - {line}\n")] == [kind]


def test_a_message_goes_on_over_dates_in_another_form() -> None:
    """A list of dates within a message begins no other; lines before the first are not understood."""
    text = "garbage\n13/1/26, 10:00 - Ana: list:\n14/1/26 9:00 dentist\n14/1/26, 9:00:00 - bank\n"
    records = read(WHATSAPP, text)
    assert said(records) == [("Ana", "list:\n14/1/26 9:00 dentist\n14/1/26, 9:00:00 - bank")]
    assert summarize_talk(records).unclear == [(1, "garbage")]


def test_other_texts_are_no_chats() -> None:
    """Notes with dates, and a file of another kind of name."""
    assert not whatsapp.WHATSAPP.is_of("notes.txt", b"2026-02-01 went to Rome\n21:03 - home\n")
    assert not whatsapp.WHATSAPP.is_of("a.csv", b"1/2/26, 21:03 - Ana: x\n")


# ── Telegram ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_telegram_texts_stand_as_pieces() -> None:
    """Links and bold words are joined; service messages, pictures and stickers are counted as what they are."""
    chat = exports.telegram_chat(
        [
            {
                "id": 1,
                "type": "service",
                "date": "2026-01-05T10:00:00",
                "actor": "Ana",
                "action": "phone_call",
                "text": "",
            },
            telegram_message(2, ["see ", {"type": "link", "text": "https://x.example"}, " now"], reply_to_message_id=1),
            telegram_message(3, "", photo="photos/1.jpg"),
            telegram_message(4, "a caption", photo="photos/1.jpg"),
            telegram_message(5, "news", forwarded_from="Paper"),
            telegram_message(6, ""),
            telegram_message(7, "", poll={"question": "Rome?", "answers": [{"text": "Yes"}, {"text": "No"}]}),
            telegram_message(9, "", contact_information={"first_name": "Bo", "last_name": "", "phone_number": "+341"}),
            telegram_message(10, "", location_information={"latitude": 1}, place_name="Café Kranz", address="Kai 3"),
            telegram_message(11, "", location_information={"latitude": 1, "longitude": 2}),
            {"id": 8, "type": "unsupported"},
        ]
    )
    chat["messages"] = [*list_of(chat["messages"]), "no message"]
    records = read(TELEGRAM, chat)
    assert [each.kind for each in records] == [
        "system", "kept", "media", "kept", "kept", "empty", "kept", "kept", "kept", "media", "unclear",
        "unclear",
    ]  # fmt: skip
    assert records[1].text == "see https://x.example now"
    assert [each.text for each in records[6:9]] == ["Rome?\nYes, No", "Bo +341", "Café Kranz, Kai 3"]
    assert records[1].at == datetime(2026, 1, 5, 9, 2, tzinfo=UTC)
    assert [each.quoted for each in records[3:5]] == [False, True]


def test_an_account_of_telegram_has_many_chats() -> None:
    """Each is a conversation, and what is beside the chats is none."""
    chats = [exports.telegram_chat([telegram_message(1, f"hi {name}")], name) | {"id": name} for name in ("Ana", "Bo")]
    account = {"about": "x", "personal_information": {"user_id": 1}, "contacts": {"list": [{"name": "z"}]}}
    records = read(TELEGRAM, account | {"chats": {"about": "y", "list": chats}, "left_chats": {"list": chats[:1]}})
    assert [(each.conversation, each.text) for each in records] == [
        ("Ana", "hi Ana"),
        ("Bo", "hi Bo"),
        ("Ana", "hi Ana"),
    ]


# ── ChatGPT and Claude ───────────────────────────────────────────────────────────────────────────────────────────────


def test_of_a_tree_the_branch_is_read_that_was_shown_last() -> None:
    """What stands on others, is hidden, or is said to a tool is counted, and no talk."""
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f"}
    nodes = [
        chatgpt_node("sys", "root", "system", ""),
        chatgpt_node("u1", "sys", "user", "How long does rye rise?"),
        chatgpt_node("a1", "u1", "assistant", "Two hours."),
        chatgpt_node("a2", "u1", "assistant", "Twelve hours."),
        chatgpt_node("h", "a2", "user", "secret prompt", **hidden),
        chatgpt_node("t", "h", "assistant", "search()", recipient="web"),
        chatgpt_node("r", "t", "tool", "result"),
        chatgpt_node(
            "p", "r", "user", "", content={"content_type": "multimodal_text", "parts": [picture, "this loaf"]}
        ),
        chatgpt_node("q", "p", "user", "", content={"content_type": "multimodal_text", "parts": [picture]}),
        chatgpt_node("m", "q", "assistant", "", content={"content_type": "thoughts", "thoughts": []}),
    ]
    records = read(CHATGPT, [exports.chatgpt_conversation(nodes, "m")])
    assert said(records) == [("user", "How long does rye rise?"), ("ChatGPT", "Twelve hours."), ("user", "this loaf")]
    assert summarize_talk(records).lines == Counter(kept=3, system=5, media=1, branch=1)


def test_what_chatgpt_knew_of_the_person_is_kept_once() -> None:
    """Instructions are the person's words and memories the program's; each stands before every conversation."""
    told = {"content_type": "user_editable_context", "user_profile": "I row.", "user_instructions": "Be brief."}
    noted = {"content_type": "model_editable_context", "model_set_context": "1. Has a daughter."}
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    nodes = [
        chatgpt_node("i", "root", "user", "", content=told, **hidden),
        chatgpt_node("m", "i", "system", "", content=noted, **hidden),
        chatgpt_node("u", "m", "user", "Hello"),
    ]
    records = read(CHATGPT, [exports.chatgpt_conversation(nodes, "u")] * 2)
    assert said(records)[:3] == [("user", "I row.\nBe brief."), ("ChatGPT", "1. Has a daughter."), ("user", "Hello")]
    assert summarize_talk(records).lines == Counter(kept=4, system=2)


def test_a_tree_without_its_end_or_in_a_ring_is_read_all_the_same() -> None:
    """By its newest leaf; a ring ends where it began."""
    nodes = [chatgpt_node("u", "root", "user", "one"), chatgpt_node("a", "u", "assistant", "two")]
    assert len(said(read(CHATGPT, [exports.chatgpt_conversation(nodes, None)]))) == 2
    ring = [chatgpt_node("u", "a", "user", "one"), chatgpt_node("a", "u", "assistant", "two")]
    assert len(said(read(CHATGPT, [exports.chatgpt_conversation(ring, "a")]))) == 2
    assert [each.kind for each in read(CHATGPT, [{"mapping": 5}, 7])] == ["unclear", "unclear"]


def test_claude_branches_and_blocks() -> None:
    """A message edited away stands on another branch; tools and thoughts are the program's; files are files."""
    messages = [
        claude_message(1, "human", "green tea?", 0),
        claude_message(2, "assistant", "Eighty degrees.", 1),
        claude_message(3, "human", "white tea?", 0),
        claude_message(4, "assistant", "Seventy.", 3),
        claude_message(5, "human", "", 4, files=[{"file_name": "a.png"}]),
        claude_message(6, "assistant", "", 5, content=[{"type": "tool_use", "name": "x"}]),
    ]
    records = read(CLAUDE, [exports.claude_conversation(messages)])
    assert said(records) == [("user", "white tea?"), ("Claude", "Seventy.")]
    assert summarize_talk(records).lines == Counter(kept=2, branch=2, media=1, system=1)
    flat = [claude_message(1, "human", "a"), claude_message(2, "assistant", "b"), claude_message(3, "human", "c")]
    assert len(said(read(CLAUDE, [exports.claude_conversation(flat)]))) == 3


def test_texts_attached_in_claude_are_quoted_before_the_message() -> None:
    """In pieces that memory takes whole; a file without its text is a file."""
    attached = [{"file_name": "guests.txt", "extracted_content": "Norma eats no meat. " * 1500}, {"file_name": "x.zip"}]
    messages = [claude_message(1, "human", "seat them", attachments=attached), claude_message(2, "assistant", "Done.")]
    records = read(CLAUDE, [exports.claude_conversation(messages)])
    assert [(each.quoted, each.text[:13]) for each in records] == [
        (True, "guests.txt:\nN"),
        (True, "guests.txt:\n" + records[1].text[12]),
        (False, "seat them"),
        (False, "Done."),
    ]
    assert sum(each.text.count("Norma") for each in records) >= 1499


@pytest.mark.parametrize("form", [TELEGRAM, CHATGPT, CLAUDE])
def test_a_broken_file_gives_what_stands_before(form: TalkFormat) -> None:
    """And one line that says where it ends."""
    whole = {
        "telegram": exports.telegram_chat([telegram_message(1, "a"), telegram_message(2, "b")]),
        "chatgpt": [exports.chatgpt_conversation([chatgpt_node("u", "root", "user", "a")], "u")] * 2,
        "claude": [exports.claude_conversation([claude_message(1, "human", "a")])] * 2,
    }[form.name]
    records = read(form, json.dumps(whole)[:-20])
    assert [each.kind for each in records] == ["kept", "unclear"]
    assert [each.kind for each in read(form, '{"messages": ' + "[" * 100_000)] == ["unclear"]
