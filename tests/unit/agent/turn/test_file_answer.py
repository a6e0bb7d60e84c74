"""An answer comes as a file where a person asks for one, in English or Spanish."""

from pathlib import Path

import pytest

from kenobot.agent.turn.file_answer import answer_file, wants_file
from kenobot.ports.channel import Capabilities
from kenobot_testing.scripted import ScriptedProvider
from tests.scene import Scene

WISHES = [
    "Send me the list of my books as a file",
    "Can you give me that as a text file?",
    "Write a story about a dragon, as a document.",
    "as a file, please",
    "I'd like it as a .csv file",
    "I need the recipe as a file.",
    "mándame la lista en un archivo",
    "¿Me puedes pasar el resumen en un fichero?",
    "¿Puedes ponerlo en un fichero?",
    "¿Me lo mandas en un archivo?",
    "me pasas la lista en un archivo, porfa",
    "Quiero la tabla como archivo csv",
    "Haz un resumen de la reunión y mándamelo como documento",
    "y ahora en un archivo",
    "en un archivo, por favor",
]

TALK = [
    "How do I save this as a file in vim?",
    "He sent it as a file",
    "The lawyer sent me the contract as an attachment",
    "I send him the list as a file every week",
    "What is in a file?",
    "I need to find what I put in a file",
    "the error stands in the log file",
    "Is it stored in a file?",
    "Mi jefe lo manda en un archivo",
    "Siempre me mandas las cosas en un archivo",
    "lo tengo en un archivo",
    "¿Cómo lo guardo en un archivo?",
    "Guardo mis notas en un archivo",
    "tengo que entregar el trabajo como documento mañana",
]


@pytest.mark.parametrize("text", WISHES)
def test_a_wish_is_understood(text: str) -> None:
    """Also at the end of a long message."""
    assert wants_file(text)
    assert wants_file(f"{'This happened and that happened. ' * 100}{text}")


@pytest.mark.parametrize("text", TALK)
def test_talk_of_files_is_none(text: str) -> None:
    """Statements and questions are answered as ever."""
    assert not wants_file(text)


@pytest.mark.parametrize(
    ("answer", "name", "content"),
    [
        ("# List\n\n- a", "answer.md", "# List\n\n- a"),
        ("```csv\na,b\n1,2\n```", "answer.csv", "a,b\n1,2\n"),
        ("```python\nprint(1)\n```\n", "answer.py", "print(1)\n"),
        ("```\nx\n```", "answer.txt", "x\n"),
        ("```c++\nx\n```", "answer.txt", "x\n"),
        ("```csv\na\n```\nand\n```csv\nb\n```", "answer.md", "```csv\na\n```\nand\n```csv\nb\n```"),
    ],
)
def test_the_file_has_its_own_ending(answer: str, name: str, content: str) -> None:
    """A single code block is what stands in it; anything else is Markdown."""
    file = answer_file(answer, "en")
    assert file is not None
    assert (file.name, file.text, file.size) == (name, content, len(content))


async def test_an_answer_comes_as_a_file(tmp_path: Path) -> None:
    """With a note in the person's language; the conversation keeps the words, and the model is told."""
    provider = ScriptedProvider(["```csv\nlibro,año\nRayuela,1963\n```", "¿Qué lista?"])
    async with Scene(tmp_path, provider=provider) as scene:
        scene.channel.capabilities = Capabilities(sends=frozenset({"document"}))
        assert await scene.say("Mándame mis libros en un archivo csv") == "Aquí lo tienes, en un archivo."
        (file,) = scene.channel.sent[-1].part.attachments
        assert (file.name, file.text) == ("respuesta.csv", "libro,año\nRayuela,1963\n")
        rows = await scene.rows("SELECT text FROM message WHERE role = 'assistant'")
        assert rows == [("```csv\nlibro,año\nRayuela,1963\n```",)]
        assert "asked for a file" in str(provider.requests[-1].messages[-1])
        assert await scene.say("Mándame la lista en un archivo") == "¿Qué lista?"


async def test_a_channel_without_files_answers_in_words(tmp_path: Path) -> None:
    """Nothing is promised that cannot be sent."""
    provider = ScriptedProvider(["# List\n\n- a"])
    async with Scene(tmp_path, provider=provider) as scene:
        assert await scene.say("Send me the list as a file") == "# List\n\n- a"
        assert "asked for a file" not in str(provider.requests[-1].messages[-1])
