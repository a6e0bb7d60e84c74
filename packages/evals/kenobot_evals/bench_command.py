"""`kenobot bench`: evaluate recall, memory through updates and forgetting, and what memory keeps of a chat."""

import asyncio
import json
import sys
from argparse import Namespace
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.pictures import plots
from kenobot.core.redaction import escape_controls
from kenobot_evals.life import fortnights, harm
from kenobot_evals.life.asked import play_and_answer
from kenobot_evals.life.harm import HarmScore
from kenobot_evals.life.live import LifeScore, live
from kenobot_evals.recall import chat, datasets, lifecycle
from kenobot_evals.recall import run as recall
from kenobot_evals.recall.counting_reranker import CountingReranker, open_reranker
from kenobot_evals.recall.eval_home import BUDGET, EvalOptions
from kenobot_evals.recall.metrics import DEPTHS, MeanScores
from kenobot_evals.recall.run import QuestionResult, RecallReport

_BAR = 24  # characters
_FURTHER = {"recall": "with further queries", recall.ONE_QUERY: "one query"}
_NAMES = {"recall": "recall", "bm25": "BM25 alone", "dense": "vectors alone"}
T = TypeVar("T")


def bench_recall(context: CommandContext) -> int:
    args = context.args
    if args.plot:
        plots.require_matplotlib()  # before a run that may take minutes
    conversations = datasets.load(args.dataset)
    if args.explain:
        conversations = datasets.select_question(conversations, args.explain)
    conversations = datasets.select_part(conversations, args.split, args.limit)
    if args.sample:
        conversations = datasets.sample(conversations, args.sample)
    setting = _eval_options(context, args.budget)
    report, _ = _run(context, lambda judge: recall.run(conversations, setting, context.clock, _show_progress, judge))
    if args.explain:
        return _explain(report.rows[0], as_json=args.json)
    print(json.dumps(report.as_json(), ensure_ascii=False) if args.json else table(report))
    if args.misses:
        _print_misses(report)
    if args.plot:
        draw(report, Path(args.plot))
        print(f"kenobot: drawn in {args.plot}", file=sys.stderr)
    return 0


def table(report: RecallReport) -> str:
    """Return the figures of a run, as Markdown, in percent."""
    lines = [
        "| ranking | questions | R@5 | R@10 | R@20 | hit@10 | nDCG@10 | MRR | sessions@5 | @10 | @20 |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    names = _NAMES | {"recall": f"recall, {report.model or 'no model'}"}
    for method, name in names.items():
        for kind, figures in report.scores(method).items():
            if not figures.questions or (method != "recall" and kind != "all"):
                continue
            lines.append(_cells(f"{name}{'' if kind == 'all' else f': {kind}'}", figures))
    for kind, scores in report.further_scores().items():
        lines += [_cells(f"{kind}, {_FURTHER[name]}", figures) for name, figures in scores.items()]
    costs = report.costs
    lines += [
        "",
        f"A question: {costs['tokens']:.0f} tokens on the mean, {costs['most tokens']:.0f} at most, "
        f"{costs['characters']:.0f} characters; {costs['p50 ms']:.1f} ms (p50), {costs['p95 ms']:.1f} ms (p95), "
        "besides the embedding.",
    ]
    if found := report.needed:
        first = " / ".join(f"{100 * found[depth]:.1f}" for depth in DEPTHS)
        lines.append(
            f"Of the turns that hold the words of a needed fact, {first} are among the first 5 / 10 / 20; "
            f"of {100 * found[0]:.1f} a line is shown in a chat."
        )
    if report.misses_by_stage:
        lost = ", ".join(f"{count} {stage}" for stage, count in report.misses_by_stage.items())
        lines.append(f"Of what would have answered, not among the first 20: {lost}.")
    if report.judge is not None:
        lines.append(_reranker_line(report.judge))
    return "\n".join(lines)


def _cells(name: str, figures: MeanScores) -> str:
    values = [*figures.recall.values(), figures.hit[10], figures.ndcg, figures.mrr, *figures.session_recall.values()]
    cells = [f"{100 * value:.1f}" for value in values] + ([] if figures.session_recall else ["–"] * len(DEPTHS))
    return f"| {name} | {figures.questions} | {' | '.join(cells)} |"


def draw(report: RecallReport, path: Path) -> None:
    """Recall at each depth, by ranking, into the PNG `path`. Raises ConfigError when it cannot be drawn or written."""
    figure = plots.figure(7, 4)
    axes = figure.add_subplot()
    places = range(len(DEPTHS))
    for number, (method, name) in enumerate(_NAMES.items()):
        found = report.scores(method)["all"]
        if found.questions:
            heights = [100 * found.recall[depth] for depth in DEPTHS]
            bars = axes.bar([at + 0.27 * (number - 1) for at in places], heights, 0.25, label=name)
            axes.bar_label(bars, fmt="%.1f", fontsize=8)
    axes.set_xticks(list(places), [f"R@{depth}" for depth in DEPTHS])
    axes.set_ylabel("percent of what answers")
    axes.set_ylim(0, 100)
    axes.set_title(f"{len(report.rows)} questions, {report.model or 'no model'}", fontsize=9)
    axes.legend()
    plots.save(figure, path, dots=120)


def _explain(row: QuestionResult, *, as_json: bool) -> int:
    question, ranking = row.question, row.explained_ranking
    lines = [f"{question.id}: {question.text}  ({question.category}, {row.level})"]
    for place, (key, why) in enumerate(ranking, 1):
        lines.append(f"{place:>3}. {'*' if key in question.gold else ' '} {key}: {why}")
    lines += [f"lost: {miss.unit}: {miss.stage}; {miss.why}" for miss in row.misses]
    lost = [asdict(miss) for miss in row.misses]
    explained = {"id": question.id, "gold": question.gold, "first": ranking, "lost": lost}
    return options.print_row(explained, as_json, "\n".join(lines))


def _print_misses(report: RecallReport) -> None:
    for row in report.rows:
        if "recall" in row.scored and row.scored["recall"].recall[10] < 1:
            stages = "; ".join(f"{miss.unit} {miss.stage}" for miss in row.misses)
            print(escape_controls(f"{row.question.id} ({row.question.category}) {row.question.text}  {stages}"))


def bench_chat(context: CommandContext) -> int:
    args = context.args
    sets = [(Path(name).stem, datasets.select_part(datasets.load(name), "", args.limit)) for name in args.datasets]
    scores = asyncio.run(chat.run(sets, _eval_options(context, 0), context.clock, _show_progress))
    options.show_progress()
    rows = [score.as_json() for score in scores]
    print(json.dumps(rows, ensure_ascii=False) if args.json else chat_table(scores))
    return 0


def chat_table(scores: Sequence[chat.ChatScore]) -> str:
    """Return the figures of a chat's prompts, as Markdown: shares in percent."""
    firsts = [f"first {depth}" for depth in chat.FIRST]
    shares = [*firsts, "shown", "session", "denied", "unknown"]
    heads = (
        "asked of",
        "in a home",
        "questions",
        *firsts,
        "shown",
        "its session",
        "denied",
        "unanswerable",
        "told unknown",
        "tokens",
    )
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for score in scores:
        figures = score.figures
        cells = {name: f"{100 * figures[name]:.1f}" if name in figures else "–" for name in shares}
        cells |= {name: f"{figures[name]:.0f}" for name in ("questions", "unanswerable", "tokens")}
        order = ("questions", *firsts, "shown", "session", "denied", "unanswerable", "unknown", "tokens")
        lines.append(f"| {score.dataset} | {score.home} | {' | '.join(cells[name] for name in order)} |")
    return "\n".join(lines)


def bench_lifecycle(context: CommandContext) -> int:
    args = context.args
    setting, conversations = _eval_options(context), datasets.load("own")
    if args.sample:
        conversations = datasets.sample(conversations, args.sample)

    rows, judge = _run(
        context, lambda judge: lifecycle.run(conversations, setting, context.clock, _show_progress, judge)
    )
    if args.json:
        scores: dict[str, object] = {
            row.area: {"asked": row.asked, "right": row.right, "wrong": row.wrong} for row in rows
        }
        print(json.dumps(scores if judge is None else {**scores, "reranker": judge.figures}, ensure_ascii=False))
        return 0
    print("| what | asked | right | accuracy |\n|---|---|---|---|")
    for row in rows:
        print(f"| {row.area} | {row.asked} | {row.right} | {100 * row.right / max(1, row.asked):.1f} |")
    if judge is not None:
        print(f"\n{_reranker_line(judge)}")
    return 0


def bench_life(context: CommandContext) -> int:
    args = context.args
    if args.harm:
        return _bench_harm(args)
    people = [args.person] if args.person else _people(args)
    chosen = [fortnights.load_fortnight(name) for name in people]
    parts: list[str] | None = args.dialogues
    if parts is not None:
        chosen = [each for part in parts or fortnights.DIALOGUES for each in fortnights.load_dialogues(part)]
    scores, whole = list[LifeScore](), LifeScore("all")
    for at, fortnight in enumerate(chosen):
        _show_progress(fortnight.name, at, len(chosen))
        scores.append(asyncio.run(live(fortnight, args.embedder, careful=args.model == "careful")))
        if args.answers:
            asyncio.run(play_and_answer(fortnight, args.embedder, scores[-1]))
        whole.add(scores[-1])
    options.show_progress()
    if args.json:
        print(json.dumps({score.name: asdict(score) for score in (*scores, whole)}, ensure_ascii=False))
        return 0
    shown = _halves(scores) if parts is not None else [*scores, whole] if len(scores) > 1 else scores
    print(life_table(shown, answers=args.answers))
    for score in scores if args.faults else ():
        print(f"\n{score.name}:")
        print(escape_controls("\n".join(f"- {fault}" for fault in score.faults)))
    return 0


def _bench_harm(args: Namespace) -> int:
    dialogues, alone, together = harm.load_harm(map(Path, args.harm)), HarmScore("alone"), HarmScore("in a home")
    for at, dialogue in enumerate(dialogues):
        _show_progress(dialogue.says[-1], at, len(dialogues))
        asyncio.run(harm.play(dialogue, alone, args.embedder))
    for start in range(0, len(dialogues), harm.IN_A_HOME):
        _show_progress("in a home", start, len(dialogues))
        asyncio.run(harm.play_in_a_home(dialogues[start : start + harm.IN_A_HOME], together, args.embedder))
    options.show_progress()
    if args.json:
        print(json.dumps([asdict(alone), asdict(together)], ensure_ascii=False))
        return 0
    print(harm_table((alone, together)))
    for score in (alone, together) if args.faults else ():
        print(f"\n{score.name}:")
        print(escape_controls("\n".join(f"- {fault}" for fault in score.faults)))
    return 0


def harm_table(scores: Sequence[HarmScore]) -> str:
    """Return the figures of dialogues, as Markdown."""
    heads = ("dialogues", "harm", "messages kept", "changes applied at once", "after an answer", "questions right")
    lines = [f"| told | {' | '.join(heads)} | messages asked about |", "|---" * (len(heads) + 2) + "|"]
    for score in scores:
        pairs = (
            *((score.kept, score.told), (score.at_once, score.changes), (score.with_answers, score.changes)),
            *((score.rightly_asked, score.asked), (score.asked, score.messages)),
        )
        cells = " | ".join(_share(part, of) for part, of in pairs)
        lines.append(f"| {score.name} | {score.dialogues} | {score.harm} | {cells} |")
    return "\n".join(lines)


def _share(part: int, of: int) -> str:
    return f"{100 * part / max(1, of):.0f} ({part} of {of})"


def _people(args: Namespace) -> Sequence[str]:
    """Name the people whose fortnights are lived: those rules are made with, unless others are asked for."""
    if args.strangers:
        return fortnights.STRANGERS_KEPT_BACK if args.kept_back else fortnights.STRANGERS
    if args.unseen:
        return fortnights.UNSEEN
    if args.learned:
        return fortnights.LEARNED_KEPT_BACK if args.kept_back else fortnights.LEARNED
    if args.changes:
        return fortnights.OF_CHANGES
    if args.everyday:
        return fortnights.EVERYDAY_KEPT_BACK if args.kept_back else fortnights.EVERYDAY
    return fortnights.KEPT_BACK if args.kept_back else fortnights.PEOPLE


def _halves(scores: Sequence[LifeScore]) -> list[LifeScore]:
    """Return the scores of short dialogues, added up by the part of the data that they are of."""
    halves = dict[str, LifeScore]()
    for score in scores:
        part = score.name.rpartition("-")[0]
        halves.setdefault(part, LifeScore(part)).add(score)
    return list(halves.values())


def life_table(scores: Sequence[LifeScore], *, answers: bool = False) -> str:
    """Return the figures of fortnights, as Markdown: shares of what there was, in percent.

    answers: with those of answers.
    """
    heads = [
        "facts kept",
        "of memories right",
        "days right",
        "changes applied",
        "of endings right",
        "in the first 3",
        "shown",
        "told unknown",
        *(("applied with answers", "of questions right", "messages asked about") if answers else ()),
    ]
    lines = [f"| who | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for score in scores:
        pairs = (
            *((score.kept, score.standing), (score.right, score.stored), (score.days_right, score.dated)),
            *(
                (score.applied, score.changes),
                (score.rightly_ended, score.ended),
                (score.in_first, score.answered),
                (score.shown, score.answered),
            ),
            (score.told_so, score.unanswerable),
            *(_of_answers(score) if answers else ()),
        )
        cells = " | ".join(_share(part, of) for part, of in pairs)
        lines.append(f"| {score.name} | {cells} |")
    return "\n".join(lines)


def _of_answers(score: LifeScore) -> Iterator[tuple[int, int]]:
    yield score.applied_asked, score.changes
    yield score.rightly_asked, score.asked
    yield score.asked, score.messages


def _eval_options(context: CommandContext, budget: int = BUDGET) -> EvalOptions:
    vectors: str = context.args.vectors
    queries: str = getattr(context.args, "queries", "")
    further = datasets.load_queries(queries) if queries else {}
    return EvalOptions(context.args.embedder, budget, Path(vectors) if vectors else None, further)


def _run(
    context: CommandContext, work: Callable[[CountingReranker | None], Awaitable[T]]
) -> tuple[T, CountingReranker | None]:
    """Run `work` with the reranker that the arguments ask for; its result, and the reranker."""

    async def run() -> tuple[T, CountingReranker | None]:
        if context.args.reranker == "none":
            return await work(None), None
        async with open_reranker(context.home, context.loaded, context.clock) as judge:
            return await work(judge), judge

    result = asyncio.run(run())
    options.show_progress()
    return result


def _reranker_line(judge: CountingReranker) -> str:
    figures = judge.figures
    marks = ", ".join(f"{count} of {mark}" for mark, count in enumerate(judge.marks))
    return (
        f"Read by {figures['model']}: {figures['asked']} questions, {figures['unjudged']} of them not judged; "
        f"{figures['tokens a question']:.0f} tokens and {figures['mean s']:.1f} s a question "
        f"({figures['p95 s']:.1f} s p95), {figures['tokens']} tokens in all. Marks: {marks}."
    )


def _show_progress(what: str, done: int, whole: int) -> None:
    filled = _BAR * done // max(1, whole)
    options.show_progress(f"[{'#' * filled}{'.' * (_BAR - filled)}] {done}/{whole} {what[:40]}")
