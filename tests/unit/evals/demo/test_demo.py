"""`kenobot demo`: the tour, its colours, its pauses, its recordings, and what it says when the story is not true."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kenobot.cli import main
from kenobot.ports.recall import PatternMatch
from kenobot_evals.demo import record, show, story
from kenobot_evals.demo.play import FileChange, SleepSummary, StepResult
from kenobot_evals.demo.show import DisplayStyle
from kenobot_evals.demo.story import Story
from kenobot_evals.demo.tour import Tour

TINY = """
zone = "UTC"
start = 2026-02-14T04:00:00
look_hours = 4
config = ""
owners = ["1"]
users = []
[people.ann]
name = "Ann"
user = "1"
chat = "1"
[files]
"MEMORY.md" = "- Ann likes boats"
[[wording]]
name = "strong"
title = { en = "Once", es = "Una vez" }
tells = { en = "It is told.", es = "Se cuenta." }
reply = "Noted. <memory>The boat is called Petrel</memory>"
[[step]]
at = 2026-02-14T09:00:00
who = "ann"
says = "My boat is called Petrel"
reply = "{first}"
title = { en = "Said", es = "Dicho" }
tells = { en = "Ann speaks.", es = "Habla Ann." }
[step.expect.all]
prompt = ["likes boats"]
there = { "2026-02-14.md" = "EXPECTED" }
"""


def tiny(expected: str) -> Story:
    return story.load(TINY.replace("EXPECTED", expected))


def told(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    known = tiny(text)
    monkeypatch.setattr(story, "load", lambda: known)


def test_the_tour_shows_message_memory_reply_and_files(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Piped, it has no colours and does not wait; all as told is exit code 0."""
    told(monkeypatch, "## 09:00 — The boat is called Petrel")
    assert main(["demo", "--lang", "en"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    for text in (
        "━━ 1/1 · 14 February 2026, 09:00 · Said",
        "Ann: My boat is called Petrel",
        "│ - Ann likes boats",
        "│ Noted. <memory>The boat is called Petrel</memory>",
        "│ 2026-02-14.md  new\n│ +## 09:00 — The boat is called Petrel",
        "Everything was as the story says.",
    ):
        assert text in out, out


def test_what_is_not_as_the_story_says_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With exit code 1, for people and for programs, in either language."""
    told(monkeypatch, "Albatross")
    assert main(["demo", "--fast", "--lang", "es"]) == 1
    out = capsys.readouterr().out
    assert "No es como cuenta la historia\n│ 14 February 09:00: 2026-02-14.md does not hold “Albatross”" in out
    assert "Todo fue como cuenta" not in out
    assert main(["demo", "--json", "--lang", "es"]) == 1
    [step] = map(json.loads, capsys.readouterr().out.splitlines())
    assert step["failures"] == ["14 February 09:00: 2026-02-14.md does not hold “Albatross”"]
    assert step["title"] == "Dicho"
    assert step["files"][0] | {"diff": 0} == {"path": "2026-02-14.md", "change": "new", "moved_to": None, "diff": 0}


def test_a_recording_is_what_asciinema_plays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A header, then output with its time, which never goes back; twice the same tour, twice the same bytes."""
    told(monkeypatch, "Petrel")
    first, second = tmp_path / "1.cast", tmp_path / "2.cast"
    for file in (first, second):
        assert main(["demo", "--fast", "--json", "--lang", "en", "--record", str(file)]) == 0
    header, *events = map(json.loads, first.read_text("utf-8").splitlines())
    assert (header["version"], header["width"]) == (2, 100)
    assert {kind for _, kind, _ in events} == {"o"}
    assert [at for at, _, _ in events] == sorted(at for at, _, _ in events)
    assert "\x1b[1;36m━━ 1/1" in "".join(text for _, _, text in events)
    assert first.read_bytes() == second.read_bytes()


def test_the_short_form_goes_between_the_marks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As a fenced block; a page without marks is left as it is."""
    told(monkeypatch, "Petrel")
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- demo: begin -->\nold\n<!-- demo: end -->\nb\n", "utf-8")
    assert main(["demo", "--fast", "--lang", "en", "--write", str(page)]) == 0
    text = page.read_text("utf-8")
    assert text.startswith("a\n<!-- demo: begin -->\n```diff\n@@ 14 February 2026, 09:00 · Said @@\n  Ann: My boat")
    assert text.endswith("+- Ann likes boats\n```\n<!-- demo: end -->\nb\n")
    assert "\n+## 09:00 — The boat is called Petrel\n" in text
    assert "(in the prompt) Ann likes boats" in text
    page.write_text("no marks", "utf-8")
    assert main(["demo", "--fast", "--write", str(page)]) == 78
    assert page.read_text("utf-8") == "no marks"


class _Terminal:
    """Standard output that says it is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_a_terminal_gets_colours_unless_it_wants_none(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], coloured: bool
) -> None:
    """NO_COLOR and a dumb terminal are respected."""
    told(monkeypatch, "Petrel")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    screen = _Terminal()
    monkeypatch.setattr("sys.stdout", screen)
    assert main(["demo", "--fast", "--lang", "en"]) == 0
    assert ("\x1b[" in screen.text) == coloured
    assert "Ann speaks." in screen.text


def test_between_steps_it_waits_for_its_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enter goes on, q ends; with seconds it waits by itself, and without pauses not at all."""
    asked, slept = list[str](), list[float]()
    answers = iter(["", "q"])

    def answered(prompt: str) -> str:
        asked.append(prompt)
        return next(answers)

    monkeypatch.setattr("builtins.input", answered)
    monkeypatch.setattr("kenobot_evals.demo.tour.time.sleep", slept.append)
    act = tiny("Petrel").acts[0]
    page = step(number=1, step_count=3)

    def pages(*, pauses: bool = True, seconds: float | None = None) -> list[bool]:
        shown = Tour(DisplayStyle("es"), pauses=pauses, seconds=seconds)
        return [shown.step(act, page), shown.step(act, page)]

    assert pages() == [True, False]
    assert asked == ["Intro: seguir · q: terminar"] * 2
    assert pages(seconds=1.5) == [True, True]
    assert slept == [1.5, 1.5]
    assert pages(pauses=False) == [True, True]
    assert (len(asked), len(slept)) == (2, 2)


def test_a_file_that_went_elsewhere_is_one_line() -> None:
    """Its text is the same, so only its way is shown; what changed in a file is shown with a line around it."""
    moved = FileChange("a.md", "x\ny\n", None, "archive/a.md")
    assert (show.change_kind(moved), show.diff_lines(moved)) == ("moved", [])
    changed = FileChange("b.md", "one\ntwo\nthree\nfour\n", "one\ntwo\n3\nfour\n")
    assert show.diff_lines(changed) == [" two", "-three", "+3", " four"]
    assert show.change_kind(FileChange("c.md", "x", None)) == "gone"
    text = show.as_text(step(files=(moved, changed)), DisplayStyle("en"))
    assert "│ a.md → archive/a.md  moved, as it was" in text
    assert "│ - a.md" not in text
    assert record.page_excerpt(tiny("x").acts[0], [step(files=(moved,))], DisplayStyle("en")).endswith(
        "- a.md\n+ archive/a.md\n```"
    )


def test_a_pattern_is_shown_with_its_score() -> None:
    """Coverage times confidence, as the seed reckons it."""
    text = show.as_text(step(pattern_matches=(PatternMatch("a → b", 0.75, 0.6),)), DisplayStyle("en"))
    assert "│ a → b: 0.75 of its words × confidence 0.60 = 0.45" in text


def test_a_story_out_of_order_is_refused() -> None:
    """Time does not go back."""
    twice = TINY + TINY[TINY.index("[[step]]") :].replace("T09", "T08")
    with pytest.raises(ValueError, match="not in order"):
        story.load(twice)


def test_the_story_that_ships_can_be_played() -> None:
    """Two wordings of the same steps, told in both languages, that differ in the first reply."""
    whole = story.load()
    assert [act.name for act in whole.acts] == ["seed", "strong"]
    seed, strong = ([each.reply for each in act.steps] for act in whole.acts)
    assert [one == other for one, other in zip(seed, strong, strict=True)].count(False) == 1
    for act in whole.acts:
        for each in act.steps:
            assert set(each.title) == set(each.tells) == {"en", "es"}
            assert each.expect, f"nothing is checked at {each.at}"


def step(**given: object) -> StepResult:
    """A step that has happened, with what matters to a test."""
    one = tiny("Petrel").acts[0].steps[0]
    held: dict[str, object] = {
        "number": 1,
        "step_count": 1,
        "step": one,
        "memory": "",
        "answer": "",
        "pattern_matches": (),
    }
    held |= {"sleep": SleepSummary(), "tree": {}, "files": (), "changed_record_files": 0, "failures": ()}
    return StepResult(**{**held, **given})  # type: ignore[arg-type]


def test_moments_are_told_in_both_languages() -> None:
    """As people write them."""
    at = datetime(2026, 6, 9, 20, tzinfo=UTC)
    assert (DisplayStyle("en").moment(at), DisplayStyle("es").moment(at)) == (
        "9 June 2026, 20:00",
        "9 de junio de 2026, 20:00",
    )
