"""Read whole numbers below a hundred as folded words or digits, in Spanish and English, and the numbers of rows."""

import re
from collections.abc import Mapping

from kenobot.core import lazy

_ROW = lazy.regex(r"#?([0-9]{1,15})")


def _by_place(rows: str) -> dict[str, int]:
    return {name: number for number, row in enumerate(rows.split("/"), 1) for name in row.split()}


_UNITS: Mapping[str, int] = _by_place(
    "un una uno a an one/dos two/tres three/cuatro four/cinco five/seis six/siete seven/ocho eight/nueve nine/diez ten"
    "/once eleven/doce twelve/trece thirteen/catorce fourteen/quince fifteen/dieciseis sixteen/diecisiete seventeen"
    "/dieciocho eighteen/diecinueve nineteen/veinte twenty/veintiun veintiuno veintiuna/veintidos/veintitres"
    "/veinticuatro/veinticinco/veintiseis/veintisiete/veintiocho/veintinueve/treinta thirty"
)
_TENS: Mapping[str, int] = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90,
    "treinta": 30, "cuarenta": 40, "cincuenta": 50, "sesenta": 60, "noventa": 90,
}  # fmt: skip
_WORDS: Mapping[str, int] = {**_UNITS, **_TENS, "pair": 2, "par": 2, "couple": 2, "both": 2, "oh": 0, "cero": 0}
_ONES = "one|two|three|four|five|six|seven|eight|nine|un[oa]?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve"


def _either(names: Mapping[str, int]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


NUMBER_WORDS = rf"(?:{_either(_TENS)})(?:[- ]| y )(?:{_ONES})|{_either({**_UNITS, **_TENS})}"
"""Alternatives of a regular expression: a number as words."""

COUNT = rf"(?:\d{{1,4}}(?!\d)|(?:(?:a |un )?(?:couple|par|pair)(?: of| de)?|{NUMBER_WORDS})(?!\w))"
"""A regular expression: a number, as digits or words."""


def read_number(text: str) -> int:
    """Read the number that digits or words say; 0 where they say none."""
    pieces: list[str] = re.findall(r"\d+|[^\W\d_]+", text)
    if pieces[:1] and pieces[0].isdecimal():
        return int(pieces[0])
    if pieces[:1] in (["a"], ["un"]) and len(pieces) > 1:
        pieces = pieces[1:]
    return sum(_WORDS.get(piece, 0) for piece in pieces)


def parse_number(text: str) -> int | None:
    """Parse the number of a row, written as 12 or #12; None when it is something else."""
    match = _ROW.fullmatch(text.strip())
    return int(match[1]) if match else None
