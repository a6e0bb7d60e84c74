"""What works behind the turns is loaded after the first answers, whatever is short then."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from kenobot.app.background import load_background
from tests.scene import Scene


async def test_what_cannot_be_loaded_for_want_of_descriptors_is_loaded_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A bot that starts while none are left works behind its turns once there are some."""
    real, errors = importlib.import_module, [OSError(24, "Too many open files"), MemoryError()]

    def load(name: str, package: str | None = None) -> ModuleType:
        if name == "kenobot.app.menu_setter" and errors:
            raise errors.pop()
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", load)
    async with Scene(tmp_path, ["Hi."]) as scene:
        await load_background(scene.app)
    assert not errors
    assert [record.message for record in caplog.records if "cannot begin yet" in record.message] == [
        "The work behind the turns cannot begin yet: no memory. It is tried again.",
        "The work behind the turns cannot begin yet: [Errno 24] Too many open files. It is tried again.",
    ]
