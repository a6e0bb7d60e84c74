"""Grammar of true statements, in English and Spanish: who, what they do or have, and the figures in it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Literal

Tongue = Literal["en", "es"]
TONGUES: tuple[Tongue, ...] = ("en", "es")


@dataclass(frozen=True, slots=True)
class Who:
    """A subject, by its name in each language. Both are empty for the speaker."""

    en: str = ""
    es: str = ""

    def name(self, tongue: Tongue) -> str:
        return self.en if tongue == "en" else self.es


ME = Who()
OTHERS = (
    Who("my brother", "mi hermano"),
    Who("my sister", "mi hermana"),
    Who("my mum", "mi madre"),
    Who("my neighbour", "mi vecina"),
    Who("my boss", "mi jefe"),
    Who("my son", "mi hijo"),
    Who("my flatmate", "mi compañera de piso"),
    Who("Ella", "Ela"),
    Who("Tom", "Tomás"),
    Who("Priya", "Lucía"),
    Who("the dog", "el perro"),
    Who("the cat", "la gata"),
)

# Key, and what the speaker and another do, in English and in Spanish. Two of the same key may exclude each other.
_DOINGS = (
    ("home", "live at {address}", "lives at {address}", "vivo en {calle}", "vive en {calle}"),
    ("home", "live in {town}", "lives in {town}", "vivo en {town}", "vive en {town}"),
    ("flat", "share a flat with {name}", "shares a flat with {name}", "vivo con {name}", "vive con {name}"),
    ("job", "work at {firm}", "works at {firm}", "trabajo en {firm}", "trabaja en {firm}"),
    (
        "drug",
        "take {dose} of {drug} every morning",
        "takes {dose} of {drug} every morning",
        "tomo {dose} de {drug} cada mañana",
        "toma {dose} de {drug} cada mañana",
    ),
    ("size", "wear a size {size}", "wears a size {size}", "calzo un {size}", "calza un {size}"),
    ("tongue", "speak {speech}", "speaks {speech}", "hablo {habla}", "habla {habla}"),
    (
        "sport",
        "play tennis on {day}s",
        "plays tennis on {day}s",
        "juego al tenis los {dia}",
        "juega al tenis los {dia}",
    ),
    (
        "allergy",
        "am allergic to {food}",
        "is allergic to {food}",
        "tengo alergia a {comida}",
        "tiene alergia a {comida}",
    ),
    ("weight", "weigh {n} kilos", "weighs {n} kilos", "peso {n} kilos", "pesa {n} kilos"),
    ("born", "was born on {date}", "was born on {date}", "nací el {fecha}", "nació el {fecha}"),
    (
        "start",
        "start work at {time}",
        "starts work at {time}",
        "entro a trabajar a las {time}",
        "entra a trabajar a las {time}",
    ),
    ("debt", "owe {name} {price}", "owes {name} {price}", "le debo {price} a {name}", "le debe {price} a {name}"),
    (
        "bike",
        "paid {price} for the bike",
        "paid {price} for the bike",
        "pagué {price} por la bici",
        "pagó {price} por la bici",
    ),
    ("bed", "get up at {time}", "gets up at {time}", "me levanto a las {time}", "se levanta a las {time}"),
    (
        "rent",
        "pay {price} of rent a month",
        "pays {price} of rent a month",
        "pago {price} de alquiler al mes",
        "paga {price} de alquiler al mes",
    ),
    ("run", "run {n} km every {day}", "runs {n} km every {day}", "corro {n} km cada {dia}", "corre {n} km cada {dia}"),
    (
        "coffee",
        "drink {n} coffees a day",
        "drinks {n} coffees a day",
        "bebo {n} cafés al día",
        "bebe {n} cafés al día",
    ),
    ("pets", "have {n} goldfish", "has {n} goldfish", "tengo {n} peces", "tiene {n} peces"),
    ("like", "like {food}", "likes {food}", "como {comida} todos los días", "come {comida} todos los días"),
    (
        "car",
        "drive a {car} from {year}",
        "drives a {car} from {year}",
        "tengo un {car} de {year}",
        "tiene un {car} de {year}",
    ),
    ("study", "study {subject}", "studies {subject}", "estudio {materia}", "estudia {materia}"),
)

# Key, what somebody has and what it is: in English, in Spanish.
_HAVINGS = (
    ("locker", "locker", "is {n}", "taquilla", "es la {n}"),
    ("size", "shoe size", "is {size}", "talla de zapato", "es la {size}"),
    ("train", "train", "leaves at {time}", "tren", "sale a las {time}"),
    ("phone", "phone number", "is {phone}", "número de teléfono", "es el {phone}"),
    ("site", "website", "is {url}", "página web", "es {url}"),
    ("car", "car", "is a {colour} {car}", "coche", "es un {car} {color}"),
    ("doctor", "doctor", "is {doctor}", "médico", "es {doctor}"),
    ("gym", "gym", "opens at {time}", "gimnasio", "abre a las {time}"),
    ("colour", "favourite colour", "is {colour}", "color favorito", "es el {color}"),
    ("budget", "budget", "is {price} a month", "presupuesto", "es de {price} al mes"),
    ("bus", "bus", "is the {n}", "autobús", "es el {n}"),
    ("room", "room", "is {n}", "habitación", "es la {n}"),
    ("flight", "flight", "is {flight}", "vuelo", "es el {flight}"),
    ("email", "email", "is {email}", "correo", "es {email}"),
    ("home", "address", "is {address}", "dirección", "es {calle}"),
    ("desk", "desk", "is on floor {n}", "mesa", "está en la planta {n}"),
    ("plate", "number plate", "is {plate}", "matrícula", "es {plate}"),
    ("blood", "blood group", "is {blood}", "grupo sanguíneo", "es {blood}"),
)

# Key, and the whole in English and Spanish.
_LOOSE = (
    ("recipe", "the recipe needs {n} g of flour", "la receta lleva {n} g de harina"),
    ("error", "error {n} means that the filter is full", "el error {n} significa que el filtro está lleno"),
    ("bins", "the recycling goes out on {day}s", "el reciclaje sale los {dia}"),
    ("plumber", "the plumber's number is {phone}", "el número del fontanero es el {phone}"),
    ("cake", "I promised {name} a cake", "le prometí a {name} una tarta"),
    ("boiler", "the boiler is set to {n} degrees", "la caldera está a {n} grados"),
    ("manual", "the manual of the oven is at {url}", "el manual del horno está en {url}"),
    ("gate", "bus {n} stops at the hospital", "el autobús {n} para en el hospital"),
    ("shelf", "the spare keys are on shelf {n}", "las llaves de repuesto están en el estante {n}"),
    ("fee", "the course costs {price}", "el curso cuesta {price}"),
    ("class", "the yoga class begins at {time}", "la clase de yoga empieza a las {time}"),
    ("paint", "the wall paint is {colour} {n}", "la pintura de la pared es {color} {n}"),
    ("screw", "the screws are {n} mm long", "los tornillos son de {n} mm"),
)

_WORDS = {
    "town": ("Lyon", "Bilbao", "Leeds", "Quito", "Porto", "Cork", "Rosario"),
    "name": ("Dani", "Bea", "Marta", "Hugo", "Nadia", "Iván", "Sara"),
    "firm": ("Acme", "Norvik", "Telco", "Brisa", "Fenwick", "Ibermax"),
    "drug": ("ramipril", "sertralina", "metformin", "omeprazol", "ibuprofeno"),
    "speech": ("Polish", "Basque", "Italian", "Greek"),
    "habla": ("polaco", "euskera", "italiano", "griego"),
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Saturday"),
    "dia": ("lunes", "martes", "miércoles", "jueves", "sábado"),
    "food": ("fish", "rice", "peanuts", "mango", "cheese"),
    "comida": ("pescado", "arroz", "cacahuetes", "mango", "queso"),
    "car": ("Fiesta", "Corolla", "Clio", "Panda"),
    "colour": ("blue", "green", "red", "grey"),
    "color": ("azul", "verde", "gris", "rojo"),
    "subject": ("law", "physics", "nursing", "history"),
    "materia": ("derecho", "física", "enfermería", "historia"),
    "doctor": ("Dr Pardo", "Dr Owen", "Dr Salas", "Dr Byrne"),
    "road": ("Mill Road", "High Street", "Station Lane", "Elm Drive"),
    "via": ("la calle Mayor", "la calle del Sol", "la avenida del Puerto", "la plaza Nueva"),
    "month": ("March", "July", "October", "May"),
    "mes": ("marzo", "julio", "octubre", "mayo"),
    "blood": ("A positive", "O negative", "AB positive"),
    "host": ("example.org/wiki", "wiki.example.com/p", "example.net/doc"),
    "coin": ("euros", "€", "pounds"),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """A true statement. about, key: whose and what it is about, as one talk tells it once.

    head, rest: the words before the value and with it; denied: the words of its denial, "" without one.
    """

    about: str
    key: str
    tongue: Tongue
    head: str
    rest: str
    denied: str = ""
    who: Who = ME
    values: int = 0  # the seed of its values
    named: bool = False  # it is what somebody has, which another value may be told of

    @property
    def text(self) -> str:
        return f"{self.head} {self.rest}".strip()


@dataclass(slots=True)
class Grammar:
    """What may be said at random. said: what was told of, so that nothing contradicts it."""

    rng: Random
    said: set[tuple[str, str]] = field(default_factory=set)

    def fill(self, pattern: str, values: int = 0) -> str:
        """Put random words and figures in a pattern's places, the same ones for the same seed."""
        rng = Random(values) if values else self.rng
        while "{" in pattern:
            before, _, rest = pattern.partition("{")
            place, _, after = rest.partition("}")
            pattern = f"{before}{_word(place, rng)}{after}"
        return pattern

    def statement(self, tongue: Tongue) -> Statement | None:
        """Say something true of somebody that was not told yet; None where the choice fell on something told."""
        who = ME if self.rng.random() < 0.5 else self.rng.choice(OTHERS)
        kind = self.rng.random()
        if kind < 0.2:
            return self._new(self._loose(tongue))
        return self._new(self.having(tongue, who) if kind < 0.6 else self.doing(tongue, who))

    def _new(self, made: Statement) -> Statement | None:
        place = (made.about, made.key)
        if place in self.said:
            return None
        self.said.add(place)
        return made

    def doing(self, tongue: Tongue, who: Who, key: str = "", values: int = 0) -> Statement:
        """Say what somebody does. values: the seed of a statement whose values it has."""
        values = values or self.rng.getrandbits(30) + 1
        rows = [row for row in _DOINGS if key in ("", row[0])]
        key, *forms = rows[values % len(rows)]
        own, other = forms[:2] if tongue == "en" else forms[2:]
        does = self.fill(own if who is ME else other, values)
        subject = who.name(tongue) or ("I" if tongue == "en" else "")
        return Statement(who.en, key, tongue, subject, does, deny(tongue, subject, does), who, values)

    def having(self, tongue: Tongue, who: Who, key: str = "") -> Statement:
        """Say what something of somebody's is."""
        key, thing, value, cosa, valor = self.rng.choice([row for row in _HAVINGS if key in ("", row[0])])
        if tongue == "en":
            head = f"{who.en}'s {thing}" if who.en else f"my {thing}"
        else:
            head = f"{_article(cosa)} {cosa} {_of(who.es)}" if who.es else f"mi {cosa}"
        return Statement(who.en, key, tongue, head, self.fill(value if tongue == "en" else valor), who=who, named=True)

    def _loose(self, tongue: Tongue) -> Statement:
        key, english, spanish = self.rng.choice(_LOOSE)
        return Statement("", f"the {key}", tongue, "", self.fill(english if tongue == "en" else spanish))


def _word(place: str, rng: Random) -> str:
    return rng.choice(_WORDS[place]) if place in _WORDS else _FIGURES[place](rng)


def _time(rng: Random) -> str:
    return f"{rng.randint(5, 22)}:{rng.randint(0, 11) * 5:02}" if rng.random() < _PRECISE else str(rng.randint(5, 22))


_PRECISE = 0.6  # share of times with minutes
_FIGURES: dict[str, Callable[[Random], str]] = {
    "n": lambda rng: str(rng.randint(2, 90)),
    "size": lambda rng: str(rng.randint(35, 47)),
    "year": lambda rng: str(rng.randint(1990, 2024)),
    "price": lambda rng: f"{rng.randint(3, 900)} {{coin}}",
    "time": _time,
    "dose": lambda rng: f"{rng.randint(1, 20) * 5} mg",
    "phone": lambda rng: f"6{rng.randint(10, 99)} {rng.randint(100, 999)} {rng.randint(100, 999)}",
    "url": lambda rng: f"https://{{host}}?id={rng.randint(2, 99)}",
    "email": lambda rng: f"{rng.choice(('bea', 'hugo', 'sara'))}{rng.randint(2, 99)}@example.org",
    "flight": lambda rng: f"IB{rng.randint(100, 999)}",
    "plate": lambda rng: f"{rng.randint(1000, 9999)} KLM",
    "address": lambda rng: f"{rng.randint(2, 99)} {{road}}, flat {rng.randint(2, 9)}",
    "calle": lambda rng: f"{{via}} {rng.randint(2, 99)}, piso {rng.randint(2, 9)}",
    "date": lambda rng: f"{rng.randint(2, 28)} {{month}}",
    "fecha": lambda rng: f"{rng.randint(2, 28)} de {{mes}}",
}


def deny(tongue: Tongue, subject: str, does: str) -> str:
    """Say that somebody no longer does something; "" where that is no sentence."""
    if does.startswith(("was ", "nací", "nació", "paid ", "pagué", "pagó", "no ")):
        return ""
    if tongue == "es":
        return f"{subject} ya no {does}".strip()
    verb, _, rest = does.partition(" ")
    return f"{subject} {verb} no longer {rest}" if verb in ("am", "is") else f"{subject} no longer {does}"


def _article(cosa: str) -> str:
    return "la" if cosa.split(maxsplit=1)[0] in _FEMININE else "el"


_FEMININE = ("taquilla", "talla", "página", "habitación", "dirección", "mesa", "matrícula")


def _of(es: str) -> str:
    return f"del {es.removeprefix('el ')}" if es.startswith("el ") else f"de {es}"
