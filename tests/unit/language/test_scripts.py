"""Words of every script: what is said in it is found by a part of it."""

import pytest

from kenobot.language.words import fold, standalone_letters, stems, terms, words
from tests.unit.cognitive.recall.house import Memory, open_memory

PARTS = {
    "Chinese": ("我的猫叫咪咪，喜欢睡在沙发上", ["沙发", "咪咪", "猫", "喜欢睡"], ["茶", "沙滩"]),
    "Japanese": ("明日の会議は午後三時にコーヒー店で", ["会議", "コーヒー", "三時", "明日"], ["ケーキ", "病院"]),
    "Thai": ("ฉันแพ้กุ้งและถั่วลิสง", ["แพ้กุ้ง", "ถั่วลิสง", "กุ้ง"], ["แมว", "ชื่อ"]),
    "Arabic": ("أعمل مهندسًا في شركة الاتصالات بالمدينة", ["مهندس", "المهندس", "اتصالات", "المدينة"], ["طبيب", "بيت"]),
    "Korean": (
        "우리 고양이가 소파에서 자고 차는 집에 있어요",
        ["고양이", "고양이는", "소파", "차", "집"],
        ["강아지", "책"],
    ),
    "Russian": ("Моя кошка живёт в Москве", ["Москва", "кошки", "о кошке"], ["собака", "Киев"]),
    "Greek": ("Μένω στην Αθήνα με τη γάτα μου", ["Αθήνας", "γάτες"], ["σκύλος"]),
    "Hindi": ("मैं दिल्ली में लड़कों को पढ़ाता हूँ", ["दिल्ली", "लड़का"], ["मुंबई"]),
    "Hebrew": ("אני גר בחיפה וחתול שלי ישן", ["גר", "ישן"], ["כלב"]),
    "short terms": (
        "I write Go and C# with AI, CI and R, never C++",
        ["Go", "C#", "AI", "CI", "R", "C++"],
        ["C", "JS"],
    ),
    "emoji": ("the 🐈 sleeps", ["🐈"], ["🐕"]),
}


@pytest.mark.parametrize("script", PARTS)
async def test_a_note_is_found_by_a_part_of_it(script: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Among others in the same script, and not by what it does not say."""
    note, parts, others = PARTS[script]
    async with open_memory(tmp_path_factory.mktemp("home")) as memory:
        await memory.learn(note)
        await memory.learn("另外一条完全不同的笔记")
        await memory.learn("Something else entirely, in plain words")
        for part in parts:
            assert await _found(memory, part) == [note], part
        for other in others:
            assert note not in await _found(memory, other), other


async def _found(memory: Memory, text: str) -> list[str]:
    return await memory.texts(text, force=True)


def test_marks_belong_to_their_letters() -> None:
    """Vowels are marks in many scripts: a word does not end at them."""
    assert words("दिल्ली में") == ["दिल्ली", "में"]
    assert "แพ้"[0:2] in words("แพ้กุ้ง")
    assert all(len(pair) == 2 for pair in words("แพ้กุ้ง"))


@pytest.mark.parametrize(
    ("written", "meant"),
    [("مُحَمَّد", "محمد"), ("إلى الأمام", "الي الامام"), ("כַּלְבָּא", "כלבא"), ("Ñandú Über", "ñandu uber")],
)
def test_points_and_accents_may_be_left_out(written: str, meant: str) -> None:
    """People write without them; ñ is a letter of its own."""
    assert fold(written) == meant


@pytest.mark.parametrize(
    "forms",
    [
        ("القطة", "قطة", "والقطة", "بالقطة"),
        ("البيت", "بيت"),
        ("Москва", "Москве", "Москву"),
        ("лошадь", "лошади"),
        ("γάτα", "γάτες"),
        ("लड़का", "लड़के"),
        ("gatos", "gato"),
        ("houses", "house"),
    ],
)
def test_forms_of_a_word_share_a_stem(forms: tuple[str, ...]) -> None:
    """In the language that its script tells; Latin letters are stemmed as English and as Spanish."""
    shared = set.intersection(*(set(stems(fold(form))) for form in forms))
    assert shared, [stems(fold(form)) for form in forms]


def test_no_stem_is_empty() -> None:
    """A short word stays what it is, whatever its letters mean elsewhere."""
    for word in ("ال", "و", "وه", "ها", "في", "а", "ο", "म", "é", "ñ", "İ", "ß"):
        assert all(terms(word, keep_stops=True)), word


def test_letters_that_may_be_words_are_known_alone() -> None:
    """An ideograph and a Korean syllable, but no kana, and nothing of an alphabet."""
    assert standalone_letters("猫と ねこ cat 차") == ["猫", "차"]
    assert standalone_letters("plain") == []
