"""Git in a workspace: some verbs, in the sandbox, whatever the repository has set up."""

import functools
import http.server
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.tools.workspace.desk import SECRET, Desk, no_bubblewrap, no_git, require_sandbox

pytestmark = [no_bubblewrap, no_git]


@pytest.fixture(autouse=True)
async def _sandbox(tmp_path: Path) -> None:
    await require_sandbox(tmp_path)


def _git(folder: Path, *words: str) -> None:
    people = ("-c", "user.name=Ana", "-c", "user.email=ana@example.org")
    subprocess.run(["git", "-C", str(folder), *people, *words], check=True, capture_output=True)


@pytest.fixture
def repository(desk: Desk) -> Path:
    """A repository in the workspace, with one commit."""
    _git(desk.work, "init", "--quiet", "--initial-branch=main")
    (desk.work / "a.txt").write_text("one\n")
    _git(desk.work, "add", ".")
    _git(desk.work, "commit", "--quiet", "-m", "Begin")
    return desk.work


async def test_a_change_is_looked_at_and_committed(desk: Desk, repository: Path) -> None:
    """Status, diff, add, commit, log and show, by the author of the settings."""
    (repository / "a.txt").write_text("two\n")
    (repository / "b.txt").write_text("new\n")
    tool = desk.tool("git", author="Keno <keno@example.org>")
    assert await desk.call("git", tool, verb="status") == "[exit status 0]\n## main\n M a.txt\n?? b.txt"
    assert "-one\n+two" in await desk.call("git", tool, verb="diff", paths=["a.txt"])
    assert "add 'b.txt'" in await desk.call("git", tool, verb="add")
    said = await desk.call("git", tool, verb="commit", message="Change: 'two' & -m \"x\"")
    assert said.startswith("[exit status 0]"), said
    log = await desk.call("git", tool, verb="log")
    assert "Keno: Change: 'two' & -m \"x\"" in log
    assert "Ana: Begin" in log
    assert "+new" in await desk.call("git", tool, verb="show", revision="HEAD", paths=["b.txt"])


async def test_a_repository_is_made(desk: Desk) -> None:
    """In the workspace, without hooks."""
    assert (await desk.call("git", verb="init")).startswith("[exit status 0]")
    assert not (desk.work / ".git" / "hooks").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        {"verb": "log", "revision": "--output=stolen"},
        {"verb": "diff", "revision": "-c"},
        {"verb": "show", "revision": "HEAD --ext-diff"},
        {"verb": "show", "revision": "HEAD\nx"},
        {"verb": "status", "folder": "../home"},
        {"verb": "status", "folder": "/etc"},
        {"verb": "status", "folder": ".git"},
        {"verb": "commit", "message": " "},
        {"verb": "commit", "message": "a\0b"},
        {"verb": "push"},
        {"verb": "!sh"},
        {"verb": "config"},
        {"verb": "clone", "repository": "owner/name"},
        {"verb": "add", "paths": ["--chmod=+x", "../home/kenobot.toml"]},
        {"verb": "diff", "paths": ["--no-index", "/etc/passwd"]},
        {"verb": "show", "revision": "HEAD:../home/kenobot.toml"},
        {"verb": "log", "revision": "main@{upstream}"},
        {"verb": "add", "paths": ["x" * 400_000]},
    ],
)
async def test_words_of_the_model_are_no_options(desk: Desk, repository: Path, arguments: dict[str, object]) -> None:
    """What looks like one is refused, or taken for the name of a file."""
    said = await desk.call("git", **arguments)  # type: ignore[arg-type]
    assert not said.startswith("[exit status 0]"), said
    assert SECRET not in said
    assert sorted(each.name for each in repository.iterdir()) == [".git", "a.txt"]


_TRAP = "touch /work/trapped {home}/trapped; cat {home}/kenobot.toml"


@pytest.mark.parametrize("verb", ["status", "log", "diff", "show", "add", "commit"])
async def test_a_repository_sets_nothing_off_outside(desk: Desk, repository: Path, verb: str) -> None:
    """Hooks, watchers, pagers, filters, external differences, signatures: at most they act in the sandbox."""
    trap = repository / ".git" / "trap"
    trap.write_text(f"#!/bin/sh\n{_TRAP.format(home=desk.home)}\ncat\n")
    trap.chmod(0o755)
    for hook in ("pre-commit", "post-commit", "post-index-change", "prepare-commit-msg", "reference-transaction"):
        (repository / ".git" / "hooks").mkdir(exist_ok=True)
        (repository / ".git" / "hooks" / hook).write_text(trap.read_text())
        (repository / ".git" / "hooks" / hook).chmod(0o755)
    for key in (
        "core.fsmonitor core.pager core.editor core.sshCommand core.askPass diff.external diff.x.textconv "
        "diff.x.command filter.x.clean filter.x.smudge filter.x.process gpg.program core.alternateRefsCommand "
        "sequence.editor credential.helper pager.log pager.diff interactive.diffFilter"
    ).split():
        _git(repository, "config", key, str(trap))
    _git(repository, "config", "alias.status", f"!{trap}")
    _git(repository, "config", "commit.gpgSign", "true")
    _git(repository, "config", "log.showSignature", "true")
    _git(repository, "config", "include.path", str(desk.home / "kenobot.toml"))
    (repository / ".gitattributes").write_text("* diff=x filter=x\n")
    (repository / "a.txt").write_text("two\n")
    said = await desk.call("git", verb=verb, message="Change")
    assert SECRET not in said
    assert [each.name for each in desk.home.iterdir()] == ["kenobot.toml"]
    if verb in ("status", "log", "diff", "show"):
        assert not (repository / "trapped").exists(), "what only reads has a workspace that is only read"


async def test_a_repository_that_is_elsewhere_is_not_found(desk: Desk, repository: Path, tmp_path: Path) -> None:
    """A `.git` that points out of the workspace, or borrows objects from there, leads nowhere."""
    (repository / ".git").rename(tmp_path / "elsewhere")
    (repository / ".git").write_text(f"gitdir: {tmp_path / 'elsewhere'}\n")
    assert "not a git repository" in await desk.call("git", verb="log")


async def test_what_is_only_read_is_not_committed(tmp_path: Path) -> None:
    """A workspace for reading can be looked at."""
    desk = Desk.make(tmp_path, read_only=True)
    _git(desk.work, "init", "--quiet")
    assert "for reading only" in await desk.call("git", verb="init")
    assert (await desk.call("git", verb="status")).startswith("[exit status 0]")


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[str]:
    """A server with the repository ana/notes, as plain files."""
    made, served = tmp_path / "made", tmp_path / "served" / "ana" / "notes"
    made.mkdir()
    _git(made, "init", "--quiet", "--initial-branch=main")
    (made / "a.txt").write_text("one\n")
    _git(made, "add", ".")
    _git(made, "commit", "--quiet", "-m", "Begin")
    served.parent.mkdir(parents=True)
    _git(made, "clone", "--quiet", "--bare", str(made), str(served))
    _git(served, "update-server-info")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(tmp_path / "served"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


async def test_a_repository_is_cloned_from_where_the_owner_says(desk: Desk, forge: str) -> None:
    """By owner and name, from that server alone."""
    tool = desk.tool("git", clone_from=forge)
    assert tool.effects.way_out
    said = await desk.call("git", tool, verb="clone", repository="ana/notes")
    assert said.startswith("[exit status 0]"), said
    assert (desk.work / "notes" / "a.txt").read_text() == "one\n"
    for name in ("../x", "a/..", "-u/x", "ana", f"{forge}/ana/notes", "ana/notes --upload-pack=x", ""):
        assert "is no repository" in await desk.call("git", tool, verb="clone", repository=name)


_BARE = {
    "x/HEAD": "ref: refs/heads/main\n",
    "x/objects/info/packs": "",
    "x/refs/heads/.keep": "",
    "x/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = /work/x\n"
    '[filter "e"]\n\tclean = "touch /work/ran; cat"\n',
    "x/info/attributes": "* filter=e\n",
    "x/a.txt": "hello",
}


async def test_a_folder_that_looks_like_a_repository_is_none(desk: Desk) -> None:
    """No command is run by the settings of a folder that anybody can write, and HEAD is not written."""
    for path, text in _BARE.items():
        said = await desk.call("write_file", path=path, text=text)
        assert said.startswith("failed: ") == (path == "x/HEAD"), said
    (desk.work / "x" / "HEAD").write_text(_BARE["x/HEAD"])  # as a clone may bring it
    for verb in ("status", "add"):
        assert "safe.bareRepository" in await desk.call("git", verb=verb, folder="x")
    assert not (desk.work / "ran").exists()
