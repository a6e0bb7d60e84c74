"""What tools cost a conversation in which they are on."""

from pathlib import Path

from bench.tools import all_tools, hold_talk


async def test_the_beginning_of_prompts_stays_cached_with_every_tool_on(tmp_path: Path) -> None:
    """Over a conversation with calls, schemas and system part stay, and nearly all input is served again."""
    talk, offered = await hold_talk(tmp_path, all_tools(), 20, calls=True)
    assert offered > 10
    assert talk.changes == 0
    assert talk.cached >= 0.95 * talk.whole
