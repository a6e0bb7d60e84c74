"""What docs show of `kenobot demo` is what it prints: its short form in docs/demo.md, and its recording."""

from pathlib import Path

import pytest

from kenobot.cli import main
from kenobot_evals.page_marks import page_marks

ROOT = Path(__file__).resolve().parents[2]
AGAIN = "kenobot demo --fast --lang en --wording strong --write docs/demo.md --record docs/demo.cast"


@pytest.mark.long
def test_readme_and_recording_are_up_to_date(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Played again, the tour gives the very same page and the very same recording."""
    page, cast = tmp_path / "demo.md", tmp_path / "demo.cast"
    begin, end = page_marks("demo")
    before, _, rest = (ROOT / "docs" / "demo.md").read_text("utf-8").partition(begin)
    page.write_text(f"{before}{begin}\n{end}{rest.partition(end)[2]}", "utf-8")
    words = AGAIN.replace("docs/demo.md", str(page)).replace("docs/demo.cast", str(cast)).split()[1:]
    assert main(words) == 0, capsys.readouterr().out
    assert page.read_text("utf-8") == (ROOT / "docs" / "demo.md").read_text("utf-8"), f"run: {AGAIN}"
    assert cast.read_text("utf-8") == (ROOT / "docs" / "demo.cast").read_text("utf-8"), f"run: {AGAIN}"
