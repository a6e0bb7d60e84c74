"""However a conversation goes, its prompt stays within budget, and every message is shown, summed up or about to be."""

import asyncio
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kenobot.core.history_window import HistoryWindow
from kenobot.core.token_estimate import estimate_tokens
from kenobot.storage.conversation import StoredMessage
from kenobot_testing.clock import EagerClock
from kenobot_testing.provider import ScriptedProvider
from tests.property.effort import effort
from tests.scene import Scene
from tests.scratch import scratch

WORDS = st.sampled_from(
    [
        "nada",
        "Hemos decidido ir a Oporto",
        "Marta trae 37 cajas",
        "¿Quién paga?",
        "我们决定去北京 2026-05-01",
        "🙂",
        "قررنا السفر",
    ]
)
STEPS = st.tuples(WORDS, st.sampled_from([1, 1, 1, 3, 40, 400]), st.sampled_from([0, 1, 60, 4000, 90_000]))


def _lines(sizes: list[tuple[bool, int]]) -> list[StoredMessage]:
    return [
        StoredMessage(number, "user" if mine else "assistant", "x" * size, "", "", "owner")
        for number, (mine, size) in enumerate(sizes, 1)
    ]


@effort(100, 50)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 4000)), max_size=80),
    st.integers(0, 20),
    st.integers(1, 40),
    st.integers(0, 80),
    st.sampled_from([0, 100, 700]),
)
def test_a_window_shows_the_end_of_the_talk_within_its_room(
    sizes: list[tuple[bool, int]], history: int, more: int, cursor: int, summary: int
) -> None:
    """Whatever is shown is an end of the talk, begins with a person, and fits; what is not due is shown whole."""
    window = HistoryWindow(history, history + more, 300, 4000, summary)
    lines, taken = _lines(sizes), window.summary_budget
    shown = list(window.select_shown(lines, cursor, taken))
    assert shown == lines[len(lines) - len(shown) :]
    assert not shown or shown[0].role == "user"
    assert window.fits(len(shown), sum(map(window.line_tokens, shown)), taken)
    unsummed = [line for line in lines if line.id > cursor]
    waiting = window.select_unsummarized(unsummed, taken)
    if summary and not window.is_due(waiting):
        begun = [line for line in unsummed if any(each.role == "user" for each in unsummed[: unsummed.index(line) + 1])]
        assert set(begun) <= set(shown)


@effort(6, 50)
@given(st.lists(STEPS, min_size=1, max_size=24), st.booleans())
def test_every_message_is_shown_summed_up_or_pending(steps: list[tuple[str, int, int]], restart: bool) -> None:
    """Long and short messages, pauses and days, a restart: after each turn the worker is idle, and nothing is lost."""
    asyncio.run(_play(steps, restart=restart))


async def _play(steps: list[tuple[str, int, int]], *, restart: bool) -> None:
    environ = {
        "PromptLimits.history_min": 4,
        "PromptLimits.history_max": 10,
        "KENOBOT_CONTEXT__BUDGET_TOKENS": "4000",
        "KENOBOT_CONTEXT__MEMORY_TOKENS": "600",
        "PromptLimits.message_tokens": 400,
        "wiring.SUMMARY_TOKENS": 300,
    }
    clock = EagerClock()
    with scratch() as folder:
        middle = len(steps) // 2 if restart else len(steps)
        for run, part in enumerate((steps[:middle], steps[middle:])):
            async with Scene(Path(folder), ["Vale."], environ=environ, clock=clock) as scene:
                scene.channel.number = 1000 * run
                for text, times, pause in part:
                    clock.advance(pause)
                    await scene.say(" ".join([text] * times))
                    await _check(scene)


async def _check(scene: Scene) -> None:
    provider = scene.provider
    assert isinstance(provider, ScriptedProvider)
    request = provider.requests[-1]
    tokens = sum(estimate_tokens(block.text) for block in request.system)
    tokens += sum(estimate_tokens(message.text) for message in request.messages)
    who = (
        sum(estimate_tokens(block.text) for block in request.system[:1]) + 700
    )  # identity and the tags' table are beside it
    assert tokens <= 4000 + who
    rows = await scene.rows("SELECT id FROM message WHERE session = 'telegram-1' ORDER BY id")
    ids = [int(str(row[0])) for row in rows]
    first = int(str((await scene.rows("SELECT first_message FROM prompt_prefix WHERE session = 'telegram-1'"))[0][0]))
    found = await scene.rows(
        "SELECT json_extract(attributes, '$.through') FROM record WHERE form = 'summary' AND status = 'active'"
    )
    cursor = int(str(found[0][0])) if found else 0
    pending = [number for number in ids if cursor < number < first]
    assert pending == [], "neither shown nor summed up"
    assert cursor in (0, *ids)
