"""Try a new version on a copy of the home: its migration, a turn that remembers and recalls, and its doctor."""

import contextlib
import json
import secrets
import shutil
import tempfile
from pathlib import Path

from kenobot.cli.update.environment import UpdateFailed, python_of, run_quietly
from kenobot.core.settings.home import Home
from kenobot.storage.backup.snapshot import STAGING_PREFIX, remove_leftovers, take_snapshot
from kenobot.storage.updates import Side

_SECONDS = 300.0  # a migration of a large database included
_TOLD = 300  # characters of what it said
_ALONE = {
    "KENOBOT_CHANNELS__ENABLED": "",
    "KENOBOT_EXPERTS__QUERIES": "none",
    "KENOBOT_MEMORY__EMBEDDER": "none",
    "KENOBOT_MEMORY__RERANKER": "none",
    "KENOBOT_MODELS__CHEAP": "",
    "KENOBOT_OBSERVERS__ENABLED": "",
    "KENOBOT_PLUGINS__ENABLED": "",
    "KENOBOT_PROVIDER__FALLBACKS": "",
    "KENOBOT_PROVIDER__NAME": "offline",
    "KENOBOT_TOOLS__ENABLED": "",
    "KENOBOT_TRANSCRIBER__NAME": "none",
}
"""What keeps the copy's bot from reaching anybody: no channel, no model, no tool, no plugin of the owner's."""


def rehearse(home: Home, old: Side, new: Side) -> None:
    """Try the new version on a copy of the home, which is removed again. Raises UpdateFailed, KenobotError, OSError."""
    if not home.path.is_dir():
        return
    with home.backup_lock():
        remove_leftovers(home)
        staging = Path(tempfile.mkdtemp(prefix=STAGING_PREFIX, dir=home.path))
        try:
            copy = Home(staging / "home")
            copy.path.mkdir(mode=0o700)
            has_database = home.database.exists() and home.database.stat().st_size > 0
            if has_database:
                take_snapshot(home, copy.path, credentials=True)
            elif home.config_file.exists():
                shutil.copyfile(home.config_file, copy.config_file)
            before = _errors(old, copy) if has_database else {}
            _have_a_turn(new, copy)
            after = _errors(new, copy)
            if fresh := [after[check] for check in after if check not in before]:
                raise UpdateFailed(f"The doctor of version {new.version} finds on a copy of the home: {fresh[0]}")
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def _have_a_turn(new: Side, copy: Home) -> None:
    """Have the new version remember something and say it again, offline. Raises UpdateFailed."""
    code = f"{secrets.randbelow(9000) + 1000}"
    _say(new, copy, f"Remember that the number of the canary is {code}.")
    answer = _say(new, copy, "What is the number of the canary?")
    if code not in answer:
        raise UpdateFailed(f"Version {new.version} does not recall what it was told, on a copy of the home.")


def _say(new: Side, copy: Home, text: str) -> str:
    command = [str(python_of(new.environment)), "-P", "-m", "kenobot", "--home", str(copy.path), "chat", "-m", text]
    done = run_quietly(command, _SECONDS, environ=_ALONE)
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:_TOLD]
        raise UpdateFailed(f"Version {new.version} does not answer on a copy of the home: {said}")
    return done.stdout


def _errors(side: Side, copy: Home) -> dict[str, str]:
    """Return what the doctor of a version calls an error on the copy, by check; no service is asked."""
    command = [str(python_of(side.environment)), "-P", "-m", "kenobot", "--home", str(copy.path), "doctor", "--offline"]
    done = run_quietly([*command, "--json"], _SECONDS)
    found = {}
    for line in done.stdout.splitlines():
        with contextlib.suppress(ValueError, LookupError, TypeError):
            row = json.loads(line)
            if row["severity"] == "error":
                found[str(row["check"])] = str(row["text"])
    if done.returncode not in (0, 1, 3) or (done.returncode == 1 and not found):
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:_TOLD]
        found["doctor"] = said
    return found
