"""What became of a text is told word by word."""

from kenobot_dashboard.differences import compare_texts


def _write(before: str, after: str) -> str:
    marks = {"same": "{}", "removed": "[-{}-]", "added": "[+{}+]"}
    return "".join(marks[piece.kind].format(piece.text) for piece in compare_texts(before, after))


def test_words_that_changed_are_told_apart() -> None:
    """Within their sentence, whose other words stay as they are."""
    assert _write("Leo is seven.", "Leo is eight.") == "Leo is [-seven.-][+eight.+]"
    assert _write("Leo is eight.", "Leo is eight.") == ""
    assert _write("", "Leo is eight.") == "[+Leo is eight.+]"


def test_what_is_far_from_a_change_is_left_out() -> None:
    """A long text shows the words beside its changes."""
    words = " ".join(f"w{number}" for number in range(100))
    told = _write(words, words.replace("w50 ", "new "))
    assert "[-w50 -][+new +]" in told
    assert "w49" in told
    assert "w51" in told
    assert "w10 " not in told
    assert "w90" not in told


def test_lines_that_are_gone_keep_their_breaks_outside_of_the_mark() -> None:
    """So that no empty line is marked."""
    assert _write("a\nb\nc", "a\nc") == "a[-b-]\nc" or _write("a\nb\nc", "a\nc") == "a\n[-b-]\nc"


def test_texts_without_bound_are_not_compared_word_by_word() -> None:
    """They are shown whole, the one as gone and the other as new."""
    long = "word " * 2000
    assert [piece.kind for piece in compare_texts(long, long + "x")] == ["removed", "added"]
