"""No call of a model goes past the ledger: outside of it, nothing opens a provider's stream or asks its router."""

import ast
from collections.abc import Iterator
from pathlib import Path

import kenobot

ROOT = Path(kenobot.__file__).parent
OPENS = {"ledger/model_router.py"}  # the only module that opens a provider's stream
ASKS = {"ledger/models.py"}  # the only one that asks a router
APART = ("providers/", "tools/")  # what has HTTP clients


def modules() -> Iterator[tuple[str, str]]:
    """Read the text of every module of the package, by its path."""
    for path in ROOT.rglob("*.py"):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(APART):
            yield name, path.read_text("utf-8")


def attributes(text: str, *names: str) -> list[str]:
    """What the attributes of these names are taken of, as it is written."""
    if not any(f".{name}" in text for name in names):
        return []
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute) and node.attr in names]
    return [ast.unparse(node.value).lower() for node in nodes]


def test_the_walk_sees_the_whole_package() -> None:
    """Memory, turns and commands too."""
    found = {name for name, _ in modules()}
    assert {"cognitive/sleep/cycle.py", "agent/turn/runner.py", "cli/models.py", *OPENS, *ASKS} <= found


def test_one_module_opens_a_providers_stream() -> None:
    """`.stream` elsewhere would be a call that is not counted; a channel streams from its platform."""
    found = {name for name, text in modules() if attributes(text, "stream")}
    assert {name for name in found if not name.startswith("channels/")} == OPENS


def test_one_module_asks_a_router() -> None:
    """Everything else holds a model that is behind the ledger; a router is called a router wherever it is held."""
    asking = {name for name, text in modules() if any("router" in each for each in attributes(text, "ask", "_collect"))}
    assert asking == ASKS
    holding = {name for name, text in modules() if "ModelRouter(" in text}
    assert holding == {"app/wiring.py", "cli/counted_model.py"}


def test_what_listens_is_behind_the_ledger() -> None:
    """One module asks a transcriber, and one holds that."""
    asking = {name for name, text in modules() if attributes(text, "transcribe")}
    assert asking == {"ledger/transcription.py", "agent/media/intake.py"}
    assert {name for name, text in modules() if "LedgerTranscriber(" in text} == {"app/wiring.py"}


def test_whatever_embeds_by_a_server_has_a_meter() -> None:
    """One module asks embedders, and each gets the ledger's meter."""
    embedding = {name for name, text in modules() if attributes(text, "embed")}
    counted = {name for name, text in modules() if ".meter = " in text}
    assert embedding == {"cognitive/recall/embedding_worker.py"}
    assert counted == {"cognitive/recall/embedding_worker.py", "cli/memory/vectors.py"}
    making = {name for name, text in modules() if "= EmbeddingWorker(" in text and "meter=" not in text}
    assert not making
