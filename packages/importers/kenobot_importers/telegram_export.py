"""Read the JSON that Telegram Desktop exports: of one chat, or of an account."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from kenobot_importers.json_items import EACH, NotJson, Path, iterate_items
from kenobot_importers.talk import Open, TalkFormat, TalkKind, TalkOptions, TalkRecord

_MARKS = (b'"text_entities"', b'"date_unixtime"', b'"from_id"', b'"personal_information"', b'"left_chats"')
_CHATS = ("chats", "left_chats")
_MEDIA = (
    "photo file media_type sticker_emoji location_information contact_information poll game_title invoice_information "
    "dice live_location_period_seconds giveaway_information paid_media_information todo_list story_data"
).split()


def _is_of(name: str, head: bytes) -> bool:
    return name.lower().endswith(".json") and b'"mapping"' not in head and any(mark in head for mark in _MARKS)


def _is_message(path: Path) -> bool:
    if path == ("messages", EACH):
        return True
    return len(path) == 5 and path[0] in _CHATS and path[1:] == ("list", EACH, "messages", EACH)


def _read(open_file: Open, options: TalkOptions) -> Iterator[TalkRecord]:
    """Read the messages of all chats. Raises OSError."""
    about: dict[str, object] = {}
    number = 0
    with open_file() as stream:
        try:
            for path, value in iterate_items(stream, _is_message):
                if _is_message(path):
                    number += 1
                    yield _message(value, number, about, options)
                elif len(path) in (1, 4) and path[-1] in ("id", "name", "type"):
                    if path[-1] == "name":
                        about = {}
                    about[path[-1]] = value
        except NotJson as error:
            yield TalkRecord("unclear", number + 1, f"{error}: what follows is not read")


TELEGRAM = TalkFormat("telegram", "Telegram", "message", _is_of, _read)


def _message(value: object, number: int, about: Mapping[str, object], options: TalkOptions) -> TalkRecord:
    if not isinstance(value, dict):
        return TalkRecord("unclear", number, str(value)[:200])
    at = _read_moment(value, options)
    conversation = str(about.get("id") or about.get("name") or "")
    title = str(about.get("name") or "")
    speaker = str(value.get("from") or value.get("actor") or value.get("from_id") or value.get("actor_id") or "")
    kind, text = _read_said(value)
    if at is None and kind == "kept":
        kind = "unclear"
    forwarded = value.get("forwarded_from") or ("?" if "forwarded_from" in value else "")
    return TalkRecord(
        kind, number, text, speaker or "?", at, "user", conversation, title, str(value.get("from_id") or ""),
        quoted=bool(forwarded),
    )  # fmt: skip


def _read_said(value: Mapping[str, object]) -> tuple[TalkKind, str]:
    if value.get("type") == "service":
        return "system", str(value.get("action") or "")
    if value.get("type") not in ("message", None):
        return "unclear", str(value.get("type"))[:200]
    text = plain_text(value.get("text"))
    if not text.strip() and "text" not in value:
        text = plain_text(value.get("text_entities"))
    if text := "\n".join(filter(None, (text.strip(), *_list_attachments(value)))):
        return "kept", text
    return ("media" if any(name in value for name in _MEDIA) else "empty"), ""


def _list_attachments(value: Mapping[str, object]) -> Iterator[str]:
    """List the words that a message carries beside its text: a poll, a list, somebody's card, the name of a place."""
    poll, card, todo = (_mapping(value.get(name)) for name in ("poll", "contact_information", "todo_list"))
    yield plain_text(poll.get("question"))
    yield ", ".join(_list_texts(poll.get("answers")))
    yield " ".join(filter(None, (plain_text(card.get(name)) for name in ("first_name", "last_name", "phone_number"))))
    yield plain_text(todo.get("title"))
    yield ", ".join(_list_texts(todo.get("answers") or todo.get("items")))
    yield ", ".join(filter(None, (plain_text(value.get(name)) for name in ("place_name", "address"))))


def _list_texts(value: object) -> list[str]:
    return [text for each in value if (text := plain_text(each))] if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def plain_text(value: object) -> str:
    """Join a text that stands as pieces, such as links and bold words."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return plain_text(value.get("text"))
    return "".join(map(plain_text, value)) if isinstance(value, list) else ""


def _read_moment(value: Mapping[str, object], options: TalkOptions) -> datetime | None:
    """Return when it was sent: by the clock of the world, else by that of the owner."""
    try:
        if (seconds := value.get("date_unixtime")) is not None:
            return datetime.fromtimestamp(int(str(seconds)), UTC)
        at = datetime.fromisoformat(str(value.get("date")))
        return (at if at.tzinfo else at.replace(tzinfo=options.zone)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
