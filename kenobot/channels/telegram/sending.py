"""Send a part of a reply in the fullest form that the Bot API server takes: rich, with entities, or as plain text."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, Literal

from telegram import Bot, InputFile, LinkPreviewOptions, MessageEntity
from telegram import error as api

from kenobot.channels.telegram.callbacks import keyboard_markup
from kenobot.channels.telegram.rich import rich_message
from kenobot.channels.telegram.settings import TelegramSettings
from kenobot.channels.telegram.split import MAX_UNITS, split_message
from kenobot.channels.telegram.updates import EphemeralId
from kenobot.core import texts
from kenobot.core.i18n import guess_language
from kenobot.core.worker import TextWork
from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import MessagePart, TextEntity

logger = logging.getLogger(__name__)

_MOST_ENTITIES: Final = 100  # that Telegram formats in one message
_UNKNOWN_SECONDS: Final = 3600.0  # for which a method that the server did not know is not tried
_TOPIC_SHUT: Final = ("topic_closed", "topic_deleted", "topic_id_invalid", "thread not found")
_NOT_EDITABLE: Final = (
    "message to edit not found",
    "message can't be edited",
    "message_id_invalid",
    "no text in the message to edit",
)
# To a method that it does not know a server says the same as to a token that it does not know.
_NO_METHOD: Final = (api.EndPointNotFound, api.InvalidToken)
# What servers say that know the method not at all, or in an older form.
_NOT_KNOWN: Final = ("method not found", "unknown method", "must be non-empty", "text is empty", "not supported")
# What is refused is not the form of a message, but that one person alone is to see it.
_NOT_EPHEMERAL: Final = ("ephemeral", "receiver", "query is too old", "query_id", "admin", "participant", "rights")
_FILE_UNITS: Final = MAX_UNITS - 200  # of a refused file, with a word of what is left out
_WORK: Final = 4  # times the work of formatting a text of that length

# Bot.editMessageText exists, without `rich_message`; this spelling passes it on without a warning.
_RawMethod = Literal["sendRichMessage", "sendRichMessageDraft", "editMessageText_", "editEphemeralMessageText"]


@dataclass(frozen=True, slots=True)
class Address:
    """A chat, the forum topic in it, and the message in whose place the part goes: an edit.

    reply_to: the message that the part answers. reader: the one person of a group who is to see the part. occasion:
    what that person did, which lets a bot without rights answer: fields of the request.
    """

    chat: str
    thread: str = ""
    replaces: str = ""
    reply_to: str = ""
    reader: str = ""
    occasion: "Occasion | None" = None


@dataclass(frozen=True, slots=True)
class Occasion:
    """A press of a button, by its query, or a message that the bot alone sees, by its number."""

    query: str = ""
    message: int = 0


class ShownToAll(Exception):
    """The server knows no ephemeral messages, and everybody in the group sees the message `sent`."""

    def __init__(self, sent: str) -> None:
        super().__init__("the Bot API server showed a message to all")
        self.sent = sent


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A form in which a part is tried.

    rich: as a rich message. formatted: with entities. moved: the group has. here_only: in the message that it replaces.
    previewed: with the options of link previews; another one may have learned meanwhile that the server takes none.
    """

    to: Address
    part: MessagePart
    rich: dict[str, object] | None
    formatted: bool = True
    moved: bool = False
    here_only: bool = False
    previewed: bool = True


class MessageSender:
    """Sends parts, and drafts of them. Raises the library's errors.

    monotonic: seconds, by which a method that the server does not know is asked for again. has_moved: called with the
    old and the new id of a group that took a part under its new one.
    """

    def __init__(
        self,
        bot: Bot,
        monotonic: Callable[[], float],
        has_moved: Callable[[str, str], None],
        settings: TelegramSettings,
    ) -> None:
        self._bot = bot
        self._monotonic = monotonic
        self._has_moved = has_moved
        self._rich = settings.rich_messages
        self._unknown: dict[str, float] = {}  # bounded: the four methods of rich messages; start
        self._preview: LinkPreviewOptions | None = LinkPreviewOptions(is_disabled=not settings.link_previews)
        self._text_work = TextWork()

    async def send(self, to: Address, part: MessagePart) -> str:
        """Send `part` and return its message id; in the next lesser form where the server refuses one.

        Raises ShownToAll where it was not sent to its reader alone.
        """
        return await self._send(_Attempt(to, part, await self._try_rich(part, _method(to))))

    async def edit(self, to: Address, part: MessagePart) -> None:
        """Put `part` into the message that it replaces, and nowhere else."""
        await self._send(_Attempt(to, part, await self._try_rich(part, _method(to)), here_only=True))

    async def _send(self, attempt: _Attempt) -> str:
        chat = attempt.to.chat
        while True:
            try:
                sent = await self._try(attempt)
            except api.TelegramError as error:
                if attempt.to.replaces and "message is not modified" in error.message.lower():
                    return attempt.to.replaces
                attempt = self._lesser(attempt, error)
            else:
                if attempt.moved:
                    self._has_moved(chat, attempt.to.chat)
                return sent

    async def draft(self, to: Address, number: int, part: MessagePart) -> None:
        """Show `part` in a private chat as what there is of a message. number: the same for all of it, not 0."""
        method: _RawMethod = "sendRichMessageDraft"
        if (rich := await self._try_rich(part, method)) is not None:
            fields = {"chat_id": int(to.chat), "draft_id": number, "rich_message": rich}
            try:
                await self._bot.do_api_request(method, fields | _topic_field(to))
            except (*_NO_METHOD, api.BadRequest) as error:
                self._note_refusal(method, error)
            else:
                return
        entities = _entities(part)
        await self._bot.send_message_draft(int(to.chat), number, part.text, topic(to.thread), entities=entities or None)

    async def _try_rich(self, part: MessagePart, method: _RawMethod) -> dict[str, object] | None:
        if not self._rich or self._monotonic() < self._unknown.get(method, float("-inf")):
            return None
        return await self._text_work.run(_WORK * len(part.text), lambda: rich_message(part))

    def _note_refusal(self, method: _RawMethod, error: api.TelegramError) -> None:
        unknown = isinstance(error, _NO_METHOD) or any(sign in error.message.lower() for sign in _NOT_KNOWN)
        if unknown:
            self._unknown[method] = self._monotonic() + _UNKNOWN_SECONDS
            logger.info("the Bot API server knows no rich messages (%s): replies go out as text for now", method)
        else:
            logger.warning("Telegram refused a rich message; it goes out as text")

    async def _try(self, attempt: _Attempt) -> str:
        """Make the request that sends a part, or puts it in the place of a message; returns the message id."""
        to, part = attempt.to, attempt.part
        if attempt.rich is not None:
            return await self._send_rich(attempt.rich, to, part)
        markup, shown = keyboard_markup(part.buttons), (_entities(part) if attempt.formatted else []) or None
        if part.attachments:
            file = part.attachments[0]
            content = InputFile(file.text.encode("utf-8", "replace"), filename=file.name or "document")
            message = await self._bot.send_document(
                to.chat,
                content,
                caption=part.text,
                caption_entities=shown,
                message_thread_id=topic(to.thread),
                reply_markup=markup,
                api_kwargs=_build_reference(to),
            )
        elif (unseen := EphemeralId.parse(to.replaces)) is not None:
            fields: dict[str, object] = {"text": part.text, "entities": shown, "reply_markup": markup}
            if attempt.previewed:
                fields["link_preview_options"] = self._options(part)
            held = {name: value for name, value in fields.items() if value is not None}
            await self._bot.do_api_request("editEphemeralMessageText", _place(to.chat, unseen) | held)
            return to.replaces
        elif to.replaces:
            await self._bot.edit_message_text(
                part.text,
                to.chat,
                int(to.replaces),
                entities=shown,
                link_preview_options=self._options(part) if attempt.previewed else None,
                reply_markup=markup,
            )
            return to.replaces
        else:
            message = await self._bot.send_message(
                to.chat,
                part.text,
                message_thread_id=topic(to.thread),
                entities=shown,
                link_preview_options=self._options(part) if attempt.previewed else None,
                reply_markup=markup,
                api_kwargs=_build_reference(to),
            )
        return _read_sent_id(to, message.message_id, message.api_kwargs)

    def _options(self, part: MessagePart) -> LinkPreviewOptions | None:
        return self._preview if part.has_previews or self._preview is None else LinkPreviewOptions(is_disabled=True)

    async def _send_rich(self, rich: dict[str, object], to: Address, part: MessagePart) -> str:
        fields: dict[str, object] = {"chat_id": to.chat, "rich_message": rich}
        if (markup := keyboard_markup(part.buttons)) is not None:
            fields["reply_markup"] = markup
        if to.replaces:
            unseen = EphemeralId.parse(to.replaces)
            place = {"message_id": int(to.replaces)} if unseen is None else _place(to.chat, unseen)
            await self._bot.do_api_request(_method(to), fields | place)
            return to.replaces
        answer: object = await self._bot.do_api_request(
            _method(to), fields | _topic_field(to) | (_build_reference(to) or {})
        )
        number = answer.get("message_id") if isinstance(answer, dict) else None
        if not isinstance(answer, dict) or not isinstance(number, int):
            raise api.EndPointNotFound("sendRichMessage was answered by something else than a message")
        return _read_sent_id(to, number, answer)

    async def knows_ephemeral(self, chat: str, user: str) -> bool:
        """Return whether the server knows ephemeral messages, by a request to delete one that names none."""
        try:
            await self._bot.do_api_request("deleteEphemeralMessage", {"chat_id": chat, "receiver_user_id": int(user)})
        except _NO_METHOD:
            return False
        except (api.BadRequest, api.ChatMigrated, api.Forbidden) as error:
            return not any(sign in error.message.lower() for sign in ("method not found", "unknown method"))
        return True

    def _lesser(self, attempt: _Attempt, error: api.TelegramError) -> _Attempt:
        """Return the form to try after a refusal. Raises `error` where there is none."""
        to, part, complaint = attempt.to, attempt.part, error.message.lower()
        is_gone = isinstance(error, api.ChatMigrated) or any(sign in complaint for sign in _NOT_EDITABLE)
        if attempt.here_only and is_gone:
            raise error
        if to.reader and isinstance(error, api.BadRequest) and any(sign in complaint for sign in _NOT_EPHEMERAL):
            if not to.replaces:
                raise error
            return replace(attempt, to=replace(to, replaces=""))
        if isinstance(error, api.ChatMigrated) and not attempt.moved:
            chat = str(error.new_chat_id)
            logger.warning("a group is a supergroup now: where its old id stands in the settings, write %s", chat)
            return replace(attempt, to=replace(to, chat=chat, replaces="", reply_to=""), moved=True)
        if attempt.rich is not None and isinstance(error, _NO_METHOD):
            self._note_refusal(_method(to), error)
            return replace(attempt, rich=None)
        if not isinstance(error, api.BadRequest):
            raise error
        if to.replaces and any(sign in complaint for sign in _NOT_EDITABLE):
            return replace(attempt, to=replace(to, replaces=""))
        if to.thread and any(sign in complaint for sign in _TOPIC_SHUT):
            logger.warning("a topic is closed or gone; its answer goes to the group itself")
            return replace(attempt, to=replace(to, thread="", reply_to=""), part=_out_of_topic(part), rich=None)
        if attempt.rich is not None:
            self._note_refusal(_method(to), error)
            return replace(attempt, rich=None)
        if part.attachments:
            logger.warning("Telegram refused a file; what stands in it goes out as a message")
            return replace(attempt, part=_in_words(part))
        if attempt.formatted and part.entities and "entit" in complaint:
            logger.warning("Telegram refused the formatting of a reply; it goes out as plain text")
            return replace(attempt, formatted=False)
        if attempt.previewed and "link_preview_options" in complaint:
            self._preview = None  # the Bot API server is older than this parameter
            return replace(attempt, previewed=False)
        raise error


def topic(thread: str) -> int | None:
    """Return a thread as the number of a forum topic; None for the chat itself."""
    return int(thread) if thread.isdecimal() else None


def _method(to: Address) -> _RawMethod:
    if not to.replaces:
        return "sendRichMessage"
    return "editMessageText_" if EphemeralId.parse(to.replaces) is None else "editEphemeralMessageText"


def _build_reference(to: Address) -> dict[str, object] | None:
    """Return the fields of a request that name the message it answers, or the one person who sees it; None for none."""
    if not to.reader:
        answered = {"message_id": int(to.reply_to), "allow_sending_without_reply": True} if to.reply_to else None
        return {"reply_parameters": answered} if answered else None
    parameters: dict[str, object] = {"receiver_user_id": int(to.reader)}
    if to.occasion is None:
        return {"ephemeral_message_parameters": parameters}
    if to.occasion.query:
        return {"ephemeral_message_parameters": parameters | {"callback_query_id": to.occasion.query}}
    unseen = {"ephemeral_message_id": to.occasion.message}
    return {"ephemeral_message_parameters": parameters, "reply_parameters": unseen}


def _place(chat: str, unseen: EphemeralId) -> dict[str, object]:
    return {"chat_id": chat, "receiver_user_id": int(unseen.user), "ephemeral_message_id": unseen.number}


def _read_sent_id(to: Address, number: int, more: Mapping[str, object]) -> str:
    """Return the id of a sent message. Raises ShownToAll where its reader is not the only one."""
    if not to.reader:
        return str(number)
    unseen = more.get("ephemeral_message_id")
    if not isinstance(unseen, int) or not unseen:
        raise ShownToAll(str(number))
    return str(EphemeralId(to.reader, unseen))


def _topic_field(to: Address) -> dict[str, object]:
    return {} if (number := topic(to.thread)) is None else {"message_thread_id": number}


def _in_words(part: MessagePart) -> MessagePart:
    """Make a message of the file of a part, as much as there is room for."""
    caption, content = part.text, part.attachments[0].text
    (begin, *rest) = split_message(content, limit=_FILE_UNITS) or [MessagePart(caption)]
    if not rest:
        return replace(begin, buttons=part.buttons)
    left_out = texts.REST_LEFT_OUT(guess_language(caption), count=len(content) - len(begin.text))
    return MessagePart(f"{begin.text}\n\n{left_out}", buttons=part.buttons)


def _out_of_topic(part: MessagePart) -> MessagePart:
    """Say above a part that its topic is closed, where there is room for that."""
    note = f"{texts.TOPIC_CLOSED(guess_language(part.text))}\n\n"
    shift = len(note)  # its letters are one UTF-16 unit each
    if shift + len(part.text.encode("utf-16-le", "surrogatepass")) // 2 > MAX_UNITS:
        return part
    moved = tuple(replace(span, offset=span.offset + shift) for span in part.entities)
    return replace(part, text=note + part.text, entities=moved)


def _entities(part: MessagePart) -> list[MessageEntity]:
    return [_entity(span) for span in part.entities[:_MOST_ENTITIES]]


def _entity(span: TextEntity) -> MessageEntity:
    return MessageEntity(
        type=span.kind,
        offset=span.offset,
        length=span.length,
        url=span.detail if span.kind == "text_link" else None,
        language=(span.detail or None) if span.kind == "pre" else None,
    )
