"""Find the turn of a message that its sender edits, and have the edit take its place."""

import json
from dataclasses import replace
from datetime import datetime

from kenobot.ports.frozen import dataclass
from kenobot.ports.messages import Inbound
from kenobot.storage.attachments import AttachmentRow, item_names, save_row, to_fields
from kenobot.storage.connection import Connection
from kenobot.storage.inbox_rows import PendingMessage, load_pending
from kenobot.storage.outbox import PREVIEW_PART

_LATELY = 5000  # messages from the newest on among which one that is edited is looked for
_TAKEN = "takes the place of what it edits"
_HAS_ITEM = "instr(' ' || value || ' ', ' ' || ? || ' ')"
_AMONG = "IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class EditedTurn:
    """The turn of a message that was edited.

    parts: the message and its fragments, the edited one in its new form. rows: of these, and of earlier edits of
    them. before, after: the words of the edited one. answer: the row whose answer stands there; None for none.
    is_last: nothing was said behind it, or it has still to be answered. is_changed: the edit says or shows something
    else than what was answered.
    """

    parts: tuple[PendingMessage, ...]
    rows: tuple[int, ...]
    before: str
    after: str
    answer: int | None
    is_last: bool
    is_changed: bool


def rows_of_message(connection: Connection, edit: Inbound) -> list[int]:
    """Return the inbox rows of the message that `edit` is of, and of its earlier edits."""
    rows = connection.execute(
        "SELECT id FROM inbox WHERE session = ? AND sender = ? AND (platform_id = ? OR (kind = 'edit' AND target = ?)) "
        "ORDER BY id DESC LIMIT 50",
        (edit.session, edit.user, edit.target, edit.target),
    )
    return [number for (number,) in rows]


def find_edited_turn(connection: Connection, edit: PendingMessage) -> EditedTurn | None:
    """Find the turn of the message that `edit` is of; None where that is not known."""
    inbound = edit.inbound
    places = ["platform_id = ?"]
    if any(each.item for each in inbound.attachments):
        places.append(_HAS_ITEM)
    found = None
    # Of a message that was not known the first edit was one; its later edits are of that.
    for kind, order, place in ((*each, place) for each in (("message", "DESC"), ("edit", "ASC")) for place in places):
        found = (
            found
            or connection.execute(
                "SELECT id, coalesce(joined_to, id) FROM inbox WHERE id > ? AND id < ? AND session = ? "
                f"AND {place} AND sender = ? AND kind = ? ORDER BY id {order} LIMIT 1",
                (edit.id - _LATELY, edit.id, edit.session, inbound.target, inbound.user, kind),
            ).fetchone()
        )
    if found is None:
        return None
    target, head = found
    members = load_pending(connection, "id = ? OR joined_to = ? ORDER BY id", head, head)
    items = [one.item for each in members for one in each.inbound.attachments if one.item]
    names = json.dumps([each.inbound.platform_id for each in members] + items)
    edits = connection.execute(
        f"SELECT id FROM inbox WHERE id > ? AND id < ? AND session = ? AND kind = 'edit' AND target {_AMONG}",
        (head, edit.id, edit.session, names),
    )
    rows = (*(each.id for each in members), *(row[0] for row in edits))
    later = connection.execute(
        "SELECT 1 FROM inbox WHERE id > ? AND id < ? AND session = ? AND kind = 'message' AND state != 'dropped' "
        f"AND NOT id {_AMONG} LIMIT 1",
        (head, edit.id, edit.session, json.dumps(rows)),
    ).fetchone()
    # One whose turn an edit ended has no answer, whatever was said since, and its words stand nowhere else.
    (ended,) = connection.execute(
        f"SELECT EXISTS (SELECT 1 FROM inbox WHERE id {_AMONG} AND state = 'dropped') "
        f"AND NOT EXISTS (SELECT 1 FROM message WHERE inbox_id {_AMONG})",
        (json.dumps(rows), json.dumps(rows)),
    ).fetchone()
    (answer,) = connection.execute(
        f"SELECT max(inbox_id) FROM outbox WHERE inbox_id {_AMONG} AND part IN (0, ?)", (json.dumps(rows), PREVIEW_PART)
    ).fetchone()
    (taken,) = connection.execute("SELECT reason = ? FROM inbox WHERE id = ?", (_TAKEN, edit.id)).fetchone()
    parts = tuple(_apply_edit(each, edit) if each.id == target else each for each in members)
    is_changed = bool(taken) or bool(ended) or parts != tuple(members)
    was, now = next(pair for pair in zip(members, parts, strict=True) if pair[0].id == target)
    words = was.inbound.text, now.inbound.text
    return EditedTurn(parts, rows, *words, answer, later is None or bool(ended), is_changed)


def take_over(connection: Connection, edit: PendingMessage, turn: EditedTurn) -> None:
    """Replace a message by its new form; of its turn nothing stays in the conversation."""
    note_edit(connection, edit, turn)
    connection.execute(f"DELETE FROM message WHERE inbox_id {_AMONG}", (json.dumps(turn.rows),))
    connection.execute("UPDATE inbox SET reason = ? WHERE id = ?", (_TAKEN, edit.id))


def note_edit(connection: Connection, edit: PendingMessage, turn: EditedTurn) -> None:
    """Store the new form of a message with it, for further edits."""
    for each in turn.parts:
        if each.inbound.platform_id == edit.inbound.target or _is_item(edit.inbound.target, each.inbound):
            attachments = each.inbound.attachments
            _read_anew(connection, each, edit)
            connection.execute(
                "UPDATE inbox SET text = ?, attachments = ?, value = ?, platform_id = ? "
                "WHERE id = ? AND state != 'dead'",
                (
                    each.inbound.text,
                    json.dumps(to_fields(attachments)),
                    item_names(attachments),
                    each.inbound.platform_id,
                    each.id,
                ),
            )


def _read_anew(connection: Connection, album: PendingMessage, edit: PendingMessage) -> None:
    """Queue the new item of an album to be fetched and read."""
    [before] = load_pending(connection, "id = ?", album.id)
    for number, (was, now) in enumerate(zip(before.inbound.attachments, album.inbound.attachments, strict=False)):
        if now.item == edit.inbound.target and was.handle != now.handle:
            save_row(connection, album.id, AttachmentRow(number))


def end_without_answer(connection: Connection, message: int, at: datetime) -> None:
    """Mark a message done that nobody waits for an answer to, inside a transaction."""
    connection.execute(
        "UPDATE inbox SET state = 'answered', done_at = ? WHERE id = ? AND state IN ('pending', 'claimed')",
        (at.isoformat(), message),
    )


def changes(edit: PendingMessage, message: PendingMessage) -> bool:
    """Return whether an edit has the message say or show something else: platforms send some that do not."""
    return _apply_edit(message, edit) is not message


def _apply_edit(message: PendingMessage, edit: PendingMessage) -> PendingMessage:
    """Return a message in its new form: the same row with other words, or the edit's own where it shows other files."""
    before, now = message.inbound, edit.inbound
    if _is_item(now.target, before):
        return _apply_album_edit(message, edit)
    if {each.handle for each in now.attachments} <= {each.handle for each in before.attachments}:
        return message if before.text == now.text else replace(message, inbound=replace(before, text=now.text))
    return replace(edit, inbound=replace(now, platform_id=before.platform_id))


def _is_item(name: str, album: Inbound) -> bool:
    """Return whether a platform's message is an item of an album, which stands as one message."""
    return any(each.item == name for each in album.attachments)


def _apply_album_edit(message: PendingMessage, edit: PendingMessage) -> PendingMessage:
    """Return an album with an item in its new form; the others stay, with their captions."""
    before, now = message.inbound, edit.inbound
    fresh = {each.item: each for each in now.attachments}
    attachments = [
        each if fresh.get(each.item, each).handle == each.handle else fresh[each.item] for each in before.attachments
    ]
    captions = _split_captions(before)
    for number, each in enumerate(before.attachments):
        if each.item == now.target:
            captions[number] = now.text
    lengths = map(len, captions)
    attachments = [replace(each, caption_chars=chars) for each, chars in zip(attachments, lengths, strict=True)]
    text = "\n".join(caption for caption in captions if caption)
    if text == before.text and {each.handle for each in attachments} == {each.handle for each in before.attachments}:
        return message
    return replace(message, inbound=replace(before, text=text, attachments=tuple(attachments)))


def _split_captions(album: Inbound) -> list[str]:
    """Return the caption of each item of an album; of one stored without lengths, the text below the item it is of."""
    captions, at = list[str](), 0
    for each in album.attachments:
        captions.append(album.text[at : at + each.caption_chars])
        at += each.caption_chars + (each.caption_chars > 0)
    if "\n".join(caption for caption in captions if caption) == album.text:
        return captions
    named = [each.item == album.platform_id for each in album.attachments]
    return [album.text if is_named else "" for is_named in named]
