"""What is about a question at all: the rest is not shown as if it were."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

np = pytest.importorskip("numpy", reason="vectors are compared with numpy, which is not installed")

from kenobot.cognitive.policy import DEFAULT  # noqa: E402
from kenobot.cognitive.recall.results.render import render_search  # noqa: E402
from kenobot.cognitive.recall.search import judge  # noqa: E402
from kenobot.cognitive.recall.vectors.calibration import SimilarityCalibration  # noqa: E402
from kenobot.cognitive.recall.vectors.texts import VectorKey  # noqa: E402
from kenobot.cognitive.recall.vectors.vector_search import VectorIndex  # noqa: E402
from tests.unit.cognitive.recall.house import HERE, Memory  # noqa: E402


def _halves(*rows: Sequence[float]) -> bytes:
    return bytes(np.array(rows, "<f2").tobytes())


# Questions of one's own lie at the third axis, general ones at the fourth.
SCALE = SimilarityCalibration(0.0, 0.5, 0.0, 0.9, _halves([0, 0, 1, 0]), _halves([0, 0, 0, 1]))
NEAR, FAR, NEITHER, GENERAL = [1.0, 0, 0, 0], [0, 1.0, 0, 0], [0.8, 0, 0.42, 0.42], [0.8, 0, 0, 0.6]


def _place(memory: Memory, rows: Mapping[int, Sequence[float]], questions: Mapping[str, Sequence[float]]) -> None:
    vectors = VectorIndex(("m",))
    vectors.set_calibration("m", SCALE)
    for number, row in rows.items():
        vectors.put("record", "m", [VectorKey(number, "owner", "owner")], np.array([row], np.float32))
    vectors.cache("m", "query", list(questions), list(questions.values()))
    memory.index.vectors = vectors


@pytest.mark.parametrize(
    "question", ["What is the boiling point of mercury?", "水银的沸点是多少？", "¿Quién pintó Las meninas?"]
)
async def test_a_question_about_nothing_known_is_given_nothing(memory: Memory, question: str) -> None:
    """However many memories there are: the nearest of them are not about it."""
    numbers = [await memory.learn(f"The drawer number {at} holds socks") for at in range(9)]
    _place(memory, dict.fromkeys(numbers, FAR), {question: GENERAL})
    report = await memory.recall(question)
    assert (report.level, report.memories, report.excerpts) == ("none", (), ())
    assert report.dropped["irrelevant"] == 9
    assert "nothing is remembered that seems to be about" in render_search(report)


async def test_what_is_about_it_is_shown_and_what_is_not_is_left_out(memory: Memory) -> None:
    """The best decides whether there is anything, and each other memory for itself."""
    socks, rain = await memory.learn("The drawer holds socks"), await memory.learn("It rained on the day of the fair")
    _place(memory, {socks: NEAR, rain: FAR}, {"Where are the stockings?": NEITHER})
    report = await memory.recall("Where are the stockings?")
    assert [each.record.id for each in report.memories] == [socks]
    assert report.memories[0].ways == ("meaning",)


async def test_talk_that_is_not_about_a_question_is_not_quoted(memory: Memory) -> None:
    """One word in common with what was said once does not make it an answer."""
    await memory.say("The boiling water in the kitchen made a point of noise", 1)
    question = "What is the boiling point of mercury?"
    _place(memory, {}, {question: GENERAL})
    assert memory.index.vectors is not None
    turns = [VectorKey(message, HERE) for message in (1, 2)]
    memory.index.vectors.put("turn", "m", turns, np.array([FAR, FAR], np.float32))
    report = await memory.recall(question)
    assert (report.level, report.excerpts) == ("none", ())


async def test_what_has_no_vector_yet_is_found_by_its_words(memory: Memory) -> None:
    """What was just told is not doubted for a model that has not read it."""
    told = await memory.learn("The pump in the cellar is a Grundfos")
    _place(memory, {}, {"Which pump is in the cellar?": GENERAL})
    assert [each.record.id for each in (await memory.recall("Which pump is in the cellar?")).memories] == [told]


async def test_the_words_of_the_question_and_its_people_are_about_it(memory: Memory) -> None:
    """A code says nothing to a model, and neither does a name."""
    code = await memory.learn("ZX-4471 stands for the blue valve")
    laura = await memory.learn("She sings on Fridays", subject="Laura")
    _place(memory, {code: FAR, laura: FAR}, {"ZX-4471 blue valve?": GENERAL, "What about Laura?": GENERAL})
    assert code in [each.record.id for each in (await memory.recall("ZX-4471 blue valve?")).memories]
    assert laura in [each.record.id for each in (await memory.recall("What about Laura?")).memories]


async def test_what_was_only_told_in_the_same_hour_must_fit_itself(memory: Memory) -> None:
    """A box of memories leads from one to all others; a link between two says that they belong together."""
    socks, rain, shop = [await memory.learn(text) for text in ("The drawer holds socks", "It rained", "They are wool")]
    box = await memory.learn("1 November", form="box")
    for member in (socks, rain):
        await memory.link(member, box, "member")
    await memory.link(socks, shop)
    _place(memory, {socks: NEAR}, {"Where are the stockings?": NEITHER})
    found = {each.record.id: each.ways for each in (await memory.recall("Where are the stockings?")).memories}
    assert found == {socks: ("meaning",), shop: ("link",)}


@pytest.mark.parametrize("model", [*judge.load_weights().show, "a model that does not ship"])
def test_each_feature_counts_the_way_that_makes_sense(model: str) -> None:
    """With every model: nearness, names, days, one's own affairs speak for a memory, general knowledge against it."""
    plain = judge.FitFeatures(meaning=1, named=0, personal=0, general=0, kind=0, days=0)
    usual = judge.fit_probability(plain, model)
    for name in ("named", "personal", "kind", "days"):
        assert judge.fit_probability(replace(plain, **{name: 1.0}), model) >= usual
    assert judge.fit_probability(replace(plain, general=1), model) < usual
    assert judge.fit_probability(replace(plain, meaning=0), model) < DEFAULT.recall.best_fits_from
    assert judge.fit_probability(replace(plain, meaning=1.5), model) > DEFAULT.recall.best_fits_from


def test_how_general_a_question_is_goes_by_the_calibration() -> None:
    """From one's own affairs to general knowledge; in between without either, and where nothing is known of it."""
    vectors = VectorIndex(("m",))
    vectors.cache("m", "query", ["mine", "general"], [[0, 0, 1, 0], [0, 0, 0, 1]])
    assert vectors.generality("general") == 0
    vectors.set_calibration("m", SCALE)
    assert vectors.generality("mine") == pytest.approx(-1, abs=0.01)
    assert vectors.generality("general") == pytest.approx(1, abs=0.01)
    assert vectors.generality("never embedded") == 0
