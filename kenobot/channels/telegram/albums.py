"""Join the updates of an album, which Telegram sends one a picture, into one message. Pure."""

from collections.abc import Sequence
from typing import Any, Final

from kenobot.channels.telegram.updates import ALBUM, update_id
from kenobot.ports.frozen import dataclass

MOST_ITEMS: Final = 10  # of an album, by Telegram's own limit
_NOT_NUMBERED: Final = -1


@dataclass(frozen=True, slots=True)
class JoinedUpdate:
    """An update, or all of an album in one. numbers: of the updates it is made of, ascending; -1 for none."""

    numbers: tuple[int, ...]
    raw: object


def join_albums(batch: Sequence[object]) -> list[JoinedUpdate]:
    """Join the albums of a batch, the item with the caption first; in the order of the numbers."""
    joined, albums = list[JoinedUpdate](), dict[tuple[object, str], dict[int, dict[str, Any]]]()
    for raw in batch:
        number, album = update_id(raw), _album(raw)
        if number is not None and album is not None and isinstance(raw, dict):
            albums.setdefault(album, {}).setdefault(number, raw)
        else:
            joined.append(JoinedUpdate((_NOT_NUMBERED if number is None else number,), raw))
    for items in albums.values():
        numbers = tuple(sorted(items))
        bodies = [items[number]["message"] for number in numbers]
        first = next((raw for raw in items.values() if raw["message"].get("caption")), items[numbers[0]])
        raw = first if len(items) == 1 else {**first, "update_id": numbers[0], ALBUM: bodies[:MOST_ITEMS]}
        joined.append(JoinedUpdate(numbers, raw))
    return sorted(joined, key=lambda update: update.numbers[0])


def open_albums(batch: Sequence[object]) -> int:
    """Count the items of albums of which more may be on their way."""
    counts = dict[tuple[object, str], int]()
    for raw in batch:
        if (album := _album(raw)) is not None:
            counts[album] = counts.get(album, 0) + 1
    return sum(count for count in counts.values() if count < MOST_ITEMS)


def find_confirmable(updates: Sequence[JoinedUpdate], failed: int) -> int:
    """Return up to which number updates may be confirmed when `failed` could not be stored.

    An album stays whole: were a part of it confirmed, the rest would come again as a message of its own.
    """
    for update in sorted(updates, key=lambda update: update.numbers[0], reverse=True):
        if update.numbers[0] < failed <= update.numbers[-1]:
            failed = update.numbers[0]
    return failed


def _album(raw: object) -> tuple[object, str] | None:
    """Return the chat and the name of the album that an update is part of."""
    body = raw.get("message") if isinstance(raw, dict) else None
    name = body.get("media_group_id") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(name, str) or not name:
        return None
    chat = body.get("chat")
    number = chat.get("id") if isinstance(chat, dict) else None
    return (number, name) if isinstance(number, int) else None
