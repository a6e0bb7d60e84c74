"""Standing wishes: to be told something when a message mentions certain words. Matched by words, without a model.

Only the owner's own messages fulfil them, each at most once a day, three times, within ninety days.
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from kenobot.agenda import wish_rows
from kenobot.agenda.job import OWNER_PERSON, Place
from kenobot.agenda.mentions import list_content_words, mentions
from kenobot.agenda.wish_rows import Wish
from kenobot.storage.connection import Connection

_LASTS = timedelta(days=90)
_MOST = 50
_LONGEST_TEXT, _LONGEST_CUE = 500, 80
_MOST_AT_ONCE = 3


def add_wish(connection: Connection, text: str, cue: str, place: Place, at: datetime) -> Wish | None:
    """Keep a wish of the owner's; None for another's, one without words to match, and one too many."""
    own = place.person == OWNER_PERSON and place.private
    if not own or not list_content_words(cue) or len(text) > _LONGEST_TEXT or len(cue) > _LONGEST_CUE:
        return None
    if len(wish_rows.select(connection, (place.scope,), at)) >= _MOST:
        return None
    return wish_rows.get(connection, wish_rows.insert(connection, text, cue, place, at + _LASTS, at))


def list_wishes(connection: Connection, scopes: Collection[str], at: datetime) -> list[Wish]:
    """Return the wishes of these scopes that are not over."""
    return wish_rows.select(connection, scopes, at)


def find_wishes(connection: Connection, words: str, scopes: Collection[str], at: datetime) -> list[Wish]:
    """Return the wishes that words name, by what they say or by what they wait for."""
    return [each for each in wish_rows.select(connection, scopes, at) if mentions(f"{each.text} {each.cue}", words)]


def cancel_wish(connection: Connection, wish: int, scopes: Collection[str]) -> Wish | None:
    """End a wish of these scopes; None where there is none."""
    found = wish_rows.get(connection, wish)
    if found is None or found.scope not in scopes:
        return None
    wish_rows.set_state(connection, wish, "cancelled")
    return found


def fulfil_wishes(connection: Connection, message: str, scopes: Collection[str], at: datetime) -> list[Wish]:
    """Return the wishes that a message fulfils, and note that it does."""
    waiting = [each for each in wish_rows.select(connection, scopes, at) if _is_rested(each, at)]
    found = [each for each in waiting if mentions(message, each.cue)][:_MOST_AT_ONCE]
    for each in found:
        wish_rows.note_fired(connection, each, at)
    return found


def _is_rested(wish: Wish, at: datetime) -> bool:
    if not wish.last_fired:
        return True
    return datetime.fromisoformat(wish.last_fired) + timedelta(hours=wish.cooldown_hours) <= at
