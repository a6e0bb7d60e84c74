"""Collect the everyday words of both languages that are no names: `python -m bench.common_words`.

From the sentences of invented people beside this module: what they write in small letters twice or more, and hardly
ever with a capital within a sentence. Names that are words as well are left out.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from kenobot.core import common_words, lazy
from kenobot.language.words import fold

_HERE = Path(__file__).parent
_WORD = lazy.regex(r"[^\W\d_]+")
_LEAST, _RARELY = 2, 4  # times in small letters; how many of them for one with a capital
_SHORTEST, _LONGEST = 2, 14  # letters
_NAMES = frozenset(
    "ahmed al alba angel april art ash aurora autumn basil bea beau bee bill billy blanca bob brook carlos chance "
    "chase chip clara claudia cliff concepcion cora cruz curro daisy dan dawn dean dolores don dora drew duke earl "
    "emily encarnacion eve faith fe flor frank gil ginger glen gloria grace guy harry hazel heather holly hope hunter "
    "ida iris ivy jack jade jasmine joy june kelly kimberly kit lara laurel leo lily linda lucas luna luz mar marina "
    "mark mason max may mercedes mia miles molly nico nieves norm olive pat paz pearl penny perla pilar ray reed "
    "reyes rich rob rocio rosa rosario rose ruby rusty sally sandy sky sol soledad sue summer sunita tim tom tony "
    "victor victoria violet wade will".split()
)
_ALSO = frozenset(  # what people write with a capital, or answer a machine with, and is no name either
    "monday tuesday wednesday thursday friday saturday sunday january february march august september october november "
    "december lunes martes miercoles jueves viernes sabado domingo english spanish french german italian portuguese "
    "irish scottish welsh british american canadian australian mexican argentinian brazilian colombian chilean "
    "peruvian polish russian ukrainian chinese japanese korean indian pakistani turkish greek dutch belgian swiss "
    "swedish danish norwegian finnish moroccan nigerian kenyan european african asian latino latina hispanic arab "
    "catholic christian muslim jewish hindu buddhist atheist español española ingles inglesa frances francesa aleman "
    "alemana italiano italiana portugues portuguesa irlandes irlandesa britanico americana americano mexicano mexicana "
    "argentino argentina brasileño colombiano colombiana chileno chilena peruano peruana venezolano venezolana cubano "
    "cubana boliviano ecuatoriano ecuatoriana uruguayo uruguaya paraguayo ruso rusa ucraniano polaco polaca chino "
    "china japones coreano indio turco griego marroqui europeo africano catolico cristiano musulman judio ateo catalan "
    "gallego vasco andaluz madrileño aries tauro taurus geminis gemini escorpio scorpio sagitario sagittarius "
    "capricornio capricorn acuario aquarius piscis pisces virgo libra london paris madrid barcelona berlin rome tokyo "
    "busy thirsty upset rich real torpe humano humana rubio rubia moreno morena timido timida andamos docente exit "
    "restart abort enter continue hm perhaps true false nevermind secret null undefined kenobot detener cancelar "
    "inicio comenzar abortar reiniciar continuar probando fun falso incorrecto quizas talvez secreto anonimo recuerda "
    "acuerda dueno complicated confusing names mud banana elephant whatever private anonymous nobody asap".split()
)


def texts() -> Iterator[str]:
    """Iterate over what the people of the corpora wrote."""
    for path in sorted((_HERE / "statements").glob("*.tsv")):
        yield from (line.partition("\t")[2] for line in path.read_text("utf-8").splitlines())
    for path in sorted((_HERE / "ends").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield from (*row["notes"], row["says"])
    for path in sorted((_HERE / "questions").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield from (*row["notes"], *(asked for asked, _ in row["asks"]))


def collect() -> list[str]:
    """Collect the words, folded, in order."""
    small, capital = Counter[str](), Counter[str]()
    for text in set(texts()):
        for match in _WORD.finditer(text):
            before = text[: match.start()].rstrip(" \"'(¿¡«“-")
            if match[0].islower():
                small[fold(match[0])] += 1
            elif before and before[-1] not in ".!?:;\n…":
                capital[fold(match[0])] += 1
    common = {
        word
        for word, times in small.items()
        if times >= _LEAST and times > _RARELY * capital[word] and _SHORTEST <= len(word) <= _LONGEST
    }
    return sorted(common - _NAMES | _ALSO)


if __name__ == "__main__":
    Path(common_words.__file__).with_name(common_words.FILE).write_text("\n".join(collect()) + "\n", "utf-8")
