"""A server of the old protocol in plain lines of JSON, which misbehaves as its tools are named. Run as a program.

Arguments: a file that holds the number of times it was started; with "refuse" there it ends at once, with "mute" it
never answers.
"""

import json
import sys
from pathlib import Path
from typing import Any

LOOP = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}}
ANY = {"type": "object", "properties": {"text": {"type": "string"}}}


def nested(depth: int) -> dict[str, object]:
    """A schema of objects in objects."""
    schema: dict[str, object] = {"type": "object"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"inner": schema}}
    return schema


LIES = [
    {"name": "list_schema", "inputSchema": {"type": "array"}},
    {
        "name": "huge",
        "inputSchema": {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(900)}},
    },
    {"name": "", "inputSchema": ANY},
    {"name": "x" * 300, "inputSchema": ANY},
]
TOOLS = [
    {"name": "slow", "inputSchema": ANY},
    {"name": "look", "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
    {"name": "die", "inputSchema": ANY},
    {"name": "flood", "inputSchema": ANY},
    {"name": "noise", "inputSchema": ANY},
    {"name": "nothing", "inputSchema": ANY},
    {"name": "wrong", "inputSchema": ANY},
    {"name": "echo", "description": "Says it\u202e\x07 again.\n\n" + "x" * 5000, "inputSchema": ANY},
    {"name": "loop", "inputSchema": LOOP},
    {"name": "deep", "inputSchema": nested(60)},
    {"name": "a tool/with: signs", "inputSchema": ANY},
    {"name": "ask", "inputSchema": ANY},
]


def say(message: dict[str, object]) -> None:
    """Write one message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(number: object, result: object) -> None:
    """Answer a request."""
    say({"id": number, "result": result})


def call(number: object, name: str, text: str, starts: int) -> None:
    """Carry out a call, or misbehave."""
    if name in ("slow", "look") and text != "now":
        return None  # it never answers
    if name == "ask":  # the answer comes as a line of its own
        people = {"type": "integer", "minimum": 1, "maximum": 12}
        schema = {"type": "object", "properties": {"people": people}, "required": ["people"]}
        wanted = {"message": text or "For how many?", "requestedSchema": schema}
        return say({"id": f"of {number}", "method": "elicitation/create", "params": wanted})
    if name == "die":
        sys.exit(3)
    if name == "flood":
        while True:
            sys.stdout.write("x" * 65536)
    if name == "noise":
        sys.stdout.write("Listening...\n{\n[1, 2]\n\n")
        say({"id": 10_000, "result": {}})
    if name == "nothing":
        return answer(number, {"content": 7})
    if name == "wrong":
        return answer(number, {"content": [{"type": "text", "text": "It is closed."}], "isError": True})
    return answer(number, {"content": [{"type": "text", "text": f"{text} ({starts})"}]})


def main(counter: Path) -> None:
    """Serve until the input ends."""
    before = counter.read_text() if counter.exists() else "0"
    if before == "refuse":
        print("no licence found", file=sys.stderr)
        sys.exit(1)
    if before == "mute":
        sys.stdin.read()
    starts = int(before) + 1
    counter.write_text(str(starts))
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        number, method = request.get("id"), request.get("method")
        if method is None:
            told = {"type": "text", "text": json.dumps(request.get("result", request.get("error")))}
            answer(int(str(number).removeprefix("of ")), {"content": [told]})
        elif method == "initialize":
            info = {"name": "stand-in", "version": "1"}
            answer(number, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})
        elif method == "tools/list":
            answer(number, {"tools": [*TOOLS, *LIES, {"name": "no_schema"}, 7]})
        elif method == "tools/call":
            given = request["params"]
            call(number, given["name"], str(given.get("arguments", {}).get("text", "")), starts)
        elif number is not None:
            say({"id": number, "error": {"code": -32601, "message": "Method not found"}})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
