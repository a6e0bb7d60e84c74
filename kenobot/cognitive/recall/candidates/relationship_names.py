"""Resolve a relationship of the asker, such as "my husband" or "mi jefa", to the name in the newest memory of it."""

from collections.abc import Sequence

from kenobot.cognitive.recall.index import posting_rows
from kenobot.cognitive.recall.index.documents import IDS_PER_SOURCE
from kenobot.cognitive.store import records
from kenobot.language.question.relations import Relationship, find_first_words, name_in
from kenobot.language.words import search_stems
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import Scopes, scope_names

_NEWEST = 40  # memories that are read for one relationship


def find_names(truth: Connection, index: Connection, reach: Scopes, relationships: Sequence[Relationship]) -> list[str]:
    """Search the live memories within `reach` for the names of people of these relationships."""
    rooms = posting_rows.partitions(index, scope_names(reach), ("record",))
    found: list[str] = []
    for each in relationships:
        for called in filter(None, (each.words, each.broader_words)):
            words = find_first_words(called)
            tokens = [room.token(stem) for room in rooms for word in words for stem in search_stems(word)]
            documents = posting_rows.documents_with(index, [tokens], _NEWEST) if tokens else []
            numbers = [document // IDS_PER_SOURCE for document in documents]
            known = records.by_ids(truth, numbers, reach)
            live = (known[number].text for number in numbers if number in known and known[number].status == "active")
            if name := name_in(live, called):
                found.append(name)
                break
    return found
