"""Files of a workspace are listed, read, written and edited; nothing outside of it is."""

import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kenobot.ports.errors import ConfigError
from kenobot.ports.identity import Principal
from kenobot.ports.workspace import Workspace
from kenobot.tools.workspace.files import ReadArguments
from kenobot.tools.workspace.folder import WorkspaceFolder
from kenobot_testing.tool import tool_context
from tests.unit.tools.workspace.desk import SECRET, Desk

DOCUMENTS = Path(__file__).parents[3] / "data" / "documents"

_TOOLS = ("read_file", "write_file", "edit_file", "list_files")
_ARGUMENTS: dict[str, dict[str, Any]] = {
    "write_file": {"text": "owned", "replace": True},
    "edit_file": {"old": "sk", "new": "owned"},
}


def _link(target: str) -> Callable[[Desk], None]:
    return lambda desk: (desk.work / "link").symlink_to(target.format(home=desk.home))


def _nothing(_desk: Desk) -> None:
    pass


def _hard_link(desk: Desk) -> None:
    (desk.work / "hard").hardlink_to(desk.home / "kenobot.toml")


def _pipe(desk: Desk) -> None:
    os.mkfifo(desk.work / "pipe")


def _socket(desk: Desk) -> None:
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(os.path.relpath(desk.work / "socket"))


def _chain(desk: Desk) -> None:
    (desk.work / "a").symlink_to("b")
    (desk.work / "b").symlink_to(desk.home)


def _loop(desk: Desk) -> None:
    (desk.work / "loop").symlink_to("loop")


HOSTILE: list[tuple[Callable[[Desk], None], str]] = [
    (_nothing, "../home/kenobot.toml"),
    (_nothing, "notes/../../home/kenobot.toml"),
    (_nothing, "./../home/kenobot.toml"),
    (_nothing, "a/b/../../../home/kenobot.toml"),
    (_nothing, "..//home//kenobot.toml"),
    (_nothing, "{home}/kenobot.toml"),
    (_nothing, "{work}/../home/kenobot.toml"),
    (_nothing, "{work}-other/kenobot.toml"),
    (_nothing, "/work/../home/kenobot.toml"),
    (_nothing, "//etc/passwd"),
    (_nothing, "/proc/self/environ"),
    (_nothing, "/proc/self/cwd/kenobot.toml"),
    (_nothing, "/dev/zero"),
    (_nothing, "/etc/passwd"),
    (_nothing, "~/.kenobot/kenobot.toml"),
    (_nothing, "file:///etc/passwd"),
    (_nothing, "%2e%2e/home/kenobot.toml"),
    (_nothing, "..%2fhome%2fkenobot.toml"),
    (_nothing, "..\\home\\kenobot.toml"),
    (_nothing, "\uff0e\uff0e/home/kenobot.toml"),
    (_nothing, "\u2025/home/kenobot.toml"),
    (_nothing, "..\uff0fhome\uff0fkenobot.toml"),
    (_nothing, ".\u200b./home/kenobot.toml"),
    (_nothing, "a\0/../home/kenobot.toml"),
    (_nothing, "\ud800"),
    (_nothing, "x" * 300),
    (_nothing, "a/" * 400 + "x"),
    (_link("{home}/kenobot.toml"), "link"),
    (_link("../home/kenobot.toml"), "link"),
    (_link("{home}"), "link/kenobot.toml"),
    (_link("{home}"), "./link//kenobot.toml"),
    (_link("/"), "link/etc/passwd"),
    (_link("/proc/self"), "link/environ"),
    (_link("/proc/self/fd"), "link/0"),
    (_link("/dev/zero"), "link"),
    (_link("."), "link/link/link"),
    (_chain, "a/kenobot.toml"),
    (_loop, "loop"),
    (_loop, "loop/x"),
    (_hard_link, "hard"),
    (_pipe, "pipe"),
    (_socket, "socket"),
]


@pytest.mark.parametrize("tool", _TOOLS)
@pytest.mark.parametrize(("prepare", "path"), HOSTILE)
async def test_no_path_leads_out(desk: Desk, prepare: Callable[[Desk], None], path: str, tool: str) -> None:
    """Whatever a path says, a file outside is neither shown nor changed; what is made is made inside."""
    prepare(desk)
    given = path.replace("{home}", str(desk.home)).replace("{work}", str(desk.work))
    said = await desk.call(tool, path=given, **_ARGUMENTS.get(tool, {}))
    assert SECRET not in said
    assert "root:" not in said
    if tool in ("read_file", "edit_file"):
        assert said.startswith("failed: "), said
    assert [each.name for each in desk.home.iterdir()] == ["kenobot.toml"]
    assert (desk.home / "kenobot.toml").read_text() == SECRET
    assert sorted(each.name for each in desk.work.parent.iterdir()) == ["home", "work"]


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        ".git/config",
        "sub/.git/config",
        ".GIT/config",
        ".git /config",
        ".git./config",
        ".g\u200cit/config",
        "GIT~1/config",
        ".git::$INDEX_ALLOCATION/config",
        "\uff0egit/config",
        "report\u202efdp.exe",
        "a\nb",
        "bell\x07",
        "a\u2028b",
        ".git",
    ],
)
async def test_names_that_mislead_or_run_are_not_written(desk: Desk, path: str) -> None:
    """Git runs its hooks when the owner uses it, outside of any sandbox; what reverses a name hides what it is."""
    assert (await desk.call("write_file", path=path, text="x")).startswith("failed: ")
    assert list(desk.work.rglob("*")) == []


@pytest.mark.parametrize(
    "path",
    [
        "...",
        "..a",
        "a..b/c",
        ".gitignore",
        ".github/workflows/a.yml",
        "git/x",
        "ñandú/año.md",
        "with space/x",
        "-rf",
        "*.md",
        "$(id)",
        "~",
        "a\\b",
        "CON",
        "👩‍👩‍👧",
        "x/../y",
        "./a//b/",
        "/work/a.md",
        "{work}/a.md",
        "'; --",
    ],
)
async def test_unusual_names_are_just_names(desk: Desk, path: str) -> None:
    """What only looks hostile is written inside, and read again."""
    given = path.replace("{work}", str(desk.work))
    said = await desk.call("write_file", path=given, text="kept")
    assert said.startswith("Written: "), said
    assert await desk.call("read_file", path=given) == "kept"
    assert [each.read_text() for each in desk.work.rglob("*") if each.is_file()] == ["kept"]


async def test_a_link_that_is_exchanged_meanwhile_leads_nowhere(desk: Desk) -> None:
    """Another process exchanges a folder for a link without pause; never is anything outside read or written."""
    (desk.work / "true").mkdir()
    (desk.work / "true" / "kenobot.toml").write_text("harmless")
    program = """
        import os, sys
        os.chdir(sys.argv[1])
        os.symlink(sys.argv[2], "false")
        print("ready", flush=True)
        while True:
            for one in ("true", "false"):
                os.rename(one, "folder"); os.rename("folder", one)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(desk.work), str(desk.home)]
    folder = WorkspaceFolder(desk.context.workspaces[0])
    seen = set[bytes]()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as swapping:
        assert swapping.stdout is not None
        swapping.stdout.readline()
        for _ in range(400):
            try:
                seen.add(folder.read("folder/kenobot.toml", 1000).data)
                folder.write("folder/kenobot.toml", b"harmless", replaces=True)
            except Exception as error:
                assert SECRET not in str(error)
        swapping.kill()
    assert seen <= {b"harmless"}
    assert (desk.home / "kenobot.toml").read_text() == SECRET
    assert [each.name for each in desk.home.iterdir()] == ["kenobot.toml"]


async def test_a_workspace_that_became_a_link_is_closed(desk: Desk) -> None:
    """The folder was without links when the settings were read: one that is put there later is not followed."""
    desk.work.rmdir()
    desk.work.symlink_to(desk.home)
    said = await desk.call("read_file", path="kenobot.toml")
    assert said.startswith('failed: The folder of the workspace "desk" cannot be opened')


async def test_the_home_is_closed_also_by_another_way(desk: Desk) -> None:
    """A home that is moved into a workspace after the start is no part of it."""
    desk.home.rename(desk.work / "inside")
    guarded = frozenset({((desk.work / "inside").stat().st_dev, (desk.work / "inside").stat().st_ino)})
    folder = WorkspaceFolder(desk.context.workspaces[0], guarded)
    with pytest.raises(Exception, match="own files are no part"):
        folder.read("inside/kenobot.toml", 1000)


@pytest.mark.parametrize(
    "principal",
    [
        Principal("guest", ("owner",), "owner", "guest"),
        Principal("owner", ("chat:telegram-5",), "chat:telegram-5", "owner"),
    ],
)
async def test_files_are_shown_to_the_owner_in_private(desk: Desk, principal: Principal) -> None:
    """Neither a guest nor a group is shown a file, whatever the model calls."""
    (desk.work / "diary").write_text("mine")
    turn = tool_context()
    turn = type(turn)(turn.session, principal, "call-1", "trace", turn.now, turn.search_memory, turn.agenda)
    with pytest.raises(Exception, match="private chat alone"):
        await desk.tool("read_file").run(ReadArguments(path="diary"), turn)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_long_file_is_read_by_parts(desk: Desk) -> None:
    """Each part says which lines it has, and where to go on."""
    (desk.work / "long").write_text("".join(f"line {number}\n" for number in range(1, 2001)))
    told, parts = await desk.call("read_file", path="long"), 1
    read = told.partition("\n")[2]
    while "go on with first_line = " in told.partition("\n")[0]:
        first = int(told.partition("first_line = ")[2].partition("]")[0])
        told = await desk.call("read_file", path="long", first_line=first)
        read += told.partition("\n")[2]
        parts += 1
    assert read == (desk.work / "long").read_text()
    assert parts == 3
    assert await desk.call("read_file", path="long", first_line=9999) == "failed: It has 2000 lines only."


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "(an empty file)"),
        ("año".encode("utf-8-sig"), "año"),
        ("año".encode("utf-16"), "año"),
        ("año".encode("cp1252"), "año"),
        (b"\x7fELF\0\0", "failed: That is no text, page or document, and cannot be read."),
        (b"x" * 9000, f"{'x' * 7000}\n[2000 more characters of this line are not shown]"),
    ],
)
async def test_bytes_are_read_as_what_they_are(desk: Desk, data: bytes, told: str) -> None:
    """Texts in the usual encodings; what is none is said to be none."""
    (desk.work / "file").write_bytes(data)
    assert await desk.call("read_file", path="file") == told


async def test_an_office_file_is_read_by_its_text(desk: Desk) -> None:
    """By the readers of attachments, in a process of its own, also under a name that says nothing."""
    (desk.work / "sheet").write_bytes((DOCUMENTS / "pandoc.docx").read_bytes())
    expected = (DOCUMENTS / "pandoc.docx.txt").read_text("utf-8").split()[:5]
    assert (await desk.call("read_file", path="sheet")).split()[:5] == expected


async def test_a_file_that_is_too_large_is_not_read(desk: Desk) -> None:
    """Its size is bounded while it is read: what it says of itself may be another by then."""
    with (desk.work / "large").open("wb") as file:
        file.truncate(10**12)
    assert "more than 20 MB" in await desk.call("read_file", path="large")


async def test_lists_are_sorted_and_bounded(desk: Desk) -> None:
    """By name, folders with a stroke, links as such; no name can pass for another line."""
    (desk.work / "b").write_text("12345")
    (desk.work / "A").mkdir()
    (desk.work / "A" / "inner").write_text("")
    (desk.work / "link").symlink_to("/etc")
    (desk.work / "two\nlines").write_text("")
    told = await desk.call("list_files")
    assert told == "A/\nb  5\nlink  (link, not followed)\ntwo\\nlines  0"
    assert "A/inner  0" in await desk.call("list_files", deep=True)
    for number in range(300):
        (desk.work / "A" / f"{number:03}").write_text("")
    told = await desk.call("list_files", path="A")
    assert len(told.splitlines()) == 201
    assert told.endswith("[and more, which is not shown: list a folder further down]")


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_file_is_replaced_when_that_is_asked_for(desk: Desk) -> None:
    """A new file needs no word; one that is there does, and keeps its mode."""
    assert await desk.call("write_file", path="a/b", text="one") == "Written: `a/b`, 3 bytes."
    (desk.work / "a" / "b").chmod(0o640)
    assert "is there already" in await desk.call("write_file", path="a/b", text="two")
    assert await desk.call("write_file", path="a/b", text="two", replace=True) == "Replaced: `a/b`, 3 bytes."
    assert (desk.work / "a" / "b").read_text() == "two"
    assert (desk.work / "a" / "b").stat().st_mode & 0o777 == 0o640
    assert [each.name for each in (desk.work / "a").iterdir()] == ["b"], "a draft was left"


async def test_a_write_that_fails_leaves_the_old_file(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full leaves neither half a file nor a draft."""
    (desk.work / "a").write_text("old")

    def full(_file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    said = await desk.call("write_file", path="a", text="new", replace=True)
    assert said == "failed: `a`: No space left on device."
    assert [(each.name, each.read_text()) for each in desk.work.iterdir()] == [("a", "old")]


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("one two three", "two", "2", "one 2 three"),
        ("a\r\nb\r\nc", "a\nb", "x\ny", "x\r\ny\r\nc"),
        ("año", "ñ", "n", "ano"),
        ("tail\n", "tail\n", "", ""),
    ],
)
async def test_a_passage_is_exchanged(desk: Desk, before: str, old: str, new: str, after: str) -> None:
    """That passage alone, and with the line ends of the file."""
    (desk.work / "a").write_bytes(before.encode())
    assert await desk.call("edit_file", path="a", old=old, new=new) == "Edited: `a`."
    assert (desk.work / "a").read_bytes().decode() == after


@pytest.mark.parametrize(
    ("before", "old", "new", "told"),
    [
        (b"one two one", "one", "1", "more than once, in lines 1 and 1"),
        (b"aaa", "aa", "b", "more than once"),
        (b"one", "two", "2", "is not in the file"),
        (b"one", "one", "one", "are the same"),
        (b"\xf1and\xfa", "and", "y", "no text in UTF-8"),
    ],
)
async def test_an_edit_that_is_not_clear_changes_nothing(
    desk: Desk, before: bytes, old: str, new: str, told: str
) -> None:
    """The model is told why, and what to give instead."""
    (desk.work / "a").write_bytes(before)
    assert told in await desk.call("edit_file", path="a", old=old, new=new)
    assert (desk.work / "a").read_bytes() == before


async def test_an_edit_of_a_file_that_changed_meanwhile_is_refused(desk: Desk) -> None:
    """What the owner wrote in the same moment is not lost."""
    (desk.work / "a").write_text("one")
    folder = WorkspaceFolder(desk.context.workspaces[0])
    read = folder.read("a", 100)
    (desk.work / "a").write_text("the owner's own")
    with pytest.raises(Exception, match="has changed meanwhile"):
        folder.write("a", b"two", replaces=True, before=read.state)


async def test_nothing_is_changed_where_it_is_only_read(tmp_path: Path) -> None:
    """A workspace that is for reading is that for every tool."""
    desk = Desk.make(tmp_path, read_only=True)
    (desk.work / "a").write_text("kept")
    assert "for reading only" in await desk.call("write_file", path="a", text="x", replace=True)
    assert "for reading only" in await desk.call("edit_file", path="a", old="kept", new="x")
    assert [each.read_text() for each in desk.work.iterdir()] == ["kept"]


async def test_a_workspace_is_chosen_by_its_name(desk: Desk, tmp_path: Path) -> None:
    """Where there are several, the model is told which; where there is none, what the owner can do."""
    (tmp_path / "other").mkdir()
    several = type(desk.context)(
        desk.home,
        desk.context.clock,
        "K",
        workspaces=(*desk.context.workspaces, Workspace("other", tmp_path / "other")),
    )
    both = Desk(desk.work, desk.home, several)
    assert await both.call("list_files") == "failed: Name the workspace: there are desk, other."
    assert await both.call("list_files", workspace="Nope") == (
        'failed: There is no workspace "Nope": there are desk, other.'
    )
    assert await both.call("list_files", workspace="other") == "(an empty folder)"
    none = Desk(desk.work, desk.home, type(desk.context)(desk.home, desk.context.clock, "K"))
    with pytest.raises(ConfigError, match=r"\[tools\.workspaces\]"):
        none.tool("list_files")
