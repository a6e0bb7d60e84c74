"""`kenobot memory why-not`: why something was not remembered. Read-only."""

from kenobot.agent.commands.absence import HIDDEN, render_absence
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import language
from kenobot.cli.memory import vectors
from kenobot.cognitive.memory import Memory, MemoryQuery
from kenobot.ports.identity import OWNER_SCOPE, chat_scope
from kenobot.storage import conversation
from kenobot.storage.connection import Connection
from kenobot.storage.scopes import ALL_SCOPES


def why_not(context: CommandContext) -> int:
    args, text = context.args, " ".join(context.args.text)
    context.require_current_schema()
    with context.index() as (index, connection):
        session = args.session or conversation.last_answered_session(connection) or ""
        reply = Memory.history.explain_reply(connection, session, context.scopes) if session else None
        question = reply.question if reply is not None else text
        vectors.enable_vector_search(context, connection, index, question)
        query = MemoryQuery(text, _reach(context, connection, session), context.now, context.zone, session)
        found = Memory(index).explain(connection, text, query, reply, ALL_SCOPES)
    row: dict[str, object] = {"outcome": found.outcome, "reason": found.reason, "question": found.question}
    row |= {"rank": found.rank, "of": found.looked_at, "before": [*found.before]}
    if (item := found.item) is not None and found.reason not in HIDDEN:
        row |= {"kind": item.kind, "id": item.number, "text": item.text, "scope": item.scope}
    return options.print_row(row, args.json, render_absence(found, text, language()))


def _reach(context: CommandContext, connection: Connection, session: str) -> tuple[str, ...]:
    """The scopes of whoever is answered in a conversation."""
    if context.args.scope is not None:
        return (context.args.scope,)
    if not session:
        return (OWNER_SCOPE,)
    scope = conversation.last_scope(connection, session) or chat_scope(session)
    return tuple(dict.fromkeys((scope, chat_scope(session))))
