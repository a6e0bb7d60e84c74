"""Map WhatsApp user ids to stable person ids.

Meta names a phone number, its own id of a person, or both, and people may hide their number.
"""

import asyncio
import json
import logging
from collections.abc import Collection
from pathlib import Path
from typing import Final

from kenobot.storage import disk

logger = logging.getLogger(__name__)

_MOST: Final = 10_000  # people


class KnownPeople:
    """The id under which each person is known, by Meta's own id of them, in a file of the home.

    known: the ids that the settings name. A phone number among them counts whenever it is told. Else a person keeps the
    id under which they first came, so that somebody who hides their number stays who they were. A number that comes
    with another account, or whose person told that they left it, is nobody's from then on: it may be given out again.
    """

    def __init__(self, place: Path, known: Collection[str]) -> None:
        self._place = place
        self._known = frozenset(known)
        self._saving = asyncio.Lock()
        # By Meta's id; and by a number that is nobody's any more, "".
        self._ids: dict[str, str] = {}  # bounded: _MOST people; test_so_many_people_are_known

    def identify(self, number: str, user_id: str) -> str:
        """Return the id of a person, either of whose ids may be "". Returns "" where nothing tells who it is."""
        if number in self._known:
            return number
        if user_id in self._known:
            return user_id
        if self.is_left(number) or self.is_taken_over(number, user_id):
            number = ""
        return self._ids.get(user_id) or number or user_id

    def is_left(self, number: str) -> bool:
        """Return whether a number is nobody's any more: who comes from it is known by Meta's id alone."""
        return number not in self._known and self._ids.get(number) == ""

    def is_taken_over(self, number: str, user_id: str) -> bool:
        """Return whether a number by which a person is known comes with the account of another."""
        is_theirs = not user_id or number in self._known or self._ids.get(user_id) == number
        return not is_theirs and bool(number) and number in self._ids.values()

    async def learn(self, user_id: str, person: str) -> None:
        """Note under which id a person is known, and keep that on disk; what that does not take is kept meanwhile."""
        if user_id and self._ids.get(user_id) != person:
            self._ids[user_id] = person
            await self._keep()

    async def retire(self, number: str) -> None:
        """Note that a number is nobody's any more, and keep that on disk as `learn` does."""
        if number and self._ids.get(number) != "":
            others = {user_id: person for user_id, person in self._ids.items() if person != number}
            self._ids = others | {number: ""}
            await self._keep()

    async def _keep(self) -> None:
        while len(self._ids) > _MOST:
            del self._ids[next(iter(self._ids))]
        try:
            async with self._saving:  # so that the newest is what stays
                await asyncio.to_thread(self._save, dict(self._ids))
        except OSError as error:
            logger.warning("who is who on WhatsApp could not be kept: %s", error)

    async def load(self) -> None:
        """Read what is known."""
        self._ids = await asyncio.to_thread(self._read)

    def _read(self) -> dict[str, str]:
        try:
            kept = json.loads(self._place.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return {str(user_id): str(person) for user_id, person in kept.items()} if isinstance(kept, dict) else {}

    def _save(self, ids: dict[str, str]) -> None:
        self._place.parent.mkdir(mode=0o700, exist_ok=True)
        disk.replace_text(self._place, json.dumps(ids))
