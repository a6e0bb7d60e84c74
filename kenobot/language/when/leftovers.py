"""Find words of a time that were left over beside those that were read: what is not understood is asked."""

from collections.abc import Sequence

from kenobot.core import lazy
from kenobot.language.dates import MONTHS
from kenobot.language.lexicon import load_tables
from kenobot.language.when.pieces import Span
from kenobot.language.when.select import group_spans


def join_spans(plain: str, spans: Sequence[Span]) -> list[Span]:
    """Join the pieces that only small words stand between, and take those before them."""
    joined: list[Span] = []
    for cluster in group_spans(plain, spans):
        start, end = cluster[0][0], max(end for _, end in cluster)
        lead = _LEAD.search(plain, max(0, start - _LONGEST_LEAD), start)
        joined.append((lead.start() if lead else start, end))
    return joined


def has_leftovers(plain: str, spans: Sequence[Span], named: Sequence[Span]) -> bool:
    """Return whether a word of a time that was not read stands beside one that was."""
    left = _blot(plain, named)
    if _PEOPLE.search(plain) or _COUNTED.search(left) or _CLOCKLIKE.search(left):
        return True
    for start, end in join_spans(plain, spans):
        if _FOREIGN.match(left, end):
            return True  # the hour of another place
        if _OF_MONTH.match(left, end) or _EACH.search(left, max(0, start - _LONGEST_LEAD), start):
            return True
        behind, before = _BEHIND.match(left, end), _BEFORE.search(left, max(0, start - _LONGEST_LEAD), start)
        if any(match and (match[1] in _TIMELY or match[1][0].isdigit()) for match in (behind, before)):
            return True
    return False


def hides_clock(plain: str, spans: Sequence[Span], named: Sequence[Span]) -> bool:
    """Return whether something that may be the hour was not read, where a part of the day would give one instead."""
    left = _blot(plain, named)
    if _PART.search(plain) is None:
        return False
    return _LOOSE_CLOCK.search(left) is not None or any(
        _NUMBER_BEFORE.search(left, max(0, start - _LONGEST_LEAD), start) or _NUMBER_BEHIND.match(left, end)
        for start, end in join_spans(plain, spans)
    )


def _blot(plain: str, named: Sequence[Span]) -> str:
    left = plain
    for start, end in named:
        left = f"{left[:start]}{'|' * (end - start)}{left[end:]}"
    return left


_PART = lazy.regex(
    r"(?<!\w)(?:mornings?|afternoons?|evenings?|nights?|tonight|tonite|mañanas?|tardes?|noches?|madrugadas?)(?!\w)"
)
_LOOSE_CLOCK = lazy.regex(
    r"(?<![\w.,:/€$£+-])(?:(?:[01]?\d|2[0-3])[.'][0-5]\d(?![.,]?\d| ?[%€$£]|\w)(?! (?:kilos?|kgs?|k|kms?|euros?|eur"
    r"|pounds?|dollars?|litr[eo]s?|liters?)(?!\w))|\w+ (?:menos cuarto|y media|y cuarto)(?!\w)|half (?:one|two|three"
    r"|four|five|six|seven|eight|nine|ten|eleven|twelve)(?!\w))"
)
_NUMBER_BEFORE = lazy.regex(r"(?<![\w.,:/€$£+-])\d{1,4} (?:(?:on|of|de|del|el|the|por la|in the) )?\Z")
_NUMBER_BEHIND = lazy.regex(r"[ ,(]{1,2}\d{1,4}(?![\w.,:/%€$£]|[.,]\d)")
_BEHIND = lazy.regex(
    r"[\s,/&+-]*(?:(?:y|and|o|or|de|la|el|the|of|a|por|en|in|\d+)[ /])*"
    r"([^\W\d_]+|\d+h\b|\d+[/-]\d+(?!\d)|[0-2]\d[0-5]\d\b)"
)
_BEFORE = lazy.regex(
    r"([^\W\d_]+|\d+/\d+|\b[0-2]\d[0-5]\d(?= \Z)|\d+\.\d+\.(?=\s))[\s,./&+-]*(?:(?:de|del|la|el|the|of|\d+) )*\Z"
)
_OF_MONTH = lazy.regex(rf"[\s,]*(?:in|of|de|en|during|durante|throughout) (?:{'|'.join(MONTHS)})(?!\w)")
_EACH = lazy.regex(r"(?<!\w)(?:every|each|cada|tod[oa]s l[oa]s) [^\W\d_]+[ ,]*\Z")
_PEOPLE = lazy.regex(  # "dar de comer a las 3 gatas"
    r"[aei]r(?:les?|nos)? a las (?:\d|1[0-2]|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez) (?!menos|horas|tod[ao]s"
    r"|antes|pasadas|entonces|veces|un[ao]s|est[ao]s|otr[ao]s|mis|tus|sus|l[ao]s|martes|viernes|jueves|miercoles|lunes)"
    r"[^\W\d_]{2,}[aeo]s(?!\w)"
)
_FOREIGN = lazy.regex(
    r",? (?:\(?(?:utc|gmt|cet|cest|est|edt|pst|pdt|cst|mst|bst|ist)(?!\w)"
    r"|hora (?:de|del|peninsular|canaria|local)(?!\w)|(?!this|same|the)[a-z]+ time(?!\w))"
)
_CLOCKLIKE = lazy.regex(
    r"(?<![\w.,:/-])\d{1,2}(?:[:.]\d\d)? ?(?:[ap]m|hs|hrs)(?!\w)|(?<![\w.:/-])\d{1,2}:\d\d(?![\w:])"
)
_COUNTED = lazy.regex(
    r"(?<!\w)(?:day|week|night|morning|month|hour|minute|dia|semana|noche|mañana|tarde|mes|hora|minuto|vispera)s? "
    r"(?:before|prior|after|antes|despues)(?!\w)|(?<!\w)(?:but not on|except|excepto|salvo)(?!\w)"
)
_TIMELY = frozenset(load_tables(__package__, "pieces.toml")["words"]["timely"].split())
_LONGEST_LEAD = 40  # characters
_LEAD = lazy.regex(
    r"(?<!\w)(?:on|at|by|from|for|this|para|desde|hasta|until|till|starting|a partir de|antes de|before|el|la|en|a"
    r"|(?:el |los |the )?dias?|este|esta|(?:el |the )?(?:proximo|next)|a mas tardar|como muy tarde|no later than"
    r"|la primera(?: vez)?|first one|the first(?: one)?"
    r"|de|del|the|empezando|,)"
    r"(?: (?:the|el|la|los|las|next))? ?\Z"
)
