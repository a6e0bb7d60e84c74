"""Pages about people and things, and the names of files in every script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.cognitive.mirror.paths import entity_page_of, page_name, role_of, slug, subject_of
from kenobot.ports.memory import Candidate
from tests.unit.cognitive.mirror.records.record_files_house import CardHouse


async def about(house: CardHouse, subject: str, text: str, scope: str = "owner") -> int:
    return await house.tell(Candidate("note", scope, text, source="extraction", subject=subject))


async def page(house: CardHouse, number: int) -> str:
    path = entity_page_of(await house.record(number))
    assert path is not None
    return path


@pytest.mark.parametrize(
    "subject", ["Ana María", "C++", "C#", "王小明", "عمر", "Müller & Söhne", "🙂", "../../etc/passwd"]
)
async def test_everything_about_somebody_stands_on_one_page(cards: CardHouse, subject: str) -> None:
    """In every script, inside its own folder, under the subject's own name."""
    one = await about(cards, subject, f"{subject} was founded in 1901")
    two = await about(cards, subject, f"{subject} plays the cello on Sundays")
    path = await page(cards, one)
    assert path == await page(cards, two) and path.startswith("entities/") and path.count("/") == 1
    record = await cards.record(one)
    assert cards.text(path) == (f"# {record.subject}\n\n- {record.text}\n- {(await cards.record(two)).text}\n")
    await cards.forget(one)
    await cards.forget(two)
    await cards.tree.sync_out()
    assert path not in cards.files()


async def test_a_page_is_edited_like_any_list(cards: CardHouse) -> None:
    """A new line is about the same, a changed one takes the old one's place, a missing one is forgotten."""
    one = await about(cards, "Ana", "Ana lives in Lyon")
    two = await about(cards, "Ana", "Ana plays chess at the club")
    path = await page(cards, one)
    cards.write(path, "# ana\n\nMy own words about her.\n- Ana lives in Nice\n")
    await cards.sync()
    cards.write(path, cards.text(path) + "- Her dog is called Rex\n")
    await cards.sync()
    live = {record.text: record for record in await cards.live()}
    assert set(live) == {"Ana lives in Nice", "Her dog is called Rex"}
    assert live["Her dog is called Rex"].subject == (await cards.record(one)).subject
    assert live["Ana lives in Nice"].subject == (await cards.record(one)).subject
    assert ((await cards.record(one)).status, (await cards.record(two)).status) == ("superseded", "forgotten")
    assert "My own words about her.\n" in cards.text(path)
    events = await cards.count_events()
    assert await cards.sync() == 0
    assert await cards.count_events() == events


async def test_scopes_do_not_share_a_page(cards: CardHouse) -> None:
    """What a chat knows of somebody stands in the chat's own folder."""
    await about(cards, "Ana", "Ana lives in Lyon")
    number = await about(cards, "Ana", "Ana owes the club 20 euros", "chat:c")
    path = await page(cards, number)
    assert path.startswith("chats/c/entities/")
    assert "Lyon" not in cards.text(path)


names = st.text(max_size=80) | st.sampled_from(["con", "a-b", "a b", "..", ".", "/", "a/b", "A", "ß", "ss", "x" * 300])


@given(names)
def test_no_name_leads_anywhere_else(subject: str) -> None:
    """A page's name is one plain file name of bounded length, of which the folder's own rules make the same page."""
    name = page_name(subject)
    assert name and len(name.encode()) <= 140
    assert not set(name) & set('/\\\0:*?"<>|.\n') and not name.startswith(("-", " "))
    place = role_of(f"entities/{name}.md")
    assert place is not None and place.detail == name
    assert subject_of(name) in (None, subject, subject.casefold()) or page_name(subject_of(name) or "") == name
    assert len(slug(subject).encode()) <= 60


@given(names, names)
def test_different_subjects_have_different_pages(one: str, other: str) -> None:
    """Also where a file system does not tell capital letters apart."""
    import unicodedata

    def plain(text: str) -> str:
        return unicodedata.normalize("NFC", text).casefold()

    assert (page_name(one) == page_name(other)) == (plain(one) == plain(other))
