"""What the cards, boxes and artifacts of records should say now. Reads the database only."""

from datetime import datetime
from zoneinfo import ZoneInfo

from kenobot.cognitive.mirror import card_rows
from kenobot.cognitive.mirror import record_format as cards
from kenobot.cognitive.mirror.card_rows import RecordFileRow
from kenobot.cognitive.policy.files import FilesPolicy
from kenobot.cognitive.remember.boxes import named_topics
from kenobot.cognitive.store import boxes, records
from kenobot.cognitive.store.records import Json, Record
from kenobot.cognitive.text.calendar import local_time
from kenobot.storage.connection import Connection


def render_record(connection: Connection, record: Record, row: RecordFileRow | None, zone: ZoneInfo) -> str:
    """The card of `record` as it should be now."""
    links = card_rows.links_from(connection, record.id)
    body = _box_body(connection, record, zone) if record.form == "box" else None
    known = record._replace(changed=max(record.changed, card_rows.last_event_of(connection, record.id)))
    return cards.render(known, links, row.extra_lines if row else (), row.line_ending if row else "\n", body)


def render_artifact(connection: Connection, record: Record, policy: FilesPolicy) -> str | None:
    """What `record` says in the words in which it was first said; None for what is not worth it."""
    if (
        record.status != "active"
        or record.form not in ("note", "episode")
        or record.category not in policy.artifact_categories
        or record.confidence < policy.artifact_confidence
        or record.trust not in ("owner", "guest", "model")
    ):
        return None
    head: dict[str, Json] = {
        "id": record.id,
        "artifact": True,
        "category": record.category,
        "scope": record.scope,
        "created": record.created,
    }
    first = card_rows.values_after(connection, record, 0).get("text", record.text)
    return cards.with_checksum(head, _quoted(str(first)))


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _box_body(connection: Connection, box: Record, zone: ZoneInfo) -> str:
    """What lies in a box, as far as it is believed."""
    members = boxes.box_members(connection, box.id)
    known = records.by_ids(connection, [member.record for member in members], (box.scope,))
    lines = [f"# {', '.join(named_topics(m for m in members if _alive(known, m.record))) or box.text}", ""]
    for member in members:
        if _alive(known, member.record):
            first = known[member.record].text.partition("\n")[0]
            lines.append(f"- {local_time(datetime.fromisoformat(known[member.record].created), zone)} {first}")
    return "\n".join(lines).rstrip()


def _alive(known: dict[int, Record], number: int) -> bool:
    return number in known and known[number].status == "active"
