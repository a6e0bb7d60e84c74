"""Attachments come in from Telegram: albums as one message, and files by their ids."""

from typing import Any

import pytest

from kenobot.channels.telegram.channel import TelegramChannel
from kenobot.ports.errors import Rejected, StoreError, Unavailable
from kenobot.ports.messages import Attachment
from tests.integration.telegram.standin import HTML, OTHER, TOKEN, Answer, Box, FakeTelegram, until_idle, update


def _item(number: int, album: str = "a", caption: str = "", user: int = 1, **fields: Any) -> dict[str, Any]:
    raw = update(number, user=user)
    del raw["message"]["text"]
    raw["message"] |= {"photo": [{"file_id": f"p{number}", "file_size": 9}], "media_group_id": album, **fields}
    if caption:
        raw["message"]["caption"] = caption
    return raw


def _handles(box: Box) -> list[tuple[str, list[str]]]:
    return [(each.text, [attachment.handle for attachment in each.attachments]) for each in box.inbounds]


async def test_an_album_is_one_message_also_when_it_comes_in_pieces(
    telegram: FakeTelegram, channel: TelegramChannel
) -> None:
    """It is asked for again until it grows no more, and not confirmed before; others keep their places."""
    first, whole = [_item(5), update(6, "hi", 2)], [_item(5), update(6, "hi", 2), _item(7, caption="Lyon"), _item(8)]
    telegram.answers("getUpdates", Answer(first), Answer(whole), Answer(whole))
    box = Box()
    await until_idle(channel, telegram, box)
    assert sorted(_handles(box)) == [("Lyon", ["p5", "p7", "p8"]), ("hi", [])]
    assert telegram.offsets() == [None, None, None, "9"]


async def test_every_caption_of_an_album_is_read(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """In the order of the pictures, with links, and in a group without the bot's name (Telegram 12, one by one)."""
    link = {"type": "text_link", "offset": 0, "length": 4, "url": "https://x.example/a"}
    group: dict[str, Any] = {"chat": {"id": -5, "type": "supergroup"}}
    private = [_item(1), _item(2, caption="the bill"), _item(3, caption="the key"), _item(4)]
    private[1]["message"]["caption_entities"] = [link | {"offset": 4}]
    shared = [_item(number, "b", text, **group) for number, text in ((5, "red"), (6, "@KenoBot blue"), (7, "green"))]
    telegram.answers("getUpdates", *[Answer(private + shared)] * 2)
    await until_idle(channel, telegram, box := Box())
    assert sorted(_handles(box)) == [
        ("red\nblue\ngreen", ["p5", "p6", "p7"]),
        ("the bill (https://x.example/a)\nthe key", ["p1", "p2", "p3", "p4"]),
    ]
    assert not any(each.forwarded for each in box.inbounds)


async def test_an_album_of_which_a_part_was_forwarded_is_no_word_of_the_senders(
    telegram: FakeTelegram, channel: TelegramChannel
) -> None:
    """What one of its pictures says of the author holds for the text that all of them share."""
    batch = [_item(1, caption="mine"), _item(2, caption="theirs", forward_origin={"type": "user"})]
    telegram.answers("getUpdates", *[Answer(batch)] * 2)
    await until_idle(channel, telegram, box := Box())
    assert [(each.text, each.forwarded) for each in box.inbounds] == [("mine\ntheirs", True)]


async def test_two_albums_are_two_messages(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """Of one chat or of two, whatever their names."""
    batch = [_item(1, "a"), _item(2, "b"), _item(3, "a"), _item(4, "a", user=2)]
    telegram.answers("getUpdates", Answer(batch), Answer(batch))
    box = Box()
    await until_idle(channel, telegram, box)
    assert sorted(_handles(box)) == [("", ["p1", "p3"]), ("", ["p2"]), ("", ["p4"])]


async def test_an_album_is_confirmed_whole_or_not_at_all(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """Where the disk fails for a message in its middle, all of it comes again, as the same message."""
    batch = [_item(1), update(2, "hi", 2), _item(3)]
    telegram.answers("getUpdates", *[Answer(batch)] * 4)
    box = Box()

    def fail_once(inbound: object) -> None:
        if getattr(inbound, "user", "") == "2" and not failed:
            failed.append(inbound)
            raise StoreError("no space")

    failed: list[object] = []
    box.watch = fail_once
    await until_idle(channel, telegram, box)
    assert sorted(_handles(box)) == [("", ["p1", "p3"]), ("hi", [])]
    assert telegram.offsets()[-1] == "4"


async def test_a_file_is_fetched_by_its_id(telegram: FakeTelegram, channel: TelegramChannel) -> None:
    """From beside the address of the Bot API."""
    telegram.files["voice1"] = b"OggS" * 50_000
    pieces = [piece async for piece in channel.fetch(Attachment("voice", handle="voice1"))]
    assert b"".join(pieces) == telegram.files["voice1"]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(status=502, error="Bad Gateway"), Unavailable),
        (Answer(status=404, error="Not Found"), Rejected),
        (Answer(status=403, body=HTML), Unavailable),
        (Answer(status=403, body=OTHER), Unavailable),
    ],
)
async def test_a_file_that_is_not_handed_over(
    telegram: FakeTelegram, channel: TelegramChannel, answer: Answer, error: type[Exception]
) -> None:
    """Tried again or not, and the token stands in no error."""
    telegram.files["v"] = b"x"
    telegram.answers("file", answer)
    with pytest.raises(error) as raised:
        [piece async for piece in channel.fetch(Attachment("voice", handle="v"))]
    assert TOKEN not in str(raised.value)
    with pytest.raises(Rejected):
        [piece async for piece in channel.fetch(Attachment("voice", handle="unknown"))]


@pytest.mark.parametrize(
    ("fields", "attachment"),
    [
        (
            {"photo": [{"file_id": "s", "file_size": 10}, {"file_id": "l", "file_size": 900}]},
            Attachment("image", "image/jpeg", size=900, handle="l"),
        ),
        (
            {"voice": {"file_id": "v", "duration": 3, "mime_type": "audio/ogg", "file_size": 4}},
            Attachment("voice", "audio/ogg", size=4, handle="v", seconds=3.0),
        ),
        ({"video_note": {"file_id": "v", "duration": 3}}, Attachment("voice", "video/mp4", handle="v", seconds=3.0)),
        (
            {"document": {"file_id": "d", "file_name": "a.pdf", "mime_type": "application/pdf"}},
            Attachment("document", "application/pdf", "a.pdf", handle="d"),
        ),
        ({"sticker": {"file_id": "s", "emoji": "😀"}}, Attachment("sticker", text="😀")),
        ({"location": {"latitude": 40.4168, "longitude": -3.7}}, Attachment("location", text="40.416800, -3.700000")),
        (
            {"contact": {"first_name": "Ana", "last_name": "López", "phone_number": "+34600"}},
            Attachment("contact", text="Ana López\n+34600"),
        ),
        (
            {"poll": {"question": "Dinner?", "options": [{"text": "yes"}, {"text": "no"}]}},
            Attachment("other", name="poll", text="Dinner?\n- yes\n- no"),
        ),
        ({"dice": {"emoji": "🎲", "value": 4}}, Attachment("other", name="dice", text="🎲 4")),
    ],
)
async def test_what_each_kind_is_read_as(
    telegram: FakeTelegram, channel: TelegramChannel, fields: dict[str, object], attachment: Attachment
) -> None:
    """Files by their ids, and the rest in words."""
    raw = update(1)
    del raw["message"]["text"]
    raw["message"] |= fields
    telegram.answers("getUpdates", Answer([raw]))
    box = Box()
    await until_idle(channel, telegram, box)
    assert box.inbounds[0].attachments == (attachment,)
    assert not box.inbounds[0].forwarded
