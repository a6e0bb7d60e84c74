"""What the tests of cards put into memory, and how they see that nothing is left to do."""

from kenobot.ports.memory import Candidate
from tests.unit.cognitive.mirror.records.record_files_house import CardHouse

ANA = Candidate(
    form="note",
    scope="owner",
    text="Ana lives in Lyon",
    source="extraction",
    subject="Ana",
    attributes=(("city", "Lyon"),),
    tags=("friends",),
)

TEA = Candidate("note", "owner", "Adrian likes green tea", source="extraction")


async def steady(house: CardHouse) -> None:
    """Nothing more happens when everybody looks again."""
    before = {path: house.text(path) for path in house.files()}
    events = await house.count_events()
    assert await house.sync() == 0
    assert await house.count_events() == events
    assert {path: house.text(path) for path in house.files()} == before
