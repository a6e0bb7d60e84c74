"""Random talks of true statements, with tempting neighbours of them, of which none ends what was told.

An explicit form names a statement that was told: only that may end by it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from tests.property.memory.true_facts import ME, OTHERS, TONGUES, Grammar, Statement, Tongue

# Key of what is told, and the words; two of the same key would take each other's place.
_BARE: dict[Tongue, tuple[tuple[str, str], ...]] = {
    "en": (
        ("age", "I'm {n} now"),
        ("clock", "it's {n} now"),
        ("clock", "it's {time} now"),
        ("we", "we're {n} now"),
        ("there", "there are {n} of us now"),
        ("heat", "it's {n} degrees now"),
        ("late", "I'm {n} minutes late now"),
        ("page", "I'm on page {n} now"),
        ("left", "only {n} left now"),
        ("score", "the score is {n} to {n} now"),
        ("place", "I'm in {town} now"),
        ("place", "I'm at the station now"),
        ("mood", "I'm not hungry any more"),
        ("uncle", "I don't talk to my uncle any more"),
        ("printer", "the printer no longer works"),
        ("rain", "it's no longer raining"),
        ("wish", "I no longer feel like it"),
        ("meet", "let's meet at {time} instead"),
        ("call", "call me at {time} instead"),
        ("mind", "I changed my mind about the film"),
        ("things", "things have changed here"),
        ("over", "the match is over now"),
        ("wrong", "sorry, wrong chat"),
        ("back", "forget it"),
        ("back", "scratch that"),
        ("back", "ignore that"),
        ("never", "never mind"),
        ("year", "what year is it now"),
        ("what", "what do you know about me?"),
        ("price", "petrol costs {price} now"),
        ("team", "our team has {n} points now"),
        ("done", "that's done now"),
        ("gone", "the milk is gone"),
        ("wait", "no, wait"),
        ("not", "no problem"),
        ("bus now", "the next bus comes at {time} now"),
        ("gym", "my gym is full now"),
        ("phone", "my phone is dead now"),
        ("train", "my train is late now"),
        ("room", "my room is cold now"),
        ("garage", "my car is at the garage now"),
        ("holiday", "my doctor is on holiday now"),
        ("off work", "I'm not at work any more"),
        ("sundays", "I don't work on Sundays any more"),
        ("after lunch", "I no longer drink coffee after lunch"),
        ("in the rain", "I no longer run in the rain"),
        ("with Bea", "I no longer play tennis with Bea"),
        ("sugar", "I take {n} sugars now"),
        ("wife", "my brother's wife works at {firm} now"),
        ("his room", "my brother's room is cold now"),
        ("floor", "we're on floor {n} now"),
        ("bill", "the bill is {price} now"),
        ("number", "my number in the queue is {n} now"),
        ("last", "my last flight was IB{n}"),
    ),
    "es": (
        ("age", "ya tengo {n} años"),
        ("clock", "son las {n} ahora"),
        ("clock", "ahora son las {time}"),
        ("we", "ahora somos {n}"),
        ("there", "ya hay {n} personas aquí"),
        ("heat", "ahora hace {n} grados"),
        ("late", "ahora llego {n} minutos tarde"),
        ("page", "voy por la página {n} ahora"),
        ("left", "ya solo quedan {n}"),
        ("score", "ahora van {n} a {n}"),
        ("place", "ahora estoy en {town}"),
        ("place", "ya estoy en la estación"),
        ("mood", "ya no tengo hambre"),
        ("uncle", "ya no me hablo con mi tío"),
        ("printer", "la impresora ya no funciona"),
        ("rain", "ya no llueve"),
        ("wish", "ya no me apetece"),
        ("meet", "mejor quedamos a las {time}"),
        ("call", "llámame mejor a las {time}"),
        ("mind", "he cambiado de idea sobre la peli"),
        ("things", "aquí las cosas han cambiado"),
        ("over", "ya se ha acabado el partido"),
        ("wrong", "perdona, chat equivocado"),
        ("back", "olvídalo"),
        ("back", "no me hagas caso"),
        ("back", "bórralo"),
        ("never", "da igual"),
        ("year", "en qué año estamos ahora"),
        ("what", "¿qué sabes de mí?"),
        ("price", "la gasolina está ahora a {price}"),
        ("team", "ahora llevamos {n} puntos"),
        ("done", "eso ya está"),
        ("gone", "ya no queda leche"),
        ("wait", "no, espera"),
        ("not", "no pasa nada"),
        ("bus now", "el próximo autobús pasa ahora a las {time}"),
        ("gym", "mi gimnasio está lleno ahora"),
        ("phone", "mi teléfono está sin batería ahora"),
        ("train", "mi tren llega tarde ahora"),
        ("room", "mi habitación está fría ahora"),
        ("garage", "mi coche está ahora en el taller"),
        ("holiday", "mi médico está ahora de vacaciones"),
        ("off work", "ya no estoy en el trabajo"),
        ("sundays", "ya no trabajo los domingos"),
        ("after lunch", "ya no bebo café por la noche"),
        ("in the rain", "ya no corro por la playa"),
        ("with Bea", "ya no juego al tenis con Bea"),
        ("sugar", "ahora tomo {n} azúcares"),
        ("wife", "la mujer de mi hermano trabaja ahora en {firm}"),
        ("his room", "la habitación de mi hermano está ahora fría"),
        ("floor", "ahora estamos en la planta {n}"),
        ("bill", "la cuenta es ahora de {price}"),
        ("number", "mi número en la cola es ahora el {n}"),
        ("last", "mi último vuelo fue el IB{n}"),
    ),
}
# {said}: a statement of what was told, or with another value; no one says that it is so.
_UNSTATED: dict[Tongue, tuple[str, ...]] = {
    "en": (
        "{name} told me: {said}",
        "{name} says that {said}",
        "{name} asked me whether {said}",
        "if {said}, I'll tell you",
        "what if {said}?",
        "imagine that {said}",
        "do you think that {said}?",
        "should I say that {said}",
        "it's not true that {said}",
        "I never said that {said}",
        "maybe one day {said}",
        "I dreamt that {said}",
        "the song goes “{said}”",
        "I wish I could say that {said}",
        "unless {said}, all stays as it is",
        "only for today {said}",
        "on Sundays {said}",
        "in my dream {said}",
        "{name}'s note reads: {said}",
        "at the old place {said}",
    ),
    "es": (
        "{name} me dijo: {said}",
        "{name} dice que {said}",
        "{name} me preguntó si {said}",
        "si {said}, te lo digo",
        "¿y si {said}?",
        "imagina que {said}",
        "¿crees que {said}?",
        "debería decir que {said}",
        "no es verdad que {said}",
        "nunca he dicho que {said}",
        "quizá algún día {said}",
        "soñé que {said}",
        "la canción dice «{said}»",
        "ojalá pudiera decir que {said}",
        "a no ser que {said}, todo sigue igual",
        "solo por hoy {said}",
        "los domingos {said}",
        "en mi sueño {said}",
        "la nota de {name} pone: {said}",
        "en el sitio de antes {said}",
    ),
}
_OPENINGS: dict[Tongue, tuple[str, ...]] = {
    "en": ("", "", "", "", "btw ", "oh, ", "remember that ", "note that ", "well, ", "so "),
    "es": ("", "", "", "", "por cierto, ", "ah, ", "recuerda que ", "apunta que ", "bueno, ", "pues "),
}
_AGAIN: dict[Tongue, tuple[str, ...]] = {
    "en": ("as I said, {said}", "{said}, as you know", "yes, {said}"),
    "es": ("como te dije, {said}", "{said}, como sabes", "sí, {said}"),
}
_MARKS = ' .,;:!?¡¿…“”«»"()'
_CLOSINGS = ("", "", "", ".", "!", " :)")


@dataclass(frozen=True, slots=True)
class Line:
    """A message. told: what it states and memory may keep. ends: the only statement that may end by it.

    form: the name of the explicit form, "" for none. again: it says only what was told already.
    """

    text: str
    tongue: Tongue
    told: tuple[str, ...] = ()
    ends: str = ""
    form: str = ""
    again: bool = False


@dataclass(slots=True)
class Talk:
    """A talk in the making."""

    rng: Random
    grammar: Grammar = field(init=False)
    facts: list[Statement] = field(default_factory=list)
    bare: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.grammar = Grammar(self.rng)

    def lines(self) -> Iterator[Line]:
        """Say a dozen messages or so, in one language or in both, in some talks with explicit forms."""
        tongue, mixed = self.rng.choice(TONGUES), self.rng.random() < 0.25
        explicit = 0.12 if self.rng.random() < 0.5 else 0.0
        for number in range(self.rng.randint(6, 16)):
            tongue = self.rng.choice(TONGUES) if mixed else tongue
            chance = self.rng.random()
            line: Line | None
            if number < 2 or chance < 0.42:
                line = self._fact(tongue)
            elif chance < 0.42 + explicit:
                line = self._explicit()
            else:
                line = self.rng.choice((self._bare, self._bare, self._neighbour, self._unstated, self._again))(tongue)
            if line is not None:
                yield line

    # ── what is told ─────────────────────────────────────────────────────────────────────────────────────────────

    def _fact(self, tongue: Tongue) -> Line | None:
        """One statement, or two in one message."""
        said = [each for each in (self.grammar.statement(tongue) for _ in range(self._many())) if each is not None]
        if not said:
            return None
        self.facts += said
        joint = self.rng.choice((". ", "; ", "\n", ", and " if tongue == "en" else ", y "))
        texts = [each.text for each in said]
        body = joint.join(self._begun(text) if joint in (". ", "\n") else text for text in texts)
        opening = self.rng.choice(_OPENINGS[tongue])
        closing = self.rng.choice(_CLOSINGS)
        body = body if opening else self._begun(body)
        return Line(f"{opening}{body}{'' if body.endswith('.') else closing}", tongue, tuple(texts))

    def _many(self) -> int:
        return 2 if self.rng.random() < 0.2 else 1

    def _begun(self, text: str) -> str:
        return text[0].upper() + text[1:] if self.rng.random() < 0.5 else text

    # ── what tempts ──────────────────────────────────────────────────────────────────────────────────────────────

    def _bare(self, tongue: Tongue) -> Line | None:
        """Something of the moment, of which nothing told is the same."""
        key, pattern = self.rng.choice(_BARE[tongue])
        if key in self.bare:
            return None
        self.bare.add(key)
        return Line(self.grammar.fill(pattern), tongue)

    def _neighbour(self, tongue: Tongue) -> Line | None:
        """Somebody else's, with another value, "now", or denied."""
        fact = self._told(tongue)
        who = self.rng.choice([*OTHERS, ME])
        if fact is None or fact.key.startswith("the ") or (who.en, fact.key) in self.grammar.said:
            return None
        self.grammar.said.add((who.en, fact.key))
        if fact.named:
            other, now = self.grammar.having(tongue, who, fact.key), _now(tongue)
            verb, _, value = other.rest.partition(" ")
            said = f"{verb} {now} {value}" if self.rng.random() < 0.3 else f"{other.rest} {now}"
            return Line(f"{other.head} {said}", tongue)
        if self.rng.random() < 0.5 and (same := self.grammar.doing(tongue, who, fact.key, fact.values)).denied:
            return Line(same.denied, tongue)
        return Line(f"{self.grammar.doing(tongue, who, fact.key).text} {_now(tongue)}", tongue)

    def _unstated(self, tongue: Tongue) -> Line | None:
        """A question, a condition, somebody's words, a wish: of a change of what was told."""
        fact = self._told(tongue)
        if fact is None or fact.key.startswith("the "):
            return None
        another = self.grammar.having if fact.named else self.grammar.doing
        changed = another(tongue, fact.who, fact.key)
        said = fact.denied if fact.denied and self.rng.random() < 0.5 else f"{changed.text} {_now(tongue)}"
        pattern = self.rng.choice(_UNSTATED[tongue])
        return Line(self.grammar.fill(pattern.replace("{said}", said)), tongue)

    def _again(self, tongue: Tongue) -> Line | None:
        fact = self._told(tongue)
        if fact is None:
            return None
        return Line(self.rng.choice(_AGAIN[tongue]).format(said=fact.text), tongue, again=True)

    def _told(self, tongue: Tongue) -> Statement | None:
        told = [fact for fact in self.facts if fact.tongue == tongue]
        return self.rng.choice(told[-4:]) if told else None

    # ── what ends ────────────────────────────────────────────────────────────────────────────────────────────────

    def _explicit(self) -> Line | None:
        """Name a statement that was told, as over or with another value."""
        if not self.facts:
            return None
        fact = self.rng.choice(self.facts)
        forms = [self._forget, self._denied, self._moved]
        if fact.named:
            forms = [self._forget, self._value_now, self._put_right]
        line = self.rng.choice(forms)(fact)
        if line is not None:
            self.facts.remove(fact)
        return line

    def _forget(self, fact: Statement) -> Line:
        order = "forget that" if fact.tongue == "en" else "olvida que"
        return Line(f"{order} {fact.text}", fact.tongue, ends=fact.text, form="forget")

    def _denied(self, fact: Statement) -> Line | None:
        return Line(fact.denied, fact.tongue, ends=fact.text, form="denied") if fact.denied else None

    def _moved(self, fact: Statement) -> Line | None:
        if fact.key.startswith("the "):
            return None
        other = self.grammar.doing(fact.tongue, fact.who, fact.key)
        return Line(f"{other.text} {_now(fact.tongue)}", fact.tongue, ends=fact.text, form="moved")

    def _value_now(self, fact: Statement) -> Line:
        verb, _, value = self._another(fact).partition(" ")
        now = _now(fact.tongue)
        said = f"{verb} {now} {value}" if fact.tongue == "en" else f"{now} {verb} {value}"
        return Line(f"{fact.head} {said}", fact.tongue, ends=fact.text, form="now")

    def _put_right(self, fact: Statement) -> Line:
        other = self._another(fact)
        verb, _, value = fact.rest.partition(" ")
        if fact.tongue == "es":
            return Line(f"{fact.head} no {fact.rest}, {other}", "es", ends=fact.text, form="right")
        if verb != "is":
            return self._value_now(fact)
        instead = other.removeprefix("is ")
        return Line(f"{fact.head} is not {value}, it's {instead}", "en", ends=fact.text, form="right")

    def _another(self, fact: Statement) -> str:
        """The words with another value."""
        for _ in range(20):
            other = self.grammar.having(fact.tongue, fact.who, fact.key)
            if other.head == fact.head and other.rest != fact.rest:
                return other.rest
        return fact.rest


def _now(tongue: Tongue) -> str:
    return "now" if tongue == "en" else "ahora"


def words_of(text: str) -> list[str]:
    """The words of a text without the marks around them, in small letters."""
    bare = (word.strip(_MARKS) for word in text.casefold().replace("’", "'").split())
    return [word for word in bare if word]


def plain(text: str) -> str:
    """A text by its words, with one blank between two."""
    return " ".join(words_of(text))


def is_in(text: str, other: str) -> bool:
    """Whether a text stands in another word for word, whatever marks stand around words."""
    return f" {plain(text)} " in f" {plain(other)} "


def has_words_of(text: str, said: str) -> bool:
    """Whether a text is words of what was said, in their order."""
    rest = iter(words_of(said))
    return all(word in rest for word in words_of(text))
