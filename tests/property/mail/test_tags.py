"""What the tag scanner keeps to, whatever the reply."""

import html
import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kenobot.postprocessors.code_ranges import code_ranges, find_quoted_ranges
from kenobot.postprocessors.pipeline import Pipeline
from kenobot.postprocessors.scanner import scan_tags, whole_length
from kenobot_testing.postprocessor import RecordingTurn
from tests.unit.postprocessors.tags_found import NAMES
from tests.unit.postprocessors.test_tags import TAGS

WORDS = "|".join(name.rstrip("/") for name in NAMES if name != "user")
MARKUP = re.compile(rf"</?(?:{WORDS})(?:\s[^<>‹]*)?/?>", re.IGNORECASE)
SHARDS = (
    *(f"<{name}>" for name in NAMES),
    *(f"</{name.rstrip('/')}>" for name in NAMES),
    *(
        "<memory/>",
        "\n> ",
        "<MEMORY a='b'>",
        "</memory >",
        "< memory >",
        "<memory ",
        "<mem",
        "ory>",
        "</mem",
        "<chat-",
        "<user",
    ),
    *("`", "``", "```", "~~~", "\n", "\n\n", "\n```\n", "\n~~~\n", "\r\n", "   ", "    ", "\t"),
    *("<", ">", "/", "‹", "＜memory＞", "&lt;memory&gt;", "a", "b c", "é", "日", "🎉", "\u200b", "\0", "\ud800"),
)
steady = settings(deadline=None)  # a busy machine is no failure
replies = st.lists(st.sampled_from(SHARDS) | st.text(max_size=3), max_size=30).map("".join)


def is_subsequence(part: str, whole: str) -> bool:
    rest = iter(whole)
    return all(char in rest for char in part)


@steady
@given(replies)
@example("<memory <mem<memory>x</memory>ory> y>")
@example("` <memory>a\n\nb</memory> `<memory>x</memory>`")
@example("    ```\n<memory></memory><memory>\n```")
@example("<memory>a\n</memory>> <memory>b</memory>")
@example("> <memory>a\n</memory>\n> `b")
def test_no_markup_is_left_outside_code_and_quotes(text: str) -> None:
    """The clean text never shows a tag of ours that is not quoted, as code or in a block quote."""
    clean = scan_tags(text, NAMES).clean
    quoted = code_ranges(clean) + find_quoted_ranges(clean)
    for match in MARKUP.finditer(clean):
        assert any(start <= match.start() < end for start, end in quoted), clean


@steady
@given(replies)
def test_scanning_the_clean_text_again_changes_nothing(text: str) -> None:
    """What a person was shown holds no tag, were it ever taken for a reply again."""
    clean = scan_tags(text, NAMES).clean
    again = scan_tags(clean, NAMES)
    assert again.elements == ()
    assert again.clean == clean


@steady
@given(replies)
def test_contents_come_from_the_reply_in_order(text: str) -> None:
    """Nothing is invented and nothing changes places, in the contents as in the clean text."""
    result = scan_tags(text, NAMES)
    whole = text.replace("<", "‹").replace("\r", "\n")
    for part in (result.clean, *(element.content for element in result.elements)):
        assert is_subsequence(part.replace("<", "‹").replace("\r", "\n"), whole + "\n")


@steady
@given(replies)
def test_no_text_is_shown_and_stored(text: str) -> None:
    """Each letter is in one place: in one element, or in front of the person."""
    result = scan_tags(text, NAMES)
    for char in "aé日🎉":
        kept = result.clean.count(char) + sum(element.content.count(char) for element in result.elements)
        assert kept <= text.count(char)


@steady
@given(replies)
def test_an_echo_only_moves_text_to_the_person(text: str) -> None:
    """Elements are the same whether they act or not; what does not act is shown."""
    acting = scan_tags(text, NAMES)
    echo = scan_tags(text, NAMES, lambda name, pieces: True)
    assert echo.elements == ()
    assert echo.ignored == acting.elements
    assert scan_tags(echo.clean, NAMES).elements == ()


@steady
@given(st.lists(st.tuples(st.sampled_from(sorted(TAGS)), st.text("abc dé", max_size=8))))
def test_well_formed_tags_are_all_found(pairs: list[tuple[str, str]]) -> None:
    """Any row of closed tags comes back whole and leaves nothing."""
    wanted = [(name, content) for name, content in pairs if name != "bootstrap-complete"]
    result = scan_tags("".join(f"<{name}>{content}</{name}>" for name, content in wanted), NAMES)
    assert [(element.name, element.content) for element in result.elements] == wanted
    assert result.clean == ""


@steady
@given(replies, st.sampled_from([str, str.upper, html.escape]))
@example("<memory>\ud800</memory>", str)
def test_what_was_only_repeated_is_never_written(text: str, disguise: type[str]) -> None:
    """A reply that is the person's own message acts on nothing in it that has content."""
    turn = RecordingTurn()
    Pipeline(tuple(TAGS.values()), str).process(text, [disguise(text)], turn, "en")
    assert turn.untouched


@steady
@given(replies)
def test_every_reply_can_be_stored(text: str) -> None:
    """Whatever the model writes, the outcome can be encoded, and something is shown unless it wrote nothing."""
    processed = Pipeline(tuple(TAGS.values()), str).process(text, (), RecordingTurn(), "en")
    assert "\0" not in processed.clean
    assert processed.clean.encode("utf-8").decode("utf-8") == processed.clean


OPENERS = ("<memory>", "< MEMORY >", "<chat-memory note=\"a b c\" x='1'>", "<user-update\n>", "<working-memory>")
harmless = st.text(st.characters(exclude_characters="<>`~\r", exclude_categories=["Cs"]), max_size=20)


@steady
@given(harmless, st.sampled_from(OPENERS), harmless, harmless, st.data())
def test_an_element_that_was_cut_goes_as_a_whole(
    before: str, opener: str, content: str, after: str, data: st.DataObject
) -> None:
    """Wherever the cut goes through, what is left is the text before it, or the element is all there."""
    closer = "</" + opener.strip("< >").split()[0] + ">"
    whole = f"{before}{opener}{content}{closer}"
    text = whole + after
    cut = text[: data.draw(st.integers(0, len(text)))]
    kept = cut[: whole_length(cut, NAMES)]
    if len(cut) >= len(whole):
        assert kept == cut
    else:
        assert kept == cut[: len(before)]


@steady
@given(replies)
def test_what_is_left_of_a_cut_reply_is_whole(text: str) -> None:
    """Dropping what a cut went through leaves nothing more to drop, and no element that was not there before."""
    kept = text[: whole_length(text, NAMES)]
    assert whole_length(kept, NAMES) == len(kept)
    assert kept.count("<") <= text.count("<")


def ink(text: str) -> str:
    """What is seen of a text, however it is laid out."""
    return "".join(text.replace("<", "‹").replace("\0", "").split())


@steady
@given(replies)
@example("<memory>a `</memory> b` c</memory>")
@example("<memory>a<chat-memory>b</memory>c</chat-memory>d")
@example("<user>@host <user>b</user>")
@example("` <memory>a</memory>\n```\n` b\n```")
@example("<memory\u00a0a>b</memory>")
def test_nothing_is_settled_that_the_whole_reply_hides(text: str) -> None:
    """What a reply shows while it is written stands in what it shows in the end; without code, at its beginning."""
    pipeline = Pipeline(tuple(TAGS.values()), str)
    whole = ink(scan_tags(text.replace("\ud800", "\ufffd").replace("\0", ""), NAMES).clean)
    for end in range(len(text) + 1):
        shown = ink(pipeline.clean_settled(text[:end]))
        assert is_subsequence(shown, whole), (text[:end], shown, whole)
        assert whole.startswith(shown) or "`" in text or "~~~" in text, (text[:end], shown, whole)


def test_a_reply_is_settled_up_to_its_first_open_tag_and_behind_closed_ones() -> None:
    """Blanks at its end stay: they say that the last word is complete."""
    pipeline = Pipeline(tuple(TAGS.values()), str)
    steps = ["One", " ", "<", "memory>two", "</mem", "ory>th", "ree,", " a <", " b", ". <mem"]
    texts = ["".join(steps[:count]) for count in range(1, len(steps) + 1)]
    shown = [
        "One",
        "One ",
        "One ",
        "One ",
        "One ",
        "One th",
        "One three,",
        "One three, a ",
        "One three, a ",
        "One three, a < b. ",
    ]
    assert [pipeline.clean_settled(text) for text in texts] == shown
