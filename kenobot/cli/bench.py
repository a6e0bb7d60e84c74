"""`kenobot bench`: how good recall is, and whether memory follows updates, contradictions and forgetting."""

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from kenobot.cli import options

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kenobot.evals.recall.counting_reranker import CountingReranker
    from kenobot.evals.recall.lifecycle import AreaScore
    from kenobot.evals.recall.run import QuestionResult, RecallReport
    from kenobot.ports.clock import Clock

_DESCRIPTION = """\
Put conversations and notes into homes of their own, ask questions of them as a chat would, and see how much of the
answer is among the first 5, 10 and 20 that recall gives, beside BM25 alone and vectors alone. It reads LoCoMo's and
LongMemEval's JSON, and has two sets with it, in Spanish and English and across: own (notes) and talks (conversations).
Your own home is not touched.
"""
_EXAMPLES = """\
examples:
  kenobot bench recall
  kenobot bench recall --dataset locomo10.json --embedder none --split conv-26
  kenobot bench recall --dataset talks --explain t1:12
"""
_BAR = 24  # characters
T = TypeVar("T")

_MOVED = ("years", "month", "cost")


def add(commands: Any, home: argparse.ArgumentParser) -> None:
    parser = commands.add_parser(
        "bench",
        help="measure what memory is worth",
        description="Measure what memory is worth, on scripts and sets that ship, and on data of yours.",
    )
    parts = parser.add_subparsers(metavar="WHAT", required=True)
    for name in _MOVED:
        moved = parts.add_parser(name, add_help=False, prefix_chars="\0")
        moved.add_argument("rest", nargs="*")
        moved.set_defaults(command=_moved, name=name)
    found = parts.add_parser(
        "recall",
        help="how much of the answers recall finds, and at what cost",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_shared(found)
    found.add_argument("--dataset", default="own", metavar="FILE", help="own, talks, or a file (own)")
    found.add_argument("--split", default="", metavar="PART", help="one conversation, category or language of it")
    found.add_argument("--limit", type=options.positive_int, default=0, metavar="N", help="ask N questions at most")
    found.add_argument("--budget", type=options.positive_int, default=2000, metavar="TOKENS", help="a question (2000)")
    found.add_argument("--explain", default="", metavar="ID", help="of one question: what was found, and what was lost")
    found.add_argument(
        "--misses", action="store_true", help="name every question that was not answered in the first 10"
    )
    found.add_argument("--plot", default="", metavar="FILE.png", help="draw the figures; needs kenobot[plots]")
    found.set_defaults(command=bench_recall)
    cycle = parts.add_parser(
        "lifecycle",
        help="updates, contradictions, forgetting, scope and what is not in memory",
        description="Whether memory says what is so now, and no more what was taken back, forgotten, another person's "
        "or never said: as accuracy, on the notes that ship, through the doors a person uses.",
    )
    _add_shared(cycle)
    cycle.set_defaults(command=bench_lifecycle)


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--embedder", default="auto", metavar="NAME", help="as memory.embedder; none for words alone (auto)"
    )
    parser.add_argument(
        "--reranker",
        choices=("none", "model"),
        default="none",
        help="have your provider read what was found, as with memory.reranker: slow, and it may cost money (none)",
    )
    parser.add_argument(
        "--sample",
        type=options.positive_int,
        default=0,
        metavar="N",
        help="ask N of the questions that have an answer and N of the others, the same ones every time",
    )
    parser.add_argument("--vectors", default="", metavar="FILE", help="keep vectors in FILE, for the next run")
    options.add_json(parser)


def _moved(arguments: argparse.Namespace, _clock: "Clock | None") -> int:
    """Answer a bench that is not part of the installed program any more."""
    name = arguments.name
    return options.print_failure(
        f'kenobot: "bench {name}" is not part of the installed program any more: in a checkout of the source, '
        f'run "make {name}" or "python -m bench.{name}".'
    )


def bench_recall(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    import asyncio
    from pathlib import Path

    from kenobot.evals import plots
    from kenobot.evals.recall import datasets
    from kenobot.evals.recall.run import RecallOptions, run

    if arguments.plot:
        plots.require_matplotlib()  # before a run that may take minutes
    conversations = datasets.load(arguments.dataset)
    if arguments.explain:
        conversations = datasets.select_question(conversations, arguments.explain)
    conversations = datasets.select_part(conversations, arguments.split, arguments.limit)
    setting = RecallOptions(arguments.embedder, arguments.budget, arguments.vectors)
    if arguments.sample:
        conversations = datasets.sample(conversations, arguments.sample)
    report = asyncio.run(
        _read(arguments, clock, lambda judge: run(conversations, setting, options.clock_of(clock), _progress, judge))
    )
    options.show_progress()
    if arguments.explain:
        return _explained(report.rows[0], as_json=arguments.json)
    if arguments.json:
        print(json.dumps(report.as_json(), ensure_ascii=False))
    else:
        print(table(report))
    if arguments.misses:
        _print_misses(report)
    if arguments.plot:
        from kenobot.evals.recall.plot import draw

        draw(report, Path(arguments.plot))
        print(f"kenobot: drawn in {arguments.plot}", file=sys.stderr)
    return 0


def table(report: "RecallReport") -> str:
    """The figures of a run, as Markdown, in percent."""
    lines = [
        "| ranking | questions | R@5 | R@10 | R@20 | hit@10 | nDCG@10 | MRR |",
        "|---|---|---|---|---|---|---|---|",
    ]
    names = {"recall": f"recall, {report.model or 'no model'}", "bm25": "BM25 alone", "dense": "vectors alone"}
    for method, name in names.items():
        for kind, figures in report.scores(method).items():
            if not figures.questions or (method != "recall" and kind != "all"):
                continue
            values = [*figures.recall.values(), figures.hit[10], figures.ndcg, figures.mrr]
            cells = " | ".join(f"{100 * value:.1f}" for value in values)
            lines.append(f"| {name}{'' if kind == 'all' else f': {kind}'} | {figures.questions} | {cells} |")
    costs = report.costs
    lines += [
        "",
        f"A question: {costs['tokens']:.0f} tokens on the mean, {costs['most tokens']:.0f} at most, "
        f"{costs['characters']:.0f} characters; {costs['p50 ms']:.1f} ms (p50), {costs['p95 ms']:.1f} ms (p95), "
        "besides the embedding.",
    ]
    if report.misses_by_stage:
        lost = ", ".join(f"{count} {stage}" for stage, count in report.misses_by_stage.items())
        lines.append(f"Of what would have answered, not among the first 20: {lost}.")
    if report.judge is not None:
        lines.append(_told_of(report.judge))
    return "\n".join(lines)


def _explained(row: "QuestionResult", *, as_json: bool) -> int:
    from dataclasses import asdict

    from kenobot.core.terminal import escape_controls

    if as_json:
        lost = [asdict(verdict) for verdict in row.misses]
        print(
            json.dumps({"id": row.question.id, "gold": row.question.gold, "first": row.explained_ranking, "lost": lost})
        )
        return 0
    print(escape_controls(f"{row.question.id}: {row.question.text}  ({row.question.category}, {row.level})"))
    for place, (key, why) in enumerate(row.explained_ranking, 1):
        print(escape_controls(f"{place:>3}. {'*' if key in row.question.gold else ' '} {key}: {why}"))
    for verdict in row.misses:
        print(escape_controls(f"lost: {verdict.unit}: {verdict.stage}; {verdict.why}"))
    return 0


def _print_misses(report: "RecallReport") -> None:
    from kenobot.core.terminal import escape_controls

    for row in report.rows:
        if "recall" in row.scored and row.scored["recall"].recall[10] < 1:
            stages = "; ".join(f"{verdict.unit} {verdict.stage}" for verdict in row.misses)
            print(escape_controls(f"{row.question.id} ({row.question.category}) {row.question.text}  {stages}"))


def bench_lifecycle(arguments: argparse.Namespace, clock: "Clock | None") -> int:
    import asyncio

    from kenobot.evals.recall.lifecycle import LifecycleOptions, run

    setting = LifecycleOptions(arguments.embedder, arguments.vectors, arguments.sample)

    async def work(judge: "CountingReranker | None") -> "tuple[list[AreaScore], CountingReranker | None]":
        return await run(setting, options.clock_of(clock), _progress, judge), judge

    rows, judge = asyncio.run(_read(arguments, clock, work))
    options.show_progress()
    if arguments.json:
        told: dict[str, object] = {
            row.area: {"asked": row.asked, "right": row.right, "wrong": row.wrong} for row in rows
        }
        print(json.dumps(told if judge is None else {**told, "reranker": judge.figures}, ensure_ascii=False))
        return 0
    print("| what | asked | right | accuracy |\n|---|---|---|---|")
    for row in rows:
        print(f"| {row.area} | {row.asked} | {row.right} | {100 * row.right / max(1, row.asked):.1f} |")
    if judge is not None:
        print(f"\n{_told_of(judge)}")
    return 0


async def _read(
    arguments: argparse.Namespace, clock: "Clock | None", work: "Callable[[CountingReranker | None], Awaitable[T]]"
) -> T:
    """What comes of `work` with whoever reads what is found, where somebody shall."""
    if arguments.reranker == "none":
        return await work(None)
    import os

    from kenobot.core.settings.load import load_settings
    from kenobot.evals.recall.counting_reranker import open_reranker

    home = options.home_of(arguments)
    async with open_reranker(home, load_settings(home, os.environ), options.clock_of(clock)) as judge:
        return await work(judge)


def _told_of(judge: "CountingReranker") -> str:
    told = judge.figures
    marks = ", ".join(f"{count} of {mark}" for mark, count in enumerate(judge.marks))
    return (
        f"Read by {told['model']}: {told['asked']} questions, {told['unjudged']} of them not judged; "
        f"{told['tokens a question']:.0f} tokens and {told['mean s']:.1f} s a question "
        f"({told['p95 s']:.1f} s p95), {told['tokens']} tokens in all. Marks: {marks}."
    )


def _progress(what: str, done: int, whole: int) -> None:
    filled = _BAR * done // max(1, whole)
    options.show_progress(f"[{'#' * filled}{'.' * (_BAR - filled)}] {done}/{whole} {what[:40]}")
