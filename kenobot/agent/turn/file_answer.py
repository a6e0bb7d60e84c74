"""Answer by a file where a person asks for one: find the wish, tell the model, and make the file. Pure."""

import re
from dataclasses import replace
from typing import Final

from kenobot.agent.prompt.runtime_block import runtime_block
from kenobot.core import lazy, texts
from kenobot.core.i18n import Language
from kenobot.language.words import fold
from kenobot.ports.messages import Attachment
from kenobot.ports.provider import Block, Message, Request

_SHORTEST: Final = 300  # characters; a line shorter than this is a question back, or a refusal
_EDGE: Final = 400  # characters at the beginning and the end of a message, where the wish stands
_LONGEST_ENDING: Final = 8
_NOTE: Final = runtime_block(
    "_The person asked for a file. What you write now is sent as that file: write only what belongs in it, without "
    "greeting, comment or note that you cannot send files. Where another format than Markdown is asked for (CSV, JSON, "
    "code …), write all of it as one fenced code block with the name of that format._"
)
_FENCED = lazy.regex(r"\s*(`{3,})([a-z0-9+#]*)[^\S\n]*\n(.*)\n\1\s*", re.DOTALL | re.IGNORECASE)
_ENDINGS: Final = {
    "": "txt",
    "text": "txt",
    "python": "py",
    "javascript": "js",
    "markdown": "md",
    "bash": "sh",
    "yaml": "yml",
}
_MIMES: Final = {"md": "text/markdown", "csv": "text/csv", "json": "application/json", "html": "text/html"}

# Over folded text: small letters without accents.
_THING = (
    r"(?:(?:as|in|into|to) (?:an? |one )?(?:\S+ ){0,2}?(?:file|attachment|document)\b"
    r"|(?:en|como) (?:un |una )?(?:archivo|fichero|documento|adjunto)\b)"
)
_LEAD = (
    r"(?:(?:please|ok|okay|now|and|then|hey|hi|well|so|por favor|vale|ahora|y|oye|luego|bueno|pues|keno\w*)\W+){0,3}"
    r"(?:(?:can|could|would|will) you (?:please )?|i(?:'d| would) like you to |i (?:want|need) you to "
    r"|(?:me )?(?:puedes|podrias|quiero que|necesito que) (?:me )?)?"
)
_VERB = (
    r"(?:send|give|write|export|make|save|put|deliver|attach|create|generate|draft|prepare|get|hand|summari[sz]e|list"
    r"|i(?:'d| would)? (?:want|need|like)(?! to)|(?:quiero|necesito|querria|me gustaria)(?! \w+r(?:l[oae]s?)?\b)"
    r"|(?:me|nos) (?:l[oae]s? )?(?:(?:manda|envia|da|pasa|exporta|adjunta|guarda|prepara)s|(?:pon|escrib|hac)es)"
    r"|(?:manda|envia|da|pasa|pon|escrib|haz|hace|genera|exporta|adjunta|guarda|prepara|crea|redacta|resume|resumi|lista"
    r"|mande|envie|pase|ponga|haga|genere|exporte|adjunte|guarde|prepare|cree|redacte)"
    r"(?:e|r|er|ir|s)?(?:me|nos)?(?:l[oae]s?)?)"
)
_WISH = lazy.regex(
    rf"(?:^|[.!?\n])\W*{_LEAD}{_VERB}\b[^.!?\n]*?\b{_THING}"
    rf"|(?:^|[,;.:\n]\s*)(?:(?:now|and|y|ahora|the same|lo mismo|mejor|better|but|pero)\W+)*{_THING}"
    r"(?:[,\s]+(?:please|por favor|now|ahora|thanks|gracias))*\W*$"
)
_MENTIONED = lazy.regex(r"\b(?:file|attachment|document|archivo|fichero|documento|adjunto)\b")
_QUESTION = lazy.regex(
    r"^\W*(?:how|what|why|which|where|who|when|is|are|does|did|como|que|por que|cual|donde|quien|cuando)\b"
)


def wants_file(text: str) -> bool:
    """Return whether a message asks for its answer as a file, in English or Spanish."""
    edges = (text,) if len(text) <= 2 * _EDGE else (text[:_EDGE], text[-_EDGE:])
    for edge in edges:
        folded = fold(edge)
        if _MENTIONED.search(folded) and not _QUESTION.match(folded) and _WISH.search(folded):
            return True
    return False


def ask_for_file(request: Request) -> Request:
    """Tell the model that what it writes is sent as a file."""
    *before, last = request.messages
    return replace(request, messages=(*before, Message(last.role, (*last.blocks, Block(_NOTE)))))


def answer_file(text: str, language: Language) -> Attachment | None:
    """Make the file of an answer; of one that is a single code block what stands in it, by the name of its format.

    None for a line that is no content, such as a question back.
    """
    if len(text) < _SHORTEST and "\n" not in text.strip():
        return None
    name, ending, content = texts.ANSWER_FILE(language), "md", text
    if (fenced := _FENCED.fullmatch(text)) is not None and fenced[1] not in fenced[3]:
        written = fenced[2].lower()
        ending = _ENDINGS.get(written, written if written.isalnum() and len(written) <= _LONGEST_ENDING else "txt")
        content = fenced[3] + "\n"
    size = len(content.encode("utf-8", "replace"))
    mime = _MIMES.get(ending, "text/plain")
    return Attachment("document", mime=mime, name=f"{name.rpartition('.')[0]}.{ending}", size=size, text=content)
