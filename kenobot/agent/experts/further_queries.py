"""Ask a model for further queries of a question that several turns answer, and parse its answer strictly."""

from collections.abc import Sequence
from importlib import resources

from kenobot.language.json_answers import json_objects
from kenobot.language.quoting import quote_lines
from kenobot.language.words import fold
from kenobot.ports.provider import Block, Message, Request

_INSTRUCTIONS = resources.files(__package__).joinpath("further_queries.txt").read_text("utf-8").removesuffix("\n")

MAX_QUERIES = 4

_LONGEST_QUESTION = 1000  # characters
_LONGEST_QUERY = 120
_LONGEST_ANSWER = 4000
_ANSWER_TOKENS = 200


def build_request(question: str) -> Request:
    """Build the request for further queries of a question."""
    text = "\n".join(
        ["## The question", *quote_lines(question[:_LONGEST_QUESTION]), "", "Now answer with the JSON object."]
    )
    return Request((Block(_INSTRUCTIONS, cache=True),), (Message("user", (Block(text),)),), max_tokens=_ANSWER_TOKENS)


def parse_queries(answer: str, question: str) -> tuple[str, ...] | None:
    """Parse the queries of an answer, without repeats and blank ones; None when it holds no list of texts."""
    for found in json_objects(answer[:_LONGEST_ANSWER]):
        listed = found.get("queries")
        if isinstance(listed, list) and all(isinstance(each, str) for each in listed):
            return clean_queries(listed, question)
    return None


def clean_queries(listed: Sequence[str], question: str) -> tuple[str, ...]:
    """Return the queries of a list that say something of their own, as many as are searched for."""
    known, kept = {_key(question)}, list[str]()
    for each in listed:
        text = " ".join(each.split())[:_LONGEST_QUERY]
        if _key(text) not in known | {""}:
            known.add(_key(text))
            kept.append(text)
    return tuple(kept[:MAX_QUERIES])


def _key(text: str) -> str:
    return fold(" ".join(text.split())).strip("¿?¡!. ")
