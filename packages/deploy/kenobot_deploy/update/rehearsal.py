"""Try a new version on a copy of the home: its migration, a turn that remembers and recalls, and its doctor."""

import contextlib
import json
import secrets
import shutil
import tempfile
from pathlib import Path

from kenobot.core.settings.home import Home
from kenobot.storage import migrate
from kenobot.storage.backup.snapshot import STAGING_PREFIX, remove_leftovers, take_snapshot
from kenobot.storage.updates import Side
from kenobot_deploy.update.environment import python_of
from kenobot_deploy.update.programs import DiskGuard, UpdateFailed, last_words, run_quietly, said_full

_SECONDS = 300.0  # a migration of a large database included
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


def rehearse(home: Home, old: Side, new: Side, guard: DiskGuard) -> int:
    """Try the new version on a copy of the home, which is removed again.

    Returns the bytes that putting the database back would take: 0 where the new version does not change its schema.
    Raises UpdateFailed, KenobotError and OSError.
    """
    if not home.path.is_dir():
        return 0
    with home.backup_lock():
        remove_leftovers(home)
        staging = Path(tempfile.mkdtemp(prefix=STAGING_PREFIX, dir=home.path))
        try:
            copy = Home(staging / "home")
            copy.path.mkdir(mode=0o700)
            size = _database_bytes(home)
            guard.require(size)
            if size:
                take_snapshot(home, copy.path, credentials=True)
            elif home.config_file.exists():
                shutil.copyfile(home.config_file, copy.config_file)
            before = _errors(old, copy, guard) if size else {}
            _have_a_turn(new, copy, guard)
            after = _errors(new, copy, guard)
            if fresh := [after[check] for check in after if check not in before]:
                raise UpdateFailed("update.doctor_complains", version=new.version, finding=fresh[0])
            is_changed = size > 0 and migrate.schema_version(copy.database) > migrate.schema_version(home.database)
            return _database_bytes(copy) if is_changed else 0
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def _database_bytes(home: Home) -> int:
    """Return how large a database is, with what its log has yet to bring into it; 0 where there is none."""
    if not (home.database.exists() and home.database.stat().st_size):
        return 0
    log = home.database.with_name(f"{home.database.name}-wal")
    return home.database.stat().st_size + (log.stat().st_size if log.exists() else 0)


def _have_a_turn(new: Side, copy: Home, guard: DiskGuard) -> None:
    """Make the new version remember something and say it again, offline. Raises UpdateFailed."""
    code = f"{secrets.randbelow(9000) + 1000}"
    _say(new, copy, f"Remember that the number of the canary is {code}.", guard)
    answer = _say(new, copy, "What is the number of the canary?", guard)
    if code not in answer:
        raise UpdateFailed("update.recalls_nothing", version=new.version)


def _say(new: Side, copy: Home, text: str, guard: DiskGuard) -> str:
    command = [str(python_of(new.environment)), "-P", "-m", "kenobot", "--home", str(copy.path), "chat", "-m", text]
    done = run_quietly(command, _SECONDS, environ=_ALONE, guard=guard)
    if done.returncode:
        if said_full(done.stderr):
            raise guard.full()
        raise UpdateFailed("update.answers_nothing", version=new.version, words=last_words(done))
    return done.stdout


def _errors(side: Side, copy: Home, guard: DiskGuard) -> dict[str, str]:
    """Return what the doctor of a version calls an error on the copy, by check; no service is asked."""
    command = [str(python_of(side.environment)), "-P", "-m", "kenobot", "--home", str(copy.path), "doctor", "--offline"]
    done = run_quietly([*command, "--json"], _SECONDS, guard=guard)
    found = {}
    for line in done.stdout.splitlines():
        with contextlib.suppress(ValueError, LookupError, TypeError):
            row = json.loads(line)
            if row["severity"] == "error":
                found[str(row["check"])] = str(row["text"])
    if done.returncode not in (0, 1, 3) or (done.returncode == 1 and not found):
        found["doctor"] = last_words(done)
    return found
