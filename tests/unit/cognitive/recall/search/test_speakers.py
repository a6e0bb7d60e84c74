"""What only others said is told as unknown of the speaker asked about."""

from collections.abc import Sequence

import pytest

from tests.unit.cognitive.recall.house import Memory
from tests.unit.cognitive.recall.index.test_conversation_rows import talk_of

PARROT = ["Ann: I adopted a parrot from the shelter", "Bob: My bicycle got new tyres"]
LORO = ["Ana: adopté un loro del refugio", "Luis: mi bici tiene ruedas nuevas"]


@pytest.mark.parametrize(
    ("said", "asked", "unknown"),
    [
        (PARROT, "What did Bob adopt from the shelter, a parrot?", True),
        (PARROT, "What did Ann adopt from the shelter, a parrot?", False),
        (PARROT, "what did bob adopt from the shelter, a parrot?", True),
        (PARROT, "Who adopted a parrot from the shelter?", False),
        ([*PARROT, "Ann: Hey Bob, adopted parrots need a shelter"], "What did Bob adopt, a parrot?", True),
        (["Ann: Bob adopted a parrot", "Bob: Thanks, Ann!"], "What did Bob adopt, a parrot?", False),
        (["Ann: Bob's parrot is called Kiwi", "Bob: Thanks, Ann!"], "What is Bob's parrot called?", False),
        (LORO, "¿Qué adoptó Luis del refugio, un loro?", True),
        (LORO, "¿Qué adoptó Ana del refugio, un loro?", False),
    ],
)
async def test_it_is_unknown_of_the_one_who_did_not_say_so(
    memory: Memory, said: Sequence[str], asked: str, unknown: bool
) -> None:
    """What others said is shown all the same."""
    await talk_of(memory, list(said))
    pack = await memory.recall(asked)
    assert pack.excerpts
    assert (pack.level == "none") is unknown


async def test_a_private_chat_has_no_speakers(memory: Memory) -> None:
    """The owner tells of Bob, and may be asked about him."""
    await memory.say("Bob adopted a parrot from the shelter", 1, answer="ok")
    assert (await memory.recall("What did Bob adopt from the shelter?")).level != "none"
