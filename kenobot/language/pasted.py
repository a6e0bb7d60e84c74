"""Find what was pasted into a message without a quotation mark, by the form that other programs gave it.

Mail with its heading, forwarded and answered mail, exported chats, web pages, results of a search, labelled turns of
others; what a page is quoted to say; and a text that the message hands over to be worked on ("Translate: …", "Corrige
esta carta: …", "Is this grammatical? …").
"""

import re
from collections import Counter

from kenobot.core import lazy
from kenobot.core.common_words import is_common_word
from kenobot.language.lexicon import load_phrases
from kenobot.language.words import fold

_FORMS = load_phrases(__package__, "pasted.toml")
_HEADING = rf"^[ \t>*]{{0,4}}(?:{_FORMS['mail_heading']})\*{{0,2}}[ \t]?:[^\n]*+\n"
_TO_THE_END = lazy.regex(
    rf"(?:(?:{_HEADING}){{2}}"
    rf"|^(?:[-_ ]{{3,40}})?(?:{_FORMS['forwarded_mail']})\b[^\n]{{0,40}}$"
    rf"|^(?:{_FORMS['answer_opens']})\b(?=[^\n]{{0,200}}[0-9])"
    rf"[^\n]{{6,200}}(?:{_FORMS['answer_closes']})[ \t]?:[ \t]*$)",
    re.MULTILINE | re.IGNORECASE,
)
_STAMP = (
    r"(?:[0-9]{1,4}[./-][0-9]{1,2}(?:[./-][0-9]{1,4})?,?[ \u00a0\u202f])?[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?[^\n:\]]{0,8}"
)
# One line of a chat that is enough: nobody types the time of their own words in brackets.
_STAMPED_LINE = lazy.regex(rf"^[ \t>*-]{{0,4}}\[{_STAMP}\][ \t~]{{0,3}}[^\n:\[\]]{{1,60}}:[ \t]*\S", re.MULTILINE)
_UNDATED_LINE = lazy.regex(rf"^{_STAMP}[ ]?[-–][ ]?[^\n:]{{1,60}}:[ \t]*\S", re.MULTILINE)
_NAME_WORD = r"[^\W\d_][\w.'’-]{0,20}"
_NAMED_LINE = lazy.regex(
    rf"^(?!(?:{_FORMS['own_labels']})[ \t]*:)(?=(?-i:[^\W\d_a-z]))"
    rf"({_NAME_WORD}(?:[ ]{_NAME_WORD}){{0,2}}):[ \t]+(\S[^\n]*+)",
    re.MULTILINE | re.IGNORECASE,
)
_SPEAKER = lazy.regex(rf"(?:{_FORMS['speakers']})(?!\w)")
_FIGURE = lazy.regex(r"(?=[^\n]*[0-9])\S+(?:[ \t]+\S+){0,2}[ \t]*")
_ENTRY = lazy.regex(r"(?![^\n]*://)[ \t]*\S+[ \t]*")
_RESULT_LINE = lazy.regex(
    rf"^[ \t>*#-]{{0,4}}(?:{_FORMS['search_result']})[0-9]{{1,2}}\*{{0,2}}[ \t]?[:.)–-]", re.MULTILINE | re.IGNORECASE
)
_LISTED_ROLE = lazy.regex(
    rf"^[ \t]{{0,4}}[0-9]{{1,2}}[.)][ \t]+(?:{_FORMS['assistant_roles']})[ \t]?:(?:[ \t]+\S+){{4}}",
    re.MULTILINE | re.IGNORECASE,
)
_QUOTED = r"\"[^\"\n]++\"|“[^“”\n]++”|«[^«»\n]++»|‘[^‘’\n]++’|'[^'\n]++'(?!\w)"
_QUOTES = frozenset(":\"“«‘'")  # of which a report has one
_REPORT = lazy.regex(
    rf"(?<!\w)(?:{_FORMS['reporter']})(?:[ ](?:only|also|just|now|there|here|even|que|también|solo|ahora))?"
    rf"[ ](?:{_FORMS['reports']})(?!\w)(?:[ ](?:that|to|que|me|us))?[ ]?"
    rf"(?::\s{{0,2}}(?=\S)([^\n]++)|\s{{0,2}}({_QUOTED}))",
    re.IGNORECASE,
)
_CHAT_LINE = lazy.regex(
    r"^\[?[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4},?[ \u00a0\u202f][0-9]{1,2}:[0-9]{2}[^\n:]{0,12}"
    r"(?::[0-9]{2}[^\n:]{0,8})?[\]\-–][^\n:]{1,60}:",
    re.MULTILINE,
)
_ROLE_LINE = lazy.regex(
    rf"^[ \t*#]{{0,4}}(?:{_FORMS['assistant_roles']})\*{{0,2}}[ \t]?:([^\n]*+)", re.MULTILINE | re.IGNORECASE
)
_PAGE = lazy.regex(
    r"<!--|</(?:html|head|body|div|p|span|td|tr|table|script|style|a|ul|ol|li|h[1-6])[ \t]*>", re.IGNORECASE
)
_WORK = lazy.regex(
    rf"\A[ \t¿¡]{{0,4}}(?:(?:{_FORMS['courtesy']})[ ,]{{0,2}}){{0,2}}(?:{_FORMS['work']})(?!\w)"
    r"[^\n:.!?]{0,60}[?]?[:：](?=\s+\S)",
    re.IGNORECASE,
)


_HANDS_OVER = lazy.regex(r"[?:：]\s+\S")  # which these two end with
_LANGUAGE_QUESTION = lazy.regex(
    rf"\A[ \t¿¡]{{0,4}}(?:{_FORMS['language_question']})(?!\w)[^\n:.!?]{{0,30}}[?:](?=\s+\S)", re.IGNORECASE
)


def split_pasted(text: str) -> tuple[str, list[str]]:
    """Split `text` into what its sender typed and what they pasted."""
    if _HANDS_OVER.search(text) and (work := _WORK.match(text) or _LANGUAGE_QUESTION.match(text)):
        return text[: work.end()], [text[work.end() :].strip()]
    text, passages = _split_reports(text)
    starts: list[int] = []
    for line, least in _LINES if ":" in text else (_RESULT_LINES,):
        places = [match.start() for match in line.finditer(text)]
        starts += places[:1] if len(places) >= least else []
    if ":" in text:
        starts += _find_roles(text) + _find_talk(text)
    if match := _TO_THE_END.search(text):
        starts.append(match.start())
    if starts:
        text, pasted = text[: min(starts)], text[min(starts) :]
        passages.append(pasted)
    ends = [match.end() for match in _PAGE.finditer(text)]
    if ends:
        begin, end = text.find("<"), max(text.rfind(">") + 1, ends[-1])
        passages.insert(0, text[begin:end])
        text = f"{text[:begin]}\n{text[end:]}"
    return text, passages


_RESULT_LINES = _RESULT_LINE, 2
_LINES = (
    *((_CHAT_LINE, 2), (_UNDATED_LINE, 2), _RESULT_LINES),
    *((_STAMPED_LINE, 1), (_LISTED_ROLE, 1)),
)
"""Lines that other programs begin as theirs, and how many of them tell; all but those of results have a colon."""


def _split_reports(text: str) -> tuple[str, list[str]]:
    """Split off what a page or another thing is quoted to say."""
    if _QUOTES.isdisjoint(text):
        return text, []
    passages = [match[match.lastindex or 0] for match in _REPORT.finditer(text)]
    return _REPORT.sub(lambda match: match[0].removesuffix(match[match.lastindex or 0]), text), passages


def _find_roles(text: str) -> list[int]:
    """Find the first of lines that an assistant and its user say.

    Where each has one word behind it they are entries, such as of the names of accounts.
    """
    lines = list(_ROLE_LINE.finditer(text))
    says = not all(_ENTRY.fullmatch(line[1]) for line in lines)
    return [lines[0].start()] if len(lines) > 1 and says else []


def _find_talk(text: str) -> list[int]:
    """Find the first of lines that begin with names, of which one speaks again, or one asks another.

    A label that comes again is no name: an everyday word, beside such words, or before figures.
    """
    lines = list(_NAMED_LINE.finditer(text))
    names = Counter(fold(line[1]) for line in lines)
    speakers = {name for name in names if _SPEAKER.match(name) or not is_common_word(name.partition(" ")[0])}
    again = {name for name, count in names.items() if count > 1}
    asks = any("?" in line[2] for line in lines)
    figures = [line for line in lines if _FIGURE.fullmatch(line[2])]
    is_list = 2 * len(speakers) <= len(names) or 2 * len(figures) >= len(lines)
    is_talk = (again or len(speakers) > 1) if asks else again & speakers and not is_list
    return [lines[0].start()] if is_talk else []
