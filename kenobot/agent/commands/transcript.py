"""`/transcript`: show what was heard in a voice message, word for word, so that a mishearing can be seen."""

from kenobot.agent.commands.command import CommandCall, CommandContext
from kenobot.core import texts
from kenobot.storage import attachments
from kenobot.storage.connection import Connection


def show_transcript(connection: Connection, call: CommandCall, _: CommandContext) -> str:
    """Show the transcripts of the message that the command answers, or of the person's last one with a recording.

    The owner may ask for anybody's by a reply.
    """
    said = call.inbound
    sender = "" if said.reply_to and call.principal.role == "owner" else said.user
    heard = attachments.load_transcripts(connection, said.session, sender, said.reply_to)
    if heard is None:
        return texts.NOTHING_RECORDED(call.language)
    words = "\n\n".join(text for text in heard if text)
    return texts.HEARD(call.language, what=words) if words else texts.NOTHING_HEARD(call.language)
