"""Nothing of one owner or chat is shown in another, and no chat id leads out of the home."""

from pathlib import Path

import pytest

from kenobot.ports.identity import is_session_id, session_id
from tests.scene import Scene

GROUP = "-100123"
TAGS = ("memory", "user-update", "working-memory", "chat-context", "chat-memory")


def tagged(who: str) -> str:
    """A reply that stores a canary of `who` by every tag there is."""
    return "".join(f"<{tag}>{who} canary {tag}</{tag}>" for tag in TAGS) + f"{who} canary reply"


async def test_the_owners_memory_is_shown_to_the_owner_alone(tmp_path: Path) -> None:
    """A guest's private chat and a group, whoever writes there, see nothing of what the owner told in private."""
    files = {"MEMORY.md": "- OWNER canary long-term\n", "identity/preferences.md": "OWNER canary by hand\n"}
    async with Scene(tmp_path, [tagged("OWNER"), "Hm."], files=files) as scene:
        await scene.say("OWNER canary asked")
        await scene.say("What do you know of the owner?", chat="2")
        await scene.say("What do you know of the owner?", chat=GROUP, user="2", private=False)
        await scene.say("What do you know of me?", chat=GROUP, user="1", private=False)
        scene.clock.advance(days=1)  # type: ignore[attr-defined]
        await scene.say("And now?", chat="2")
        await scene.say("And now?", chat=GROUP, user="1", private=False)
        assert not [prompt for prompt in scene.requests[1:] if "OWNER canary" in prompt]

        await scene.say("And I?")
        for canary in ("long-term", "by hand", *TAGS, "reply", "asked"):
            assert f"OWNER canary {canary}" in scene.requests[-1]

        await scene.say("And I, from elsewhere?", chat="77", user="1")
        for canary in ("long-term", "by hand", "memory", "user-update"):
            assert f"OWNER canary {canary}" in scene.requests[-1]
        for canary in ("working-memory", "chat-context", "chat-memory", "reply", "asked"):
            assert f"OWNER canary {canary}" not in scene.requests[-1]


async def test_what_a_group_or_a_guest_told_is_not_shown_elsewhere(tmp_path: Path) -> None:
    """Their memory stays theirs: not in the owner's private chat, not in each other's, not in the owner's files."""
    replies = [tagged("GROUP"), tagged("GUEST"), "Hm."]
    async with Scene(tmp_path, replies) as scene:
        await scene.say("GROUP canary asked", chat=GROUP, user="1", private=False)
        await scene.say("GUEST canary asked", chat="2")
        await scene.say("What do they say?")
        await scene.say("What do they say?", chat="3")
        await scene.say("What do they say?", chat="-100124", user="2", private=False)
        for prompt in scene.requests[2:]:
            assert "canary" not in prompt
        assert "GROUP canary" not in scene.requests[1]

        scene.clock.advance(days=1)  # type: ignore[attr-defined]
        await scene.say("What do we say?", chat=GROUP, user="3", private=False)
        assert "GROUP canary memory" in scene.requests[-1]
        assert "GUEST canary" not in scene.requests[-1]
        await scene.say("What do I say?", chat="2")
        assert "GUEST canary memory" in scene.requests[-1]
        assert "GROUP canary" not in scene.requests[-1]

        scopes = {str(row[0]) for row in await scene.rows("SELECT DISTINCT scope FROM record")}
        assert scopes == {f"chat:telegram-{GROUP}", "chat:telegram-2", "user:telegram-2"}
        owners = [*scene.home.memory.glob("*.md"), scene.home.identity / "preferences.md"]
        assert not [path for path in owners if path.exists() and "canary" in path.read_text("utf-8")]


async def test_onboarding_belongs_to_the_owner_alone(tmp_path: Path) -> None:
    """The first conversation is the owner's alone: a guest or a group neither sees nor ends it."""
    async with Scene(tmp_path, ["<bootstrap-complete/>Done."], bootstrap=True) as scene:
        await scene.say("hello, all done, finish it", chat="2")
        assert "First Conversation" not in scene.requests[-1]
        await scene.say("hello, all done, finish it", chat=GROUP, user="1", private=False)
        assert "First Conversation" not in scene.requests[-1]
        assert (scene.home.identity / "BOOTSTRAP.md").exists()
        await scene.say("hello")
        assert "First Conversation" in scene.requests[-1]
        assert not (scene.home.identity / "BOOTSTRAP.md").exists()


async def test_a_chat_id_with_a_nul_is_set_aside(tmp_path: Path) -> None:
    """Not every database holds one, and without it the id would be another chat's."""
    async with Scene(tmp_path, [tagged("HERE")]) as scene:
        assert await scene.say("hello", chat="con\0nul", user="1", private=False) == ""
        assert await scene.rows("SELECT state, chat FROM inbox") == [("dead", "")]


@pytest.mark.parametrize(
    "chat",
    ["../../etc/passwd", "a\nb", str(2**63), GROUP, "", "/", "..", ".", "con nul", "ñ" * 300, "\u202e", "a" * 5000],
)
async def test_a_hostile_chat_id_writes_only_inside_the_home(tmp_path: Path, chat: str) -> None:
    """Its files bear a safe name, stand where every chat's do, and are found again after a restart."""
    room = tmp_path / "room"
    room.mkdir()
    (room / "bystander").write_text("mine")
    async with Scene(room, [tagged("HERE")]) as scene:
        assert await scene.say("hello", chat=chat, user="1", private=False) == "HERE canary reply"
        session = session_id("telegram", chat)
        assert is_session_id(session)
        root = scene.home.memory
        written = {str(path.relative_to(root)) for path in root.rglob("*.md")} - {
            f"identity/{name}.md" for name in ("core", "preferences")
        }
        own = f"chats/{session}/"
        cards = {path for path in written if path.startswith((f"{own}facts/2026-02-14/", f"{own}boxes/2026-02-14/"))}
        assert cards and all(path.count("/") == 4 for path in cards)
        assert written - cards == {
            f"chats/{session}/2026-02-14.md",
            f"chats/{session}/context.md",
            f"working/{session}.md",
        }
        assert scene.channel.sent[0].chat == chat
    async with Scene(room, ["Hm."]) as scene:
        scene.channel.number = 1000
        await scene.say("And?", chat=chat, user="1", private=False)
        assert "HERE canary working-memory" in scene.requests[-1]
        await scene.say("And?", chat=f"{chat}x", user="1", private=False)
        assert "canary" not in scene.requests[-1]
    assert {path.name for path in room.iterdir()} == {"home", "bystander"}
    assert {path.name for path in tmp_path.iterdir()} == {"room"}


async def test_ids_that_look_alike_do_not_share_a_chat(tmp_path: Path) -> None:
    """Cleaning an id for a file name merges no two chats."""
    alike = ["a/b", "a_b", "a\nb", "a b", "A_b", session_id("telegram", "a/b").removeprefix("telegram-")]
    async with Scene(tmp_path, [f"<chat-memory>canary {number}</chat-memory>Ok." for number in range(6)]) as scene:
        for chat in alike:
            await scene.say("hello", chat=chat, user="2", private=False)
            assert "canary" not in scene.requests[-1]
        names = {path.name.casefold() for path in (scene.home.memory / "chats").iterdir()}
        assert len({path.name for path in (scene.home.memory / "chats").iterdir()}) == len(alike), names
