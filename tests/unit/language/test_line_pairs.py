"""Pairing of the lines of files that were edited in one save."""

import time
from collections.abc import Collection, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.language.line_pairs import FileLines, LineEdits, likeness, pair_lines

ALIKE = 0.4


def pair(
    *files: tuple[Sequence[tuple[int, str]], Sequence[str]],
    copies: Mapping[int, Collection[str]] | None = None,
    scopes: Sequence[str] = (),
) -> list[LineEdits]:
    """Pair the lines of files a.md, b.md and so on, all of one scope unless told otherwise."""
    lines = [
        FileLines(f"{'abc'[at]}.md", scopes[at] if scopes else "owner", old, new) for at, (old, new) in enumerate(files)
    ]
    return pair_lines(lines, ALIKE, copies or {})


def test_a_save_tells_what_a_person_did() -> None:
    """Same lines are kept, those that are alike were rewritten, the rest is new or gone."""
    old = [(1, "likes tea"), (2, "lives in Paris"), (3, "the gym closes at ten"), (4, "Ana plays chess")]
    [edits] = pair((old, ["likes tea", "lives in Bilbao", "Ana plays chess", "Rex is a dog"]))
    assert edits.origins == {0: ("kept", 1), 1: ("changed", 2), 2: ("kept", 4)}
    assert (edits.removed, edits.touched) == ((3,), 2)


def test_a_line_that_moved_within_its_file_is_the_same_line() -> None:
    """Putting facts in another order changes nothing of them."""
    [edits] = pair(([(1, "a"), (2, "b"), (3, "c")], ["c", "a", "b"]))
    assert edits == LineEdits({0: ("kept", 3), 1: ("kept", 1), 2: ("kept", 2)})


def test_a_deleted_line_is_not_replaced_by_the_next_one_that_was_edited() -> None:
    """Likeness pairs, not the place in the file."""
    [edits] = pair(([(1, "The boiler was repaired by Luis"), (2, "The tickets are booked todya")],
                    ["The tickets are booked today"]))  # fmt: skip
    assert (edits.origins, edits.removed) == ({0: ("changed", 2)}, (1,))


def test_a_line_cut_from_one_file_into_another_has_moved() -> None:
    """Its record stands, so nothing takes its place and nothing of it is gone."""
    log = [(1, "The boiler was repaired by Luis"), (2, "The boiler was repaired by Eva")]
    first, second = pair((log, ["The boiler was repaired by Eva and Tom"]), ([], ["The boiler was repaired by Luis."]))
    assert (first.origins, first.removed) == ({0: ("changed", 2)}, ())
    assert second.origins == {0: ("moved", 1)}
    assert first.left == {1: "b.md"} or not first.left


def test_a_line_corrected_while_it_was_cut_takes_the_place_of_the_old() -> None:
    """The old words stand nowhere any more."""
    first, second = pair(([(1, "Ana lives in Paris")], []), ([], ["Ana lives in Bilbao"]))
    assert (first.removed, second.origins) == ((), {0: ("rewritten", 1)})


def test_lines_do_not_move_between_scopes() -> None:
    """What stood in a chat's file and stands in the owner's was taken out of one and added to the other."""
    first, second = pair(([(1, "likes tea")], []), ([], ["likes tea"]), scopes=["chat:c", "owner"])
    assert (first.removed, second.origins) == ((1,), {})


@pytest.mark.parametrize("where", ["b.md", "z.md"])
def test_a_record_that_stands_in_another_file_is_not_replaced(where: str) -> None:
    """Whether that file was edited as well or not, each copy that the owner made counts for itself."""
    files = [([(1, "likes tea")], ["likes coffee"]), ([(1, "likes tea")], ["likes tea", "more"])]
    first = pair(*files, copies={1: ["a.md", where]})[0]
    assert (first.origins, first.removed, first.left) == ({}, (), {1: where})


@pytest.mark.parametrize("new", [["likes tea", "likes coffee"], ["likes tea"]])
def test_a_record_that_still_stands_in_its_file_is_neither_replaced_nor_gone(new: list[str]) -> None:
    """It stood there in two lines, of which one was rewritten or deleted."""
    [edits] = pair(([(1, "likes tea"), (1, "likes tea")], new))
    assert (edits.origins, edits.removed) == ({0: ("kept", 1)}, ())


def test_what_memory_shows_twice_is_corrected_in_either_place() -> None:
    """A fact that sleep put into MEMORY.md also stands in its log: there is one fact."""
    [edits] = pair(([(1, "likes tea")], ["likes coffee"]))
    assert edits.origins == {0: ("changed", 1)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The tickets are booked todya", "The tickets are booked today"),
        ("El dentista es el martes", "El dentista es el jueves a las 10"),
        ("我喜欢喝茶", "我喜欢喝咖啡"),
        ("أحب القهوة", "أحب الشاي"),
        ("커피를 좋아해요", "차를 좋아해요"),
        ("coffe", "coffee"),
    ],
)
def test_a_correction_is_like_what_it_corrects(one: str, other: str) -> None:
    """In every script, and also in lines of one word."""
    assert likeness(one, other) == likeness(other, one) >= ALIKE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The boiler was repaired by Luis", "The train to Madrid was booked by Ana"),
        ("El seguro del coche vence en mayo", "La reunión con el banco es en junio"),
        ("我喜欢喝茶", "他住在巴黎"),
        ("🙂", "🎉"),
    ],
)
def test_lines_about_different_things_are_not_alike(one: str, other: str) -> None:
    """Words that only hold a sentence together make no likeness."""
    assert likeness(one, other) < ALIKE


@pytest.mark.parametrize("line", ["x", "the plant {} wants water"])
def test_long_files_are_paired_in_no_time(line: str) -> None:
    """Neither equal lines nor alike ones are all compared with each other."""
    old = [(number, line.format(number)) for number in range(4_000)]
    new = [f"{line.format(number)} again" for number in range(4_000)]
    begun = time.process_time()
    [edits] = pair((old, ["y", *new]))
    assert time.process_time() - begun < 10
    assert edits.touched >= 4_000


@given(
    st.lists(st.tuples(st.lists(st.sampled_from("abcde"), max_size=5), st.lists(st.sampled_from("abcdeF"), max_size=5)),
             min_size=1, max_size=3)
)  # fmt: skip
def test_every_line_is_accounted_for_once(files: list[tuple[list[str], list[str]]]) -> None:
    """What is still said somewhere is neither gone nor replaced, and a record that is not said any more is either."""
    given_lines = [([(ord(text), text) for text in old], new) for old, new in files]
    found = pair(*given_lines, copies={})
    said = {text.lower() for _, new in files for text in new}
    replaced = {record for edits in found for how, record in edits.origins.values() if how in ("changed", "rewritten")}
    removed = {record for edits in found for record in edits.removed}
    for text in {text for old, _ in files for text in old}:
        if text not in said:
            assert ord(text) in removed | replaced
