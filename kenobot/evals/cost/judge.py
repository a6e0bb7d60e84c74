"""What the conversations came to: whether prompts stay within their budget and cost the same at any size. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from kenobot.cognitive.store.records import Json
from kenobot.evals.cost.run import Percentiles, SizeResult

_FLAT = 3.0  # what a prompt may cost with the largest memory, times what it costs with the smallest that is large
_LARGE = 1000  # memories, from which on not all of them fit into a prompt and each message is looked for


@dataclass(frozen=True, slots=True)
class TokenCaps:
    """Tokens that a prompt may hold, and what memory may add to it: the caps that the product itself sets."""

    prompt: int
    memory: int


def failures(rows: Sequence[SizeResult], limits: TokenCaps) -> list[str]:
    """What is not as it should be, one plain sentence each."""
    return [*_too_much(rows, limits), *_not_flat(rows)]


def _too_much(rows: Sequence[SizeResult], limits: TokenCaps) -> Iterator[str]:
    for row in rows:
        if row.prompt_most > limits.prompt:
            yield f"with {row.memories:,} memories a prompt had {row.prompt_most} tokens, and may have {limits.prompt}"
        if row.memory_most > limits.memory:
            yield (
                f"with {row.memories:,} memories they took {row.memory_most} tokens of a prompt, and may take "
                f"{limits.memory}"
            )


def _not_flat(rows: Sequence[SizeResult]) -> Iterator[str]:
    large = sorted((row for row in rows if row.memories >= _LARGE), key=lambda row: row.memories)
    if len(large) < 2:
        return
    least, most = large[0], large[-1]
    for what, before, after in (
        ("a prompt", least.build_cpu.p50, most.build_cpu.p50),
        ("a turn", least.turn_cpu.p50, most.turn_cpu.p50),
    ):
        if after > _FLAT * before:
            yield (
                f"{what} took {after:.1f} ms of CPU with {most.memories:,} memories, and {before:.1f} ms with "
                f"{least.memories:,}: more than {_FLAT:.0f} times as much"
            )


# ── for people and programs ──────────────────────────────────────────────────────────────────────────────────────────

_HEADS = (
    "memories", "prompt, tokens", "most", "memory, tokens", "most", "cached", "built, ms CPU", "p95", "turn, ms CPU",
    "p95", "until the answer, ms", "p95",
)  # fmt: skip


def table(rows: Sequence[SizeResult], found: Sequence[str]) -> str:
    """The rows as a Markdown table, with what is not as it should be below."""
    lines = [_line(_HEADS), _line(["---:"] * len(_HEADS)), *(_line(_cells(row)) for row in rows)]
    lines += ["", *(f"- {failure}" for failure in found)] if found else ["", "Nothing failed."]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: SizeResult) -> list[str]:
    return [
        f"{row.memories:,}", f"{row.prompt:,.0f}", f"{row.prompt_most:,}", f"{row.memory:,.0f}",
        f"{row.memory_most:,}", f"{100 * row.cached:.0f} %", *_times(row.build_cpu), *_times(row.turn_cpu),
        *_times(row.turn),
    ]  # fmt: skip


def _times(spread: Percentiles) -> tuple[str, str]:
    return f"{spread.p50:.1f}", f"{spread.p95:.1f}"


def as_json(rows: Sequence[SizeResult], found: Sequence[str]) -> dict[str, Json]:
    """For programs: the rows, times in milliseconds, and what is not as it should be."""
    return {"rows": [asdict(row) for row in rows], "failures": [*found]}
