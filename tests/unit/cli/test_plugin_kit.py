"""`kenobot plugin` refuses what cannot be, in one line each."""

from pathlib import Path

import pytest

from .conftest import Cli


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("new", "channel", "my-door"), 78, "is no name"),
        (("new", "channel", "telegram"), 78, "is there already"),
        (("new", "tool", "dice", "--into", "{here}"), 0, ""),
        (("check", "{here}/nothing"), 2, "does not exist"),
        (("check", "{here}"), 1, "neither a pyproject.toml"),
    ],
)
def test_what_cannot_be_is_said(
    cli: Cli,
    tmp_path: Path,
    arguments: tuple[str, ...],
    code: int,
    reason: str,
) -> None:
    """In one line each; nothing is overwritten."""
    given = [argument.format(here=tmp_path / "here") for argument in arguments]
    (tmp_path / "here").mkdir()
    done, out, err = cli("plugin", *given)
    assert (done, reason in err) == (code, True)
    if not code:
        assert "kenobot-dice" in out
        assert cli("plugin", *given)[0] == 78
