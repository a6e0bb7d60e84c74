"""Files that are replaced whole."""

from pathlib import Path

from kenobot.storage import disk


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    """The new text, for the owner only; a link is followed, and no draft is left behind."""
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    disk.replace_text(tmp_path / "link", "new ñ")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text("utf-8") == "new ñ"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o600
    assert len(list(tmp_path.iterdir())) == 2
