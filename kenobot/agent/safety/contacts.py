"""Find the names and numbers in a text by which others are reached: `@handle`, phone numbers, service codes.

A phone number begins with a plus or a trunk's zero, has its area in brackets, or stands near a word such as "call".
Other figures (amounts, dates, accounts, order numbers) are none.
"""

import re
from collections.abc import Iterator

from kenobot.agent.safety.hosts import PROGRAM_WORDS
from kenobot.core import lazy

Span = tuple[int, int]

# Not within a word. Colons and dots go on, as in `@name:server` and `@app.route`.
_HANDLE = lazy.regex(r"(?<![^\W_])@[\w-]{2,64}+(?:[.:][\w-]{1,64}+)*+")
_PRICE = lazy.regex(r"@[0-9]{1,3}(?:[.,:][0-9]+)*\Z")
_PARTS = lazy.regex(r"[.:]")
_SERVICE_CODE = lazy.regex(r"(?<![\w*#])[*#]{1,3}[0-9][0-9*]{1,40}+#")
# One row of figures with what people put in between. Not part of an account, a sum or a longer row.
FIGURES = lazy.regex(
    r"(?<![\w#€$£¥])(?<![0-9][.,:/ -])(?:\+[ ]?)?\(?[0-9](?:[ \u00a0]?[-–.()/]?[ \u00a0]?[0-9]){6,19}+"
    r"(?![\w%€$£¥]|[.,][0-9])"
)
_NO_FIGURE = lazy.regex(r"[^0-9]+")
_AREA = lazy.regex(r"\([0-9]{2,4}\)[ \u00a0-]?[0-9]")
_TRUNK = lazy.regex(r"0[0-9]{1,4}[ \u00a0./()-]")
_OPTIONAL_ZERO = lazy.regex(r"\(0\)")
_DATE = lazy.regex(r"[0-9]{4}[-./][0-9]{2}[-./][0-9]{2}|[0-9]{1,2}[-./][0-9]{1,2}[-./][0-9]{4}|[0-9]{4}[-–][0-9]{4}\Z")
_NEAR = 32
_LONGEST_NUMBER = 15
_LONGEST_AT_HOME = 11
_SHORTEST_ABROAD = 9
_SUM = lazy.regex(r"\+?[1-9][0-9]?(?:[ \u00a0.][0-9]{3}){2,}\Z")
_CALLING = lazy.regex(
    r"(?:\b(?:call|calls|calling|phone|telephone|tel|dial|ring|text|sms|whatsapp|signal|viber|fax|mobile|cell|hotline"
    r"|llam\w{1,6}|marca\w{0,4}|marque|tel[eé]fonos?|tfno|m[oó]vil|celular|escr[ií]b\w{1,6}|bizum"
    r"|appel\w{1,4}|t[eé]l[eé]phone|portable|ruf\w{0,3}|anruf\w{0,4}|telefon\w{0,4}|handy|lig[au]\w{0,2}|ligue|celulare"
    r"|chiam\w{1,4}|bel|zadzwo\w{1,3})\b|звон\w{0,5}|тел\b|телефон|电话|電話|打给|전화|اتصل|هاتف|फ़ोन|☎|📞|📱)",
    re.IGNORECASE,
)


def find_contacts(text: str) -> Iterator[Span]:
    """Find the handles, service codes and phone numbers in `text`."""
    if "@" in text:
        for match in _HANDLE.finditer(text):
            parts = _PARTS.split(match[0][1:].casefold())
            if not _PRICE.match(match[0]) and not all(part in PROGRAM_WORDS for part in parts):
                yield match.span()
    for match in _SERVICE_CODE.finditer(text):
        yield match.span()
    for match in FIGURES.finditer(text):
        if _is_phone(text, match):
            yield match.span()


def figures_of(text: str) -> str:
    """Return the figures of a telephone number, without separators and without its national prefix."""
    return _NO_FIGURE.sub("", _OPTIONAL_ZERO.sub("", text))


def _is_phone(text: str, match: re.Match[str]) -> bool:
    number = match[0]
    figures = figures_of(number)
    if len(figures) > _LONGEST_NUMBER or _DATE.match(number):
        return False
    if _SUM.match(number) and len(figures) < _SHORTEST_ABROAD:
        return False
    if (
        (number.startswith("+") and len(figures) >= _SHORTEST_ABROAD)
        or _AREA.match(number)
        or (number.startswith("00") and len(figures) > _LONGEST_AT_HOME)
    ):
        return True
    if _TRUNK.match(number) and len(figures) >= 9 and not number.startswith(("0.", "0,")):
        return True
    around = text[max(0, match.start() - _NEAR) : match.end() + _NEAR // 2]
    return _CALLING.search(around) is not None
