"""What `kenobot update` finds installed: the extras, also where one distribution serves several of them."""

from pathlib import Path

import pytest

from kenobot_deploy.update.installation import find_installation

_KENOBOT = """
Provides-Extra: embedded
Provides-Extra: listening
Provides-Extra: irc
Provides-Extra: dev
Requires-Dist: eyes>=1
Requires-Dist: kenobot-local[embedded]==0.1.0; extra == "embedded"
Requires-Dist: kenobot-local[listening]==0.1.0 ; extra == 'listening'
Requires-Dist: kenobot-irc @ file:///tree/packages/irc ; extra == "irc"
Requires-Dist: eyes; extra == "dev"
"""
_LOCAL = """
Provides-Extra: embedded
Provides-Extra: listening
Requires-Dist: kenobot==0.1.0
Requires-Dist: eyes; extra == "embedded"
Requires-Dist: never-made; sys_platform == 'plan9' and extra == "embedded"
Requires-Dist: ears; extra == "listening"
"""


def test_an_extra_is_there_with_the_libraries_that_its_distribution_wants_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two extras that one distribution serves, an update takes along the one whose libraries are there."""
    installed = {"kenobot": _KENOBOT, "kenobot_local": _LOCAL, "eyes": "\n"}
    for name, metadata in installed.items():
        folder = tmp_path / f"{name}-0.1.0.dist-info"
        folder.mkdir()
        named = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 0.1.0"
        folder.joinpath("METADATA").write_text(named + metadata, "utf-8")
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    found = find_installation()
    assert (found.extras, found.apart, found.others) == (("embedded",), ("kenobot-local",), ())
