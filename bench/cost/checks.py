"""What the conversations came to: whether prompts stay within their budget and cost the same at any size. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from bench.cost.run import Percentiles, SizeResult
from bench.report import Report, TokenCaps
from kenobot.ports.json_value import Json

_FLAT = 3.0  # what a prompt may cost with the largest memory, times what it costs with the smallest that is large
_LARGE = 1000  # memories, from which on not all of them fit into a prompt and each message is looked for


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
    "memories", "“hello”, tokens", "prompt, tokens", "most", "memory, tokens", "most", "cached",
    "repeated", "least", "grows by, tokens", "built, ms CPU", "p95",
    "turn, ms CPU", "p95", "until the answer, ms", "p95",
)  # fmt: skip


def report_of(rows: Sequence[SizeResult], found: Sequence[str]) -> Report:
    """The rows as a table; times in JSON are milliseconds."""
    records: list[dict[str, Json]] = [{"rows": [asdict(row) for row in rows], "failures": [*found]}]
    return Report(heads=_HEADS, rows=[_cells(row) for row in rows], failures=found, records=records)


def _cells(row: SizeResult) -> list[str]:
    return [
        f"{row.memories:,}", f"{row.hello:,}", f"{row.prompt:,.0f}", f"{row.prompt_most:,}", f"{row.memory:,.0f}",
        f"{row.memory_most:,}", f"{100 * row.cached:.0f} %", f"{100 * row.repeated:.0f} %",
        f"{100 * row.repeated_least:.0f} %", f"{row.growth:.0f}", *_times(row.build_cpu), *_times(row.turn_cpu),
        *_times(row.turn),
    ]  # fmt: skip


def _times(spread: Percentiles) -> tuple[str, str]:
    return f"{spread.p50:.1f}", f"{spread.p95:.1f}"
