"""What stands behind a reply, and what its prompt only showed."""

from kenobot.cognitive.control.history import split_used
from kenobot.ports.explanations import ReplyExplanation, UsedMemory
from tests.memory_rows import open_memory, put_record


def test_behind_a_reply_stands_what_was_recalled_for_it_or_shares_its_words() -> None:
    """Each once, the recalled ones first; all else was only in view, also what is forgotten meanwhile."""
    with open_memory() as connection:
        river, tea, dog = (
            put_record(connection, text) for text in ("Lives near the river", "Likes tea", "Our dog is Toby")
        )
        used = (
            UsedMemory(tea.id, tea, "frame"),
            UsedMemory(dog.id, dog, "frame"),
            UsedMemory(river.id, river, "message"),
            UsedMemory(99, None, "message"),
            UsedMemory(river.id, river, "frame"),
        )
    reply = ReplyExplanation("s", 1, "", "What is the dog called?", "Toby, your dog.", used)
    behind, in_view = split_used(reply)
    assert [each.record_id for each in behind] == [river.id, dog.id]
    assert [each.record_id for each in in_view] == [tea.id, 99]


def test_behind_a_reply_stands_first_what_it_quotes() -> None:
    """Beside that, what was recalled and shares no word with the exchange was only in view."""
    with open_memory() as connection:
        tea, dog, vet = (put_record(connection, text) for text in ("Likes tea", "The dog is Toby", "The dog has a vet"))
    used = (
        UsedMemory(tea.id, tea, "message"),
        UsedMemory(vet.id, vet, "message"),
        UsedMemory(dog.id, dog, "frame"),
    )
    reply = ReplyExplanation(
        "s", 1, "", "What is the dog called?", "This is what I remember:\n- “the dog  is Toby”", used
    )
    behind, in_view = split_used(reply)
    assert [each.record_id for each in behind] == [dog.id, vet.id]
    assert [each.record_id for each in in_view] == [tea.id]


def test_behind_a_reply_to_nothing_known_stands_nothing() -> None:
    """Whatever the prompt shows anyway was only in view."""
    with open_memory() as connection:
        tea = put_record(connection, "Likes tea")
    reply = ReplyExplanation("s", 1, "", "What is the boiling point of mercury?", "357 °C.",
                             (UsedMemory(tea.id, tea, "frame"),))  # fmt: skip
    behind, in_view = split_used(reply)
    assert behind == ()
    assert [each.record_id for each in in_view] == [tea.id]
