"""Recorded cases, area by area: this repository's own sample, and those beside the repository where there are any."""

from collections import defaultdict
from pathlib import Path

from tests.cases import each
from tests.conformance import report, runner
from tests.conformance.cases import Case, read
from tests.recorded import CONFORMANCE

SAMPLE = Path(__file__).with_name("sample.jsonl")


def _areas() -> dict[str, list[Case]]:
    areas: dict[str, list[Case]] = defaultdict(list)
    for path in (SAMPLE, *sorted(CONFORMANCE.glob("*.jsonl"))):
        for case in read(path):
            areas[f"{path.stem}:{case.area}"].append(case)
    return areas


AREAS = _areas()


@each("name", AREAS)
def test_no_case_of_an_area_fails(name: str) -> None:
    """What the originals did right is done here too, and what they did wrong is done better."""
    results = runner.run(AREAS[name])
    assert not [result for result in results if result.verdict == "failed"], report.as_text(results)


def test_every_case_of_the_sample_is_played() -> None:
    """None of the sample's cases is left out as not applicable."""
    assert {runner.play(case).verdict for case in read(SAMPLE)} == {"passed"}
