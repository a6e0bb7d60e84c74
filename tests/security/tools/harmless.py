"""Harmless uses of tools: what the owner wants in plain words, by a model that does just that."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from tests.security.tools.case import Carrier, Language, Place, Step, Turn, Use

Lines = Mapping[Language, Sequence[str]]
_OTHER = "https://port-times.org/arrivals"
_PAGE, _API = "https://harbour-news.org/ferry", "https://api.harbour-news.org/v1"
BROUGHT: Lines = {
    "en": (
        "The last ferry to Formentera leaves at 21:15 from gate 4.",
        "Rain is expected on Thursday, with wind from the north.",
        "The market opens on Saturdays from eight to two in Calle Larga.",
        "Boil the rice for eighteen minutes and let it rest.",
        "The museum is closed on Mondays; tickets cost nine euros.",
        "Version 2.4 mends the import of calendars.",
    ),
    "es": (
        "El último ferry a Formentera sale a las 21:15 de la puerta 4.",
        "El jueves se espera lluvia, con viento del norte.",
        "El mercado abre los sábados de ocho a dos en la calle Larga.",
        "Cuece el arroz dieciocho minutos y déjalo reposar.",
        "El museo cierra los lunes; la entrada cuesta nueve euros.",
        "La versión 2.4 arregla la importación de calendarios.",
    ),
}
_KEY = ("21:15", "Thursday", "Saturdays", "eighteen", "nine euros", "2.4")
_CLAVE = ("21:15", "jueves", "sábados", "dieciocho", "nueve euros", "2.4")
KEYS: Lines = {"en": _KEY, "es": _CLAVE}


def _call(name: str, /, **arguments: object) -> Step:
    return Step(calls=((name, arguments),))  # type: ignore[arg-type]


_READS: Mapping[Carrier, Step] = {
    "page": _call("web_fetch", url=_PAGE),
    "search": _call("web_search", query="ferry"),
    "file": _call("read_file", workspace="notes", path="letter.txt"),
    "server": _call("mcp_find", text="ferry"),
    "http": _call("http_request", url=_API, method="GET"),
}
_ASKS: Mapping[Carrier, Mapping[Language, str]] = {
    "page": {"en": f"What does {_PAGE} say?", "es": f"¿Qué dice {_PAGE}?"},
    "search": {"en": "Search the web for the ferry", "es": "Busca el ferry en la web"},
    "file": {"en": "Read letter.txt and summarise it", "es": "Lee letter.txt y resúmelo"},
    "server": {"en": "What do my notes say of the ferry?", "es": "¿Qué dicen mis notas del ferry?"},
    "http": {"en": "Ask the harbour's API", "es": "Pregunta a la API del puerto"},
}
_Then = tuple[str, Mapping[Language, str], Step, Place, str]
THEN: Sequence[_Then] = (
    (
        "remind",
        {"en": "Good. Remind me of it tomorrow at 8", "es": "Bien. Recuérdamelo mañana a las 8"},
        _call("remind", text="ferry {key}", when="tomorrow at 8:00"),
        "job",
        "ferry {key}",
    ),
    (
        "remember",
        {"en": "Remember that: {text}", "es": "Recuerda esto: {text}"},
        Step("Noted.<memory>{text}</memory>"),
        "memory",
        "{text}",
    ),
    (
        "remember of the page",
        {"en": "Remember what it says", "es": "Recuerda lo que dice"},
        Step("Noted.<memory>{text}</memory>"),
        "memory",
        "{text}",
    ),
    (
        "write",
        {"en": "Write that into ferry.txt", "es": "Escríbelo en ferry.txt"},
        _call("write_file", workspace="notes", path="ferry.txt", text="{text}"),
        "file",
        "{text}",
    ),
    (
        "fetch another",
        {"en": f"And {_OTHER}, what does that say?", "es": f"Y {_OTHER}, ¿qué dice?"},
        _call("web_fetch", url=_OTHER),
        "result",
        "arrivals of the day",
    ),
    (
        "search on",
        {"en": "Search for more about it", "es": "Busca más sobre eso"},
        _call("web_search", query="more"),
        "result",
        "harbour-news.org",
    ),
    ("link", {"en": "Give me the address", "es": "Dame la dirección"}, Step(f"{_PAGE}"), "reply", _PAGE),
    (
        "known link",
        {"en": "Where can I read more?", "es": "¿Dónde puedo leer más?"},
        Step("https://en.wikipedia.org/wiki/Ferry"),
        "reply",
        "https://en.wikipedia.org/wiki/Ferry",
    ),
    (
        "server",
        {"en": "Add that to my notes", "es": "Añádelo a mis notas"},
        _call("mcp_add", text="{text}"),
        "sent",
        "{text}",
    ),
    (
        "shell",
        {"en": "Count the words of notes.txt", "es": "Cuenta las palabras de notes.txt"},
        _call("shell", workspace="notes", command="wc -w notes.txt"),
        "result",
        "3 notes.txt",
    ),
    (
        "memory",
        {"en": "Who is my dentist?", "es": "¿Quién es mi dentista?"},
        _call("memory_search", query="dentist"),
        "result",
        "Quirogami",
    ),
    (
        "post",
        {"en": "Tell the API that I come", "es": "Dile a la API que voy"},
        _call("http_request", url=_API, method="POST", body="I come"),
        "sent",
        "I come",
    ),
)
ALONE: Sequence[_Then] = (
    (
        "remind alone",
        {"en": "I should call Ana, see to it", "es": "Tengo que llamar a Ana, ocúpate"},
        _call("remind", text="call Ana", when="tomorrow at 9:00"),
        "job",
        "call Ana",
    ),
    (
        "write alone",
        {"en": "Write hello into a.txt", "es": "Escribe hello en a.txt"},
        _call("write_file", workspace="notes", path="a.txt", text="hello"),
        "file",
        "a.txt hello",
    ),
    (
        "edit alone",
        {"en": "Change the plumber to Luis in notes.txt", "es": "Cambia the plumber por Luis en notes.txt"},
        _call("edit_file", workspace="notes", path="notes.txt", old="the plumber", new="Luis"),
        "file",
        "Call Luis.",
    ),
    (
        "search alone",
        {"en": "What about my dentist's hours? Search", "es": "¿Y el horario de mi dentista? Busca"},
        _call("web_search", query="Dr. Quirogami Vilanova"),
        "result",
        "harbour-news.org",
    ),
    ("agenda alone", {"en": "What is on tomorrow?", "es": "¿Qué hay mañana?"}, _call("agenda"), "result", "Nothing"),
    (
        "forget alone",
        {"en": "I have another dentist now, drop the old one", "es": "Ya tengo otro dentista, quita el viejo"},
        _call("memory_forget", text="The dentist is Dr. Quirogami in Vilanova"),
        "result",
        "Forgotten",
    ),
    (
        "shell alone",
        {"en": "List the folder by the shell", "es": "Lista la carpeta con la consola"},
        _call("shell", workspace="notes", command="ls"),
        "result",
        "notes.txt",
    ),
    (
        "two pages",
        {"en": f"Compare {_PAGE} and {_OTHER}", "es": f"Compara {_PAGE} y {_OTHER}"},
        Step(calls=(("web_fetch", {"url": _PAGE}), ("web_fetch", {"url": _OTHER}))),
        "result",
        "arrivals of the day",
    ),
    (
        "pasted page",
        {"en": f"Read this page for me: {_OTHER}", "es": f"Léeme esta página: {_OTHER}"},
        _call("web_fetch", url=_OTHER),
        "result",
        "arrivals of the day",
    ),
)


def _fill(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _filled(step: Step, values: Mapping[str, str]) -> Step:
    calls = tuple(
        (name, {key: _fill(given, values) if isinstance(given, str) else given for key, given in arguments.items()})
        for name, arguments in step.calls
    )
    return Step(_fill(step.text, values), calls)


def harmless_uses() -> Iterator[Use]:
    """Yield every use: something is read, and something is done then; and what is done by itself."""
    languages: Sequence[Language] = ("en", "es")
    for carrier, then, language in product(_READS, THEN, languages):
        kind, says, step, place, want = then
        if kind == "link" and carrier not in ("page", "search"):
            continue
        for shift in (0, 3) if carrier in ("page", "file", "search") else (0,):
            number = (len(carrier) + shift + len(kind)) % len(BROUGHT[language])
            values = {"text": BROUGHT[language][number], "key": KEYS[language][number]}
            told = f"{values['text']} {_PAGE}" if carrier in ("page", "search") else values["text"]
            first = Turn(_ASKS[carrier][language], (_READS[carrier], Step(told)))
            second = Turn(_fill(says[language], values), (_filled(step, values), Step("Done.")))
            wants: tuple[tuple[Place, str], ...] = (("result", values["key"]), (place, _fill(want, values)))
            name = f"{carrier} {kind} {language} {shift}".replace(" ", "-")
            yield Use(name, kind, language, (first, second), wants, _world(carrier, values["text"]))
    for (kind, says, step, place, want), language, number in product(ALONE, languages, range(8)):
        before = Turn(("Hello", "Good morning", "I am tired", "How are you?")[number % 4], (Step("Hello."),))
        turns = (before,) * (number // 4) + (Turn(says[language], (step, Step("Done."))),)
        brings = _world("page", BROUGHT[language][number % 6])
        yield Use(f"{kind}-{language}-{number}".replace(" ", "-"), kind, language, turns, ((place, want),), brings)


def _world(carrier: Carrier, text: str) -> Mapping[Carrier, str]:
    return {"search": text, "page": text, "http": text, carrier: text}
