"""The tag scanner, rule by rule."""

from typing import Any

import pytest

from kenobot.ports.postprocessor import Element
from kenobot.postprocessors.scanner import ScanResult, scan_tags, whole_length
from tests.cases import each
from tests.unit.postprocessors.tags_found import NAMES, found


@pytest.mark.parametrize(
    "markup",
    [
        "<memory>x</memory>",
        "<MEMORY>x</Memory>",
        "<memory >x</memory >",
        "<memory\n>x</memory\n>",
        "< memory >x</ memory >",
        "< memory >x< /memory>",
        '<memory scope="y" z>x</memory>',
        "<memory>x</memory ignored>",
    ],
)
def test_spellings_of_a_tag_are_understood(markup: str) -> None:
    """Case, blanks and attributes do not hide a tag."""
    assert found(f"A{markup}B") == ("AB", [("memory", "x")])


def test_attributes_are_kept_as_written() -> None:
    """Attributes come with the element, without the blanks around them."""
    assert scan_tags('<memory  scope="Chat" >x</memory>', NAMES).elements == (Element("memory", "x", 'scope="Chat"'),)


def test_an_alias_has_its_canonical_name() -> None:
    """Each alias yields elements of the canonical name."""
    text = "<user>a</user><update-preferences>b</update-preferences><user-update>c</user-update>"
    assert found(text) == ("", [("user-update", "a"), ("user-update", "b"), ("user-update", "c")])


@pytest.mark.parametrize("markup", ["<memory/>", "<memory />", "<memory a/>", "< memory />", "<memory></memory>"])
def test_an_empty_element_has_no_content(markup: str) -> None:
    """A tag that closes itself is an empty element, and nothing of it is seen."""
    assert found(f"A{markup}B") == ("AB", [("memory", "")])


@pytest.mark.parametrize("markup", ["<bootstrap-complete/>", "<bootstrap-complete />", "<Bootstrap-Complete>"])
def test_a_void_tag_needs_no_closer(markup: str) -> None:
    """A tag without content acts by itself."""
    assert found(f"Done!\n{markup}") == ("Done!", [("bootstrap-complete", "")])


def test_a_closed_void_tag_acts_once() -> None:
    """The closer of a tag without content is only dropped."""
    assert found("<bootstrap-complete>a</bootstrap-complete>") == ("a", [("bootstrap-complete", "")])


@pytest.mark.parametrize(
    "text",
    [
        "```\n<memory>x</memory>\n```",
        "a\n   ```xml\n<memory>x</memory>\n   ````",
        "~~~\n<memory>x</memory>\n```\n~~~",
        "a\r\n```\r\n<memory>x</memory>\r\n```\r\nb",
        "Write `<memory>x</memory>` to keep it.",
        "Write ``<memory>`x`</memory>`` to keep it.",
        "A span\nover `two\n<memory>x</memory>` lines.",
    ],
)
def test_tags_in_code_are_text(text: str) -> None:
    """Fenced blocks and inline code are quotations: they stay as they are and do not act."""
    assert found(text) == (text, [])


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("```\n<memory>x</memory>", "```"),
        ("```\n<memory>x</memory>\n~~~", "```\n\n~~~"),
        ("````\n<memory>x</memory>\n```", "````\n\n```"),
        ("    ```\na<memory>x</memory>\n", "```\na"),
        ("a ` lone <memory>x</memory> backtick", "a ` lone  backtick"),
        ("a ` b\n\n<memory>x</memory> ` c", "a ` b\n\n ` c"),
        ("a `` b <memory>x</memory> ` c", "a `` b  ` c"),
    ],
)
def test_code_that_is_never_closed_protects_nothing(text: str, clean: str) -> None:
    """An unclosed fence and a lone backtick cannot swallow the tags after them."""
    assert found(text) == (clean, [("memory", "x")])


@pytest.mark.parametrize(
    "text",
    [
        "> <memory>a</memory>",
        "You wrote:\n   > remember <memory>a</memory>\n\nDone.",
        "> > <memory>a</memory>\n> <chat-memory>b</chat-memory>",
        ">`<memory>a</memory>`",
    ],
)
def test_tags_in_a_block_quote_are_text(text: str) -> None:
    """What somebody else wrote stays as it is and does not act."""
    assert found(text) == (text, [])


@pytest.mark.parametrize(
    ("text", "clean", "content"),
    [
        ("> quoted\n<memory>a</memory>", "> quoted", "a"),
        ("<memory>a</memory>> x", "> x", "a"),
        ("    a > b <memory>a</memory>", "a > b", "a"),
        ("x <memory\n>a</memory\n>", "x", "a"),
    ],
)
def test_what_only_looks_like_a_block_quote_is_none(text: str, clean: str, content: str) -> None:
    """The bracket of a tag, a comparison, and the line after a quote."""
    assert found(text) == (clean, [("memory", content)])


def test_code_within_an_element_belongs_to_its_content() -> None:
    """A quoted tag within an element is part of what is to be remembered."""
    assert found("<memory>write `</memory>` to end</memory>ok") == ("ok", [("memory", "write `</memory>` to end")])


def test_the_same_tag_within_itself_is_one_element() -> None:
    """Nested openers of one name leave no debris and do not act twice."""
    assert found("<memory>a <memory>b</memory> c</memory>") == ("", [("memory", "a b c")])
    assert found("<user>a <user-update>b</user-update> c</user>") == ("", [("user-update", "a b c")])


def test_another_tag_within_one_is_its_own_element() -> None:
    """A chat's fact within a global one is kept for the chat only."""
    text = "<memory>outer <chat-memory>inner</chat-memory> rest</memory>done"
    assert found(text) == ("done", [("memory", "outer  rest"), ("chat-memory", "inner")])


def test_a_fact_two_levels_down_stays_in_the_narrow_element() -> None:
    """Text within a narrow tag never returns to the wide one by a further opener."""
    text = "<memory>a <chat-memory>b <memory>c</memory> d</chat-memory> e</memory>"
    assert found(text) == ("", [("memory", "a  e"), ("chat-memory", "b c d")])


def test_overlapping_elements_share_no_text() -> None:
    """Where two elements overlap, the text belongs to the one opened last."""
    text = "<memory>a<chat-memory>b</memory>c</chat-memory>d"
    assert found(text) == ("d", [("memory", "a"), ("chat-memory", "bc")])


def test_an_unclosed_opener_before_a_pair_is_only_dropped() -> None:
    """A closer belongs to the last opener; the text after the first stays readable."""
    text = "<memory>unclosed one\n<memory>second</memory> tail"
    assert found(text) == ("unclosed one\n tail", [("memory", "second")])


def test_what_follows_an_unclosed_opener_within_an_element_is_shown() -> None:
    """A chat's fact whose tag is never closed is neither stored globally nor lost."""
    assert found("<memory>a <chat-memory>b</memory> c") == ("b c", [("memory", "a ")])


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Text with <memory>unclosed tag", "Text with unclosed tag"),
        ("Text with a stray closer</memory>.", "Text with a stray closer."),
        ("closed</memory> and <memory>open", "closed and open"),
    ],
)
def test_half_a_pair_is_dropped(text: str, clean: str) -> None:
    """The markup of an unclosed opener or a stray closer goes, its text stays."""
    assert found(text) == (clean, [])


@pytest.mark.parametrize("text", ["ssh <user>@host", "end </user> of it", "ssh <user", "</user> and <user>"])
def test_a_placeholder_stays(text: str) -> None:
    """`<user>` on its own is what people write for a name to fill in."""
    assert found(text) == (text, [])


def test_a_placeholder_before_a_pair_stays() -> None:
    """A closed `<user>` acts even where another one is a placeholder."""
    assert found("ssh <user>@host <user>likes ssh</user>") == ("ssh <user>@host", [("user-update", "likes ssh")])


def test_a_placeholder_within_an_element_is_part_of_it() -> None:
    """A fact may speak of `<user>`."""
    assert found("<memory>ssh <user>@host</memory>") == ("", [("memory", "ssh <user>@host")])


@pytest.mark.parametrize(
    "end",
    [
        "<memo",
        "<MEMORY",
        "</memo",
        "<chat-memory sco",
        '<chat-memory scope="x',
        "<user-",
        "<bootstrap-complete/",
        "<memory ",
    ],
)
def test_a_tag_cut_off_at_the_end_is_dropped(end: str) -> None:
    """The beginning of a tag that the end of the reply cut off is not shown."""
    assert found(f"Fine. {end}") == ("Fine.", [])


@pytest.mark.parametrize("end", ["<mem", "a < b", "<memoir", "<br", "<memory and then more", "`<memory`", "<user", "<"])
def test_an_end_that_only_looks_cut_stays(end: str) -> None:
    """Three letters are too few to tell, and other words are not ours."""
    assert found(f"Fine. {end}") == (f"Fine. {end}", [])


@pytest.mark.parametrize(
    "text",
    [
        "heap < memory and swap > 0",
        "<memoryless>x</memoryless>",
        "<memory-x>x</memory-x>",
        "＜memory＞x＜/memory＞",
        "&lt;memory&gt;x&lt;/memory&gt;",
        "<mem\u200bory>x</mem\u200bory>",
        "<uſer>x</uſer>",
        "<b>bold</b> & 1 < 2 > 0",
        "«memory» [memory] {memory}",
    ],
)
def test_look_alikes_are_text(text: str) -> None:
    """Only real brackets around a real name make a tag."""
    assert found(text) == (text, [])


def test_markup_formed_by_removing_markup_is_defused() -> None:
    """Taking one tag out cannot put another one together."""
    text = "<mem<memory>x</memory>ory>evil</mem<memory>y</memory>ory>"
    assert found(text) == ("‹memory>evil‹/memory>", [("memory", "x"), ("memory", "y")])


def test_defusing_one_tag_does_not_complete_another() -> None:
    """A defused bracket is not an attribute of the opener before it."""
    clean, _ = found("<memory <mem<memory>x</memory>ory> y>")
    assert clean == "<memory ‹memory> y>"
    assert found(clean) == (clean, [])


def test_markup_formed_within_a_content_is_defused() -> None:
    """What is remembered holds no markup that came about by taking an inner element out."""
    text = "<memory><chat-<user>x</user>memory>evil</memory>"
    assert found(text) == ("", [("memory", "‹chat-memory>evil"), ("user-update", "x")])


def test_a_cut_tag_formed_by_removal_is_defused() -> None:
    """Removing a tag at the end cannot leave the beginning of another."""
    assert found("a <me<memory>x</memory>mory") == ("a ‹memory", [("memory", "x")])
    assert found("a <memo<memo") == ("a ‹memo", [])


def test_code_that_removal_would_open_up_is_defused() -> None:
    """A quoted tag stays quoted in words when its backticks find other partners."""
    text = "` <memory>a\n\nb</memory> `<memory>x</memory>`"
    assert found(text) == ("`  `‹memory>x‹/memory>`", [("memory", "a\n\nb")])


def test_line_breaks_around_a_removed_tag_become_two() -> None:
    """Runs of three and more line breaks become two, whichever kind they are; double blanks stay."""
    assert found("a\r\n\r\n\r\n<memory>z</memory>\r\nb  c\n\n\n\nd")[0] == "a\n\nb  c\n\nd"


def test_line_breaks_within_fences_stay() -> None:
    """Code is kept line by line."""
    text = "a\n\n\n\n```\n1\n\n\n\n2\n```\n\n\n\nb<memory>x</memory>"
    assert found(text)[0] == "a\n\n```\n1\n\n\n\n2\n```\n\nb"


def test_a_text_without_tags_is_only_trimmed() -> None:
    """A reply that holds no tag keeps its line breaks."""
    assert found(" \n a\n\n\n\nb \n") == ("a\n\n\n\nb", [])


def test_an_echo_stays_readable_and_does_not_act() -> None:
    """Elements that the caller calls echoes are shown without their markup, where they stood."""
    text = "1 <memory>2 <chat-memory>3</chat-memory> 4</memory> 5"
    result = scan_tags(text, NAMES, lambda name, pieces: name == "chat-memory")
    assert result.clean == "1 3 5"
    assert result.elements == (Element("memory", "2  4"),)
    assert result.ignored == (Element("chat-memory", "3"),)


def test_an_echo_is_asked_for_by_unbroken_pieces() -> None:
    """The caller sees the text of an element in the pieces in which it was written."""
    asked: list[tuple[str, list[str]]] = []

    def echoed(name: str, pieces: Any) -> bool:
        asked.append((name, list(pieces)))
        return False

    scan_tags("<memory>a <chat-memory>b</chat-memory> c</memory><bootstrap-complete/>", NAMES, echoed)
    assert asked == [("memory", ["a ", " c"]), ("chat-memory", ["b"]), ("bootstrap-complete", [])]


def test_without_names_nothing_is_a_tag() -> None:
    """A bot without post-processors shows replies as they are."""
    assert scan_tags("<memory>x</memory> <>", {}).clean == "<memory>x</memory> <>"


def test_ten_thousand_tags_are_all_found() -> None:
    """That many are no flood yet."""
    text = "".join(f"<memory>fact {number}</memory>" for number in range(10_000))
    clean, elements = found(text)
    assert clean == ""
    assert elements == [("memory", f"fact {number}") for number in range(10_000)]


def test_a_very_deep_nest_does_not_exhaust_the_stack() -> None:
    """Depth costs no recursion."""
    assert found("<memory>" * 50_000 + "x" + "</memory>" * 50_000) == ("", [("memory", "x")])


@pytest.mark.parametrize(
    ("text", "clean", "elements"),
    [
        ("<memory><memory><memory>a</memory>b", "b", ["a"]),
        ("<memory><memory>a</memory>b</memory></memory>c", "c", ["ab"]),
        ("<memory>a</memory></memory></memory>b", "b", ["a"]),
        ("<memory>a<chat-memory><chat-memory>b</chat-memory>c</memory>d", "cd", ["a", "b"]),
        ("<user><user>a</user>b", "<user>b", ["a"]),
        ("<user>a</user></user>b", "</user>b", ["a"]),
        ("<user>a</user><memory>b</memory></user></user>", "</user></user>", ["a", "b"]),
    ],
)
def test_a_row_of_one_tag_is_like_single_ones(text: str, clean: str, elements: list[str]) -> None:
    """Of a row of openers the last ones are closed, and of a row of closers the first ones close."""
    assert found(text)[0] == clean
    assert [content for _, content in found(text)[1]] == elements


def test_code_that_begins_or_ends_in_a_row_divides_it() -> None:
    """A backtick among the attributes quotes the next tag, or no longer does."""
    assert found("<memory `><memory `>a</memory>") == ("", [("memory", "<memory `>a")])
    assert found("`<memory `><memory `>a</memory>")[0] == "`<memory `>"


@pytest.mark.parametrize("text", ["<memory/><memory/>", "<memory/>a<memory/>", "<memory/><user-update/><memory/>"])
def test_an_empty_tag_is_one_element_however_often(text: str) -> None:
    """Repeating what says nothing says no more."""
    assert found(text)[1].count(("memory", "")) == 1


FLOODS = {
    "tags": "<memory>a</memory>b" * 12_000,
    "different tags": "".join(f"<memory {number}>" for number in range(12_000)) + "a</memory>",
    "formed tags": "<mem<memory>a</memory>ory>" * 12_000,
    "placeholders": "<user>a" * 22_000,
    "tags in a fence": "```\n" + "<memory>a</memory>\n" * 12_000 + "```",
    "backticks": "<memory>a</memory>" + "` " * 11_000,
    "tildes": "<memory>a</memory>" + "~~~\n" * 4_000,
}


@pytest.mark.parametrize("text", FLOODS.values(), ids=FLOODS)
def test_in_a_flood_nothing_acts_and_every_word_stays(text: str) -> None:
    """What nobody wrote as an answer is shown with its brackets blunted, in code too."""
    result = scan_tags(text, NAMES, lambda name, pieces: pytest.fail("nobody is asked"))
    assert result == ScanResult(text.strip().replace("<", "‹"), ())
    assert scan_tags(result.clean, NAMES) == result


def test_without_tags_nothing_is_a_flood() -> None:
    """Code, however much, and the brackets of others are no concern of ours."""
    text = "`<b>` ~~~\n" * 30_000
    assert found(text) == (text.strip(), [])


@each(
    ("text", "kept"),
    [
        ("Done. <memory>The garden needs wat", "Done. "),
        ("Done. <memory>a</memory> And <chat-memory>b", "Done. <memory>a</memory> And "),
        ("Done. <memory>a <chat-memory>b</memory> So", "Done. <memory>a <chat-memory>b</memory> So"),
        ("Done. <memory>a <chat-memory>b</chat-memory> c", "Done. "),
        ("Done. <", "Done. "),
        ("Done. </", "Done. "),
        ("Done. <m", "Done. "),
        ("Done. <memory>a</mem", "Done. "),
        ("Done. <memory>a</memory", "Done. "),
        ('Done. <memory note="' + "long " * 100, "Done. "),
        ("Done. <memory <mem", "Done. "),
        ("Done. <bootstrap-comp", "Done. "),
        ("`<memory>` is a tag", "`<memory>` is a tag"),
        ("Log in as <user>@host and", "Log in as <user>@host and"),
        ("1 < 2 and <b", "1 < 2 and "),
        ("if heap < memory and swap", "if heap < memory and swap"),
        ("¿Listo? <memory>El jardín necesita ag", "¿Listo? "),
        ("完成。<memory>花园", "完成。"),
        ("<memory>" * 50_000, ""),
        ("<mem" * 50_000, ""),
    ],
)
def test_what_a_cut_went_through_is_known(text: str, kept: str) -> None:
    """An open element, or a tag of which the end is missing, begins where the text stops being whole."""
    assert text[: whole_length(text, NAMES)] == kept
