"""Find what was pasted into a message without a quotation mark, by the form that other programs gave it.

Mail with its heading, forwarded and answered mail, exported chats, web pages, labelled turns of other assistants; and a
text that the message hands over to be worked on ("Translate: …", "Corrige esta carta: …").
"""

import re

from kenobot.cognitive.text.lexicon import load_phrases
from kenobot.core import lazy

_FORMS = load_phrases(__package__, "pasted.toml")
_HEADING = rf"^[ \t>*]{{0,4}}(?:{_FORMS['mail_heading']})\*{{0,2}}[ \t]?:[^\n]*+\n"
_TO_THE_END = lazy.regex(
    rf"(?:(?:{_HEADING}){{2}}"
    rf"|^(?:[-_ ]{{3,40}})?(?:{_FORMS['forwarded_mail']})\b[^\n]{{0,40}}$"
    rf"|^(?:{_FORMS['answer_opens']})\b(?=[^\n]{{0,200}}[0-9])"
    rf"[^\n]{{6,200}}(?:{_FORMS['answer_closes']})[ \t]?:[ \t]*$)",
    re.MULTILINE | re.IGNORECASE,
)
_CHAT_LINE = lazy.regex(
    r"^\[?[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4},?[ \u00a0\u202f][0-9]{1,2}:[0-9]{2}[^\n:]{0,12}"
    r"(?::[0-9]{2}[^\n:]{0,8})?[\]\-–][^\n:]{1,60}:",
    re.MULTILINE,
)
_ROLE_LINE = lazy.regex(
    rf"^[ \t*#]{{0,4}}(?:{_FORMS['assistant_roles']})\*{{0,2}}[ \t]?:", re.MULTILINE | re.IGNORECASE
)
_PAGE = lazy.regex(
    r"<!--|</(?:html|head|body|div|p|span|td|tr|table|script|style|a|ul|ol|li|h[1-6])[ \t]*>", re.IGNORECASE
)
_WORK = lazy.regex(
    rf"\A[ \t¿¡]{{0,4}}(?:{_FORMS['courtesy']})?[ ,]{{0,2}}(?:{_FORMS['work']})(?!\w)"
    r"[^\n:.!?]{0,60}[?]?[:：](?=\s+\S)",
    re.IGNORECASE,
)


def split_pasted(text: str) -> tuple[str, list[str]]:
    """Split `text` into what its sender typed and what they pasted."""
    if work := _WORK.match(text):
        return text[: work.end()], [text[work.end() :].strip()]
    passages: list[str] = []
    starts: list[int] = []
    for line in (_CHAT_LINE, _ROLE_LINE):
        places = [match.start() for match in line.finditer(text)]
        starts += places[:1] if len(places) > 1 else []
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
