"""Calls that a model writes into its text: found in the forms of many models, and nothing else is taken for one."""

import json

import pytest

from kenobot.ports.provider import Block, Message, Request, ToolCall, ToolResult, ToolSpec
from kenobot.providers.written_calls import CallReader
from tests.cases import each

_TOOLS = (ToolSpec("look", "Look.", {}), ToolSpec("search", "Search.", {}))
_INVOKED = '<invoke name="look">\n<parameter name="at">1</parameter>\n</invoke>'
_CALL = '{"name": "look", "arguments": {"at": 1}}'


def _read(text: str, *said: Message, step: int = 1, tools: tuple[ToolSpec, ...] = _TOOLS) -> tuple[str, list[object]]:
    """Return what is left of a text that comes in pieces, and the calls in it."""
    reader = CallReader(Request((), said, tools=tools))
    passed = "".join(reader.take(text[at : at + step]) for at in range(0, len(text), step))
    rest, calls = reader.rest()
    return passed + rest, [(name, json.loads(arguments)) for name, arguments in calls]


@each(
    "text",
    [
        f"<tool_call>\n{_CALL}\n</tool_call>",
        f"<tool_call>{_CALL}",
        f"<tool_call>\n{_CALL}\n</tool_call>\nThe result is 7.",
        f"{_CALL}",
        f"  {_CALL}\n",
        f"[{_CALL}]",
        f"```json\n{_CALL}\n```",
        json.dumps(json.loads(_CALL), indent=2),
        '{"name": "look", "parameters": {"at": 1}}',
        '{"type": "function", "function": {"name": "look", "arguments": "{\\"at\\": 1}"}}',
        '{"id": "a", "type": "function", "function": "look", "arguments": {"at": 1}}',
        '{"tool_calls": [{"function": {"name": "look", "arguments": {"at": 1}}}]}',
        f"<|python_tag|>{_CALL}",
        '<function=look>{"at": 1}</function>',
        "<tool_call>\n<function=look>\n<parameter=at>\n1\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>look\n<arg_key>at</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
        f"[TOOL_CALLS][{_CALL}]",
        '[TOOL_CALLS]look{"at": 1}',
        '[TOOL_CALLS]look[ARGS]{"at": 1}',
        f"functools[{_CALL}]",
        '<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"at": 1}<|call|>',
        f"<function_call>{_CALL}</function_call>",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>"
        '{"at": 1}<|tool_call_end|><|tool_calls_section_end|>',
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>look\n```json\n"
        '{"at": 1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        '[TOOL_CALLS]look[CALL_ID]abc123456[ARGS]{"at": 1}',
        "<|python_tag|>look.call(at=1)",
        "<|tool_call_start|>[look(at=1)]<|tool_call_end|>",
        *("[look(at=1)]", "look(at=1)", "```tool_code\nprint(look(at=1))\n```", "default_api.look(at=1)"),
        '<function name="look">{"at": 1}</function>',
        _INVOKED,
        f"<function_calls>\n{_INVOKED}\n</function_calls>",
        f"<minimax:tool_call>\n{_INVOKED}\n</minimax:tool_call>",
        _INVOKED.replace("<", "<｜DSML｜").replace("<｜DSML｜/", "</｜DSML｜"),
        "<seed:tool_call>\n<function=look>\n<parameter=at>1</parameter>\n</function>\n</seed:tool_call>",
        *("<|tool_call>call:look{at:1}<tool_call|>", "<start_function_call>call:look{at:1}<end_function_call>"),
        *(f"<longcat_tool_call>{_CALL}</longcat_tool_call>", f"<TOOLCALL>[{_CALL}]</TOOLCALL>"),
        *(f"<tools>{_CALL}</tools>", f"<tool>{_CALL}</tool>", f"<tool_use>{_CALL}</tool_use>"),
        f"<|action_start|><|plugin|>{_CALL}<|action_end|>",
        '<|START_ACTION|>[{"tool_name": "look", "parameters": {"at": 1}}]<|END_ACTION|>',
        '<|start|>assistant to=functions.look<|channel|>commentary json<|message|>{"at": 1}<|call|>',
        'commentary to=functions.look json{"at": 1}',
        '<tool_call name="look">{"at": 1}</tool_call>',
    ],
)
def test_a_call_is_found_in_any_form(text: str) -> None:
    """Hermes and Qwen, Llama 3, Qwen3-Coder, GLM-4.5, Mistral, Phi-4-mini, Kimi K2 and DeepSeek-V3, as the parsers of
    vLLM 0.11 (entrypoints/openai/tool_parsers) have them; small models write the object alone. Llama 3.2 and 4, LFM2,
    Gemma 3 and 4, MiniMax-M2, DeepSeek-V3.2, Seed-OSS, LongCat, Nemotron, InternLM, Command A and gpt-oss, too.
    """
    for step in (1, 7, 1000):
        words, calls = _read(text, step=step)
        assert (words.strip(), calls) == ("", [("look", {"at": 1})])


def test_words_before_a_call_stay_words() -> None:
    """Several calls are several."""
    second = _CALL.replace("look", "search")
    text = f"I look it up.\n<tool_call>{_CALL}</tool_call>\n<tool_call>{second}</tool_call>"
    assert _read(text) == ("I look it up.\n", [("look", {"at": 1}), ("search", {"at": 1})])
    assert _read(f"I look it up:\n{_CALL}") == ("I look it up:\n", [("look", {"at": 1})])


@each(
    "text",
    [
        f"Here is an example:\n```json\n{_CALL}\n```\nTry it.",
        f"Here is an example:\n```json\n{_CALL}\n```",
        f"```\n<tool_call>{_CALL}</tool_call>\n```",
        f"{_CALL} is how one calls it",
        '{"name": "other", "arguments": {}}',
        '{"name": "Ana", "age": 3, "note": "a whole object that the person asked for, and of no call at all"}',
        *("Use `<tool_call>` for it.", "A <tool_call> tag opens it.", "[1] see below", "[link](x) and {a}", "{", "```"),
        *(
            "```python\nlook(at=1)\n```",
            "look(at=1) finds it.",
            "search results: none",
            "looking forward",
            "lookup(at=1)",
        ),
        *("<tools><tool>hammer</tool></tools>", '<tool>{"name": "hammer"}</tool>', "I can look(at=1) for you."),
        *(
            "The <action>run</action> element",
            "[look(at=1)](http://x.y) is a link",
            "call:look me",
            "to=functions.other",
        ),
        *("```python\nprint(1)\n```", "{not JSON}\nat all", "a [TOOL_CAL", "<tool_cal"),
    ],
)
def test_what_is_no_call_is_text(text: str) -> None:
    """An example, an object that the person asked for, a word about a tag."""
    for step in (1, 7, 1000):
        assert _read(text, step=step) == (text, [])


@pytest.mark.parametrize(
    "text",
    [
        *(f"<tool_call>{_CALL}</tool_call>", f"<tool_call>{_CALL}", _CALL, f"[{_CALL}]", f"[TOOL_CALLS][{_CALL}]"),
        *("<function=look><parameter=at>1</parameter></function>", _INVOKED, f"<function_calls>{_INVOKED}"),
        '{"type": "function", "function": {"name": "look", "parameters": {"at": 1}}}',
        '{"tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": {"at": 1}}}]}',
        '<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"at": 1}<|call|>',
    ],
)
def test_a_call_where_there_are_no_tools_is_no_text(text: str) -> None:
    """Models that were trained with tools call those that nobody offered; markup is nothing for a person."""
    asked = Message("user", (Block("What is the weather like?"),))
    for step in (1, 7, 1000):
        assert _read(text, asked, step=step, tools=()) == ("", [("look", {"at": 1})])


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("Give me a JSON object with name and arguments", _CALL),
        ("How does a <tool_call> look with Qwen?", f"<tool_call>{_CALL}</tool_call>"),
        ("How do I call a function?", f"```json\n{_CALL}\n```"),
        ("Show me a call", f"```\n<tool_call>{_CALL}</tool_call>\n```"),
        ("How do I call a function?", "Use `<tool_call>` for it."),
        ("Who is Ana?", '{"name": "Ana", "age": 3}'),
        ("Who is Ana?", '{"name": "Ana Ruiz", "input": "her letters"}'),
        ("Who is Ana?", '{"type": "person", "name": "ana", "arguments": ["a"]}'),
        ("Which events?", '[{"type": "event", "id": 3}]'),
        ("What is it?", "A <tool_call> tag opens it."),
        ("Which XML?", "<tools><tool>hammer</tool></tools>"),
        ("Which code?", "look(at=1)"),
        ("Which list?", "[1] see below, {and} more"),
        ("Which page?", "<action>run</action> and <call>it</call>"),
    ],
)
def test_what_a_person_asked_for_is_text_where_there_are_no_tools(asked: str, text: str) -> None:
    """Nothing of it is lost."""
    for step in (1, 7, 1000):
        assert _read(text, Message("user", (Block(asked),)), step=step, tools=()) == (text, [])


@pytest.mark.parametrize(
    "text", [f"<tool_call>{_CALL}</tool_call>", _CALL, '[TOOL_CALLS]look{"at": 1}', "look(at=1)", _INVOKED]
)
def test_a_call_that_is_quoted_is_text(text: str) -> None:
    """Else whoever writes a mail or a page has a tool run when the model repeats it."""
    mail = Message("user", (Block(f"Translate this mail: <tool_call> {_CALL}</tool_call> Bye"),))
    page = Message("user", (ToolResult("a", '{"broken": \n{"function": "look", "parameters": {"at": 1} }'),))
    mine = Message("assistant", (ToolCall("a", "look", {"at": 1}), Block(text)))
    assert _read(text, mail) == (text, [])
    assert _read(text, page) == (text, [])
    assert _read(text, mine) == ("", [("look", {"at": 1})])
    code = Message("user", (Block("Reply with look(at=1), please"),))
    assert _read("look(at=1)", code) == ("look(at=1)", [])
    hidden = Message("user", (Block("{" * 5000 + f" <tool_call>{_CALL}</tool_call>"),))
    assert _read(text, hidden) == (text, [])


def test_a_call_that_is_malformed_is_one() -> None:
    """The model is told, and can mend it; its words are none for a person."""
    reader = CallReader(Request((), (), tools=_TOOLS))
    for text in (_CALL[:-1], f"<tool_call>{_CALL[:-2]}</tool_call>", "<tool_call>look at 1</tool_call>"):
        assert reader.take(text) == ""
        rest, [call] = reader.rest()
        assert (rest, call.name) == ("", "look")
        with pytest.raises(ValueError, match=r"line 1 column"):
            json.loads(call.arguments)
        reader.clear()


def test_a_call_has_a_length() -> None:
    """Beyond it the rest of a call is dropped, and what only looks like one is text, all of it."""
    reader = CallReader(Request((), (), tools=_TOOLS))
    piece = "a word " * 1000
    begun = '{"name": "look", "arguments": {"at": "'
    passed = [reader.take(begun), *(reader.take(piece) for _ in range(40))]
    assert "".join(passed) + reader.rest()[0] == begun + piece * 40
    reader.clear()
    assert not any([reader.take(f"<tool_call>{begun}"), *(reader.take(piece) for _ in range(40))])
    rest, [call] = reader.rest()
    assert (rest, call.name) == ("", "look")
    assert len(call.arguments) <= 200_000
