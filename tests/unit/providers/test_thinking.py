"""Thoughts in the text of an answer: those of each model are left out, and what only speaks of their tags stays."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.providers.thinking import ThinkingFilter, opens_thoughts
from tests.cases import each


def _read(text: str, *pieces: str, holds: bool = False, asked: str = "") -> tuple[str, bool]:
    """Return what is left of a text, and whether any of it had to be taken back."""
    thinking, answer, replaced = ThinkingFilter(holds=holds, asked=asked), "", False
    for passed in (*map(thinking.take, pieces or (text,)), thinking.rest()):
        answer = passed.text if passed.replaces else answer + passed.text
        replaced |= passed.replaces
    return answer, replaced


@each(
    "thought",
    [
        "<think>a</think>",
        "\n<think>\na\n</think>\n\n",
        "<Think>a</Think>\n",
        "<think></think>\n<think>b</think>",
        "<thought>a</thought>",
        "<thinking>a <b>c</b></thinking>",
        "<reasoning>\na\n</reasoning>",
        "<seed:think>a</seed:think>",
        "[THINK]a[/THINK]",
        "◁think▷a◁/think▷",
        "<|begin_of_thought|>a<|end_of_thought|>",
        "<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>",
        "<|channel>thought\na<channel|>",
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>",
        "<|start|>assistant<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>",
        "<|channel|>final<|message|>",
        "analysisThe user greets me.assistantfinal",
        "The user greets me.\n</think>\n\n",
        "Okay, so I greet them.</think>",
        "I use `x` first </think> ",
        "a\n</thinking>\n",
        "a</reasoning>",
        "a[/THINK]",
        "</think>",
        "Perhaps so.\n</think>\nOr so.\n</think>\n",
        "<longcat_think>a</longcat_think>",
        "<mm:think>a</mm:think>",
        "<think_fast></think_fast>",
        "<|think|>a<|/think|>",
        "<|start_of_thought|>a<|end_of_thought|>",
        "<unused94>thought\na<unused95>",
        "a\n<|end_of_thought|>",
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final <|constrain|>text<|message|>",
        "Here are my reasoning steps:\na\n[BEGIN FINAL RESPONSE]\n",
        "Here is my thought process: a\nHere is my response: ",
        "I greet them.\n[BEGIN FINAL RESPONSE]\n",
        "<think>a</think>\n<|im_start|>assistant\n",
        "<analysis>\nThey greet me.\n</analysis>\n\n",
        "<scratchpad>a</scratchpad>\n",
        "<Scratch_Pad>a</Scratch_Pad>",
        "<query_analysis>a <b>c</b></query_analysis>\n",
        "<planning>a</planning>\n<think>b</think>",
        "<chain_of_thought>a</chain_of_thought>",
        "<internal_monologue>a</internal_monologue>\n",
        "<thought_process>a</thought_process>\n",
        "<self_reflection>a</self_reflection>",
        "<cot>a</cot>\n",
    ],
)
def test_a_thought_is_left_out(thought: str) -> None:
    """Tags of DeepSeek-R1, Qwen3, GLM-4.5, Seed-OSS, Magistral, Kimi-VL, OpenThinker, Command A, Gemma 4 and gpt-oss,
    LongCat, MedGemma, Apriel and Granite 3.2,
    the opening one in the prompt with some, in their own chat templates of 2025 and 2026.
    """
    for holds in (False, True):
        assert _read("", *f"{thought}Good morning.", holds=holds)[0] == "Good morning."
        assert _read(f"{thought}Good morning.", holds=holds)[0] == "Good morning."


@pytest.mark.parametrize(
    "answer",
    [
        "<answer>Good morning.</answer>",
        "\n<response>\nGood morning.\n</response>",
        "<|begin_of_solution|>Good morning.<|end_of_solution|>",
        "<|begin_of_box|>Good morning.<|end_of_box|>",
        "<|im_start|>assistant\nGood morning.<|im_end|>",
    ],
)
def test_what_an_answer_behind_a_thought_is_wrapped_in_is_left_out(answer: str) -> None:
    """As by Hunyuan-A13B, ERNIE 4.5, OpenThinker and GLM-4.5V; without a thought the same is what was asked for."""
    assert _read("", *f"<think>a</think>\n{answer}")[0].strip() == "Good morning."
    assert _read("", *answer) == (answer, False)


@each(
    "answer",
    [
        *(
            "<thinking aloud> is fun",
            "a <think> b </think> c",
            "<thi",
            "  <",
            "Say <b>x</b>: 3<4",
            "[1] see",
            "[Think] so",
        ),
        *(
            "The </think> tag closes it.",
            "It ends with </think>.",
            'It ends with "</think>" and so',
            "`</think>` ends it",
        ),
        *("```\n<think>\nx\n</think>\n```\nis how it looks", "analysisThe paper", "analysis of it", "Analysis: x"),
        *("<|im_end|> is a token", "a<|end|>b", "Sure.\n<thinking>\nis a tag that nobody closes here"),
        *("Use `<seed:think>` for it.", "```\n<|think|>\na\n<|/think|>\n```", "<thinker>x</thinker>", "<:thinking:>"),
        *("Here are my reasoning steps: first, then.", "Here is my thought process: I add.", "The <answer> tag"),
        *("`<think>` opens and </think> closes", "<think-aloud>x</think-aloud>"),
        *(
            "<analysis>The data are good.</analysis>",
            "<analysis>The data are good.",
            "<analysis> is a tag",
            "<analyst>x",
        ),
        "<analysis>a</analysis>\n<verdict>b</verdict>",
        "<report>\n<analysis>a</analysis>\n</report>",
        "Sure:\n<analysis>\na\n</analysis>\nDone.",
        "```xml\n<scratchpad>a</scratchpad>\n```",
        *("<p>One</p>\n<b>two</b>", "<svg><path/></svg> is it", "<plan>Soup, then fish.</plan>\nShall I go on?"),
    ],
)
def test_what_only_speaks_of_a_tag_is_answered(answer: str) -> None:
    """Nothing of an answer is lost."""
    for holds in (False, True):
        assert _read("", *answer, holds=holds) == (answer, False)


@pytest.mark.parametrize("asked", ["Write XML with an analysis", "Put it into <analysis>, please", "Usa etiquetas"])
def test_a_tag_that_a_person_asks_for_stays(asked: str) -> None:
    """Thoughts are not all that it is for."""
    for step in ("<analysis>a</analysis>\nThe rest.", [*"<analysis>a</analysis>\nThe rest."]):
        assert _read("", *step, asked=asked)[0] == "<analysis>a</analysis>\nThe rest."


def test_a_thought_further_on_is_left_out_where_it_is_closed() -> None:
    """A model that thinks between its sentences begins a line with it."""
    assert _read("", *"Sure.\n<think>\nhm\n</think>\nIt is five.") == ("Sure.\nIt is five.", False)


def test_a_call_after_a_thought_stays() -> None:
    """gpt-oss goes on with it in a channel of its own (github.com/openai/harmony, docs/format.md)."""
    call = '<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"at": 1}<|call|>'
    thought = "<|channel|>analysis<|message|>I look.<|end|><|start|>assistant"
    assert _read("", *f"{thought}{call}")[0] == call


def test_a_thought_without_an_end_is_no_answer() -> None:
    """The model stopped while it thought."""
    assert _read("<think>I wonder") == ("", False)
    assert _read("I wonder</think>")[0] == ""


def test_a_thought_that_was_shown_is_taken_back() -> None:
    """Where its opening tag was in the prompt, only its end tells; whoever expects that holds it back."""
    assert _read("", "I wonder. ", "They ask.\n</th", "ink>\n\nFive.") == ("Five.", True)
    assert _read("", "I wonder. ", "They ask.\n</th", "ink>\n\nFive.", holds=True) == ("Five.", False)


def test_a_text_is_held_up_to_a_length() -> None:
    """Then it is passed on, whatever it is."""
    thinking = ThinkingFilter(holds=True)
    passed = "".join(thinking.take("a word " * 100).text for _ in range(400))
    assert 200_000 < len(passed) <= 280_000
    assert len(passed) + len(thinking.rest().text) == 280_000


def test_a_family_of_models_opens_its_thoughts() -> None:
    """One that was made by another's thoughts may not, and of a name that says nothing nobody knows."""
    opening = ["gemma3:4b", "meta-llama/Llama-3.3-70B-Instruct", "mistral-small3.2", "openai/gpt-oss-20b", "phi4-mini"]
    unopened = [
        "DeepSeek-R1-Distill-Llama-8B",
        "Phi-4-reasoning",
        "Llama-3.1-Nemotron-Nano-8B",
        "Qwen3-4B-Thinking-2507",
    ]
    assert all(map(opens_thoughts, opening))
    assert not any(map(opens_thoughts, [*unopened, "qwen3:8b", "default", ""]))


_TEXTS = st.lists(
    st.sampled_from(
        [*"<think>/ \na`.b", "<think>", "</think>", "</thought>", "analysis", "```", "<analysis>", "</analysis>"]
    ),
    max_size=30,
)


@given(_TEXTS.map("".join), st.lists(st.integers(0, 60), max_size=5), st.booleans())
def test_a_thought_is_left_out_however_the_text_is_cut(text: str, cuts: list[int], holds: bool) -> None:
    """The pieces it arrives in make no difference."""
    bounds = [0, *sorted(cuts), max(len(text), *cuts, 0)]
    pieces = [text[start:end] for start, end in pairwise(bounds)]
    assert _read("", *pieces, holds=holds)[0] == _read(text, holds=holds)[0]


@given(st.text(alphabet="<>/thinkİaß \n`[", max_size=60).filter(lambda text: "think>" not in text.lower()))
def test_an_answer_without_a_thought_is_whole(text: str) -> None:
    """Nothing else is ever left out."""
    assert _read(text) == (text, False)
