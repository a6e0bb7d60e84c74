"""`kenobot memory why-not`: why something was not remembered. Read-only."""

from kenobot.agent.commands.absence import absence_as_json, find_readers, render_absence
from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import language
from kenobot.cli.memory import vectors
from kenobot.cognitive.memory import Memory, MemoryQuery
from kenobot.storage import conversation
from kenobot.storage.scopes import ALL_SCOPES


def why_not(context: CommandContext) -> int:
    args, text = context.args, " ".join(context.args.text)
    context.require_current_schema()
    with context.index() as (index, connection):
        session = args.session or conversation.last_answered_session(connection) or ""
        reply = Memory.history.explain_reply(connection, session, context.scopes) if session else None
        question = reply.question if reply is not None else text
        vectors.enable_vector_search(context, connection, index, question)
        reach = (context.args.scope,) if context.args.scope is not None else find_readers(connection, session)
        query = MemoryQuery(text, reach, context.now, context.zone, session)
        found = Memory(index).explain(connection, text, query, reply, ALL_SCOPES)
    return options.print_row(absence_as_json(found), args.json, render_absence(found, text, language()))
