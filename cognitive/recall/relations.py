"""Whom "my husband" or "mi jefa" means: the name that a memory of the asker's own says. The newest that says it wins.

A name is told beside the relation, in either language: "Mi novio se llama Íñigo", "my boss is Gwen", "my sister Ana".
"""

import re
from collections.abc import Sequence

from kenobot.cognitive import store
from kenobot.cognitive.reach import Reach, scopes_of
from kenobot.cognitive.recall import postings
from kenobot.cognitive.recall.documents import WIDTH
from kenobot.cognitive.text.words import fold, stems
from kenobot.db import Connection

_KINDS = tuple(
    tuple(group.split())
    for group in (
        "husband marido esposo", "wife mujer esposa", "boyfriend novio", "girlfriend novia", "partner pareja",
        "daughter hija", "son hijo", "mother mum mom madre mama", "father dad padre papa", "sister hermana",
        "brother hermano", "grandmother granny abuela", "grandfather grandpa abuelo", "aunt tia", "uncle tio",
        "niece sobrina", "nephew sobrino", "boss manager jefe jefa", "colleague coworker compañero compañera",
        "friend amigo amiga", "neighbour neighbor vecino vecina", "doctor doctora medico medica", "dentist dentista",
        "dog perro perra", "cat gato gata", "landlord landlady casero casera", "teacher profesor profesora maestra",
    )
)  # fmt: skip
_OWN = r"(?:mi|mis|my|our|nuestro|nuestra)"
_NEW = r"(?:\w+ )?"  # "my new boss", "mi nueva jefa"
_TELLS = r",?\s+(?:(?:se llama|es|is called|is named|is|ahora es|now is|is now)\s+)?"
_NAME = r"([^\W\d_a-zà-ÿ][\w'’-]+)"  # begins with a capital
_NEWEST = 40  # memories that are read for one relation
_ASKED = 3  # relations of one message


def asked(text: str) -> list[tuple[str, ...]]:
    """The relations of their own that a message speaks of, each by all of its words."""
    plain = fold(text)
    return [kind for kind in _KINDS if re.search(rf"\b{_OWN} {_NEW}(?:{'|'.join(kind)})\b", plain)][:_ASKED]


def named(truth: Connection, index: Connection, reach: Reach, kinds: Sequence[tuple[str, ...]]) -> list[str]:
    """What the people of these relations are called, as far as a live memory within `reach` says so."""
    rooms = postings.rooms(index, scopes_of(reach), ("record",))
    found: list[str] = []
    for kind in kinds:
        tokens = [room.token(stem) for room in rooms for word in kind for stem in stems(word)]
        if not tokens:
            continue
        numbers = [document // WIDTH for document in postings.holding(index, [tokens], _NEWEST)]
        known = store.by_ids(truth, numbers, reach)
        telling = re.compile(rf"\b(?i:{_OWN} {_NEW}(?:{'|'.join(kind)})){_TELLS}{_NAME}")
        names = (
            match[1]
            for number in numbers
            if number in known and known[number].status == "active" and (match := telling.search(known[number].text))
        )
        found += [name for name in [next(names, "")] if name]
    return found
