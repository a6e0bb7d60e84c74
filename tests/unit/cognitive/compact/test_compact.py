"""The parts of compaction by themselves: what must not get lost, the summary by rules, its record, the self-check."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kenobot.cognitive.compact import prompt
from kenobot.cognitive.policy.remember import CompactPolicy
from kenobot.core.token_estimate import estimate_tokens
from kenobot.language import sentence_content
from kenobot.language.quoting import find_quotations
from kenobot.language.sentence_content import TextCoverage
from kenobot.language.summary import rule_summary, self_check
from kenobot.language.summary.digest import (
    MISSING_LABEL,
    Digest,
    SummaryLine,
    parse_digest,
    render_digest,
    trim_digest,
)
from kenobot.ports.identity import Trust
from kenobot.ports.turns import ConversationTurn
from tests.memory_rows import open_memory, put_record

ZONE = ZoneInfo("Europe/Madrid")
AT = datetime(2026, 2, 14, 12, tzinfo=UTC)
POLICY = CompactPolicy()
TRUSTS = st.sampled_from(["owner", "guest", "forward", "model", "tool"])
TEXT = (
    st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=40)
    .map(str.strip)
    .filter(bool)
)


def turn(text: str, answer: str = "", *, last: int = 2, inbox: int = 1, trust: Trust = "owner") -> ConversationTurn:
    return ConversationTurn(last, inbox, text, answer, AT, trust, "owner")


# ── what must not get lost ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text",
    [
        "Hemos decidido usar Postgres", "Al final nos quedamos con el piso de Ruzafa", "We agreed to meet at nine",
        "Let's go with the blue one", "Quedamos en vernos el lunes", "I'll take the early train",
    ],
)  # fmt: skip
def test_decisions_are_told(text: str) -> None:
    """In both languages, as people say it."""
    assert sentence_content.is_decision(text)
    assert not sentence_content.is_decision("Qué bonito día, the weather is nice")


@pytest.mark.parametrize(
    "text",
    [
        "Todavía no sé si viene Álvaro", "Falta confirmar el hotel", "We still need to book the hotel", "Ya veremos",
        "I don't know yet", "Tengo que llamar al fontanero", "pendiente: la factura",
    ],
)  # fmt: skip
def test_open_things_are_told(text: str) -> None:
    """What is to be done, known or decided."""
    assert sentence_content.is_open(text)
    assert not sentence_content.is_open("Ayer llamé al fontanero y vino")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ayer vino Marta Ruiz con Álvaro", ["Marta Ruiz", "Álvaro"]),
        ("Marta Ruiz vino ayer", ["Marta Ruiz"]),
        ("I met Ana on Monday in New York", ["Ana", "New York"]),
        ("Вчера приехала Анна Петрова", ["Анна Петрова"]),
        ("昨天小明来了", []),
    ],
)
def test_names_are_told_by_their_capitals(text: str, names: list[str]) -> None:
    """Days, months and the first word of a sentence are no names."""
    assert [*sentence_content.names(text)] == names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cuesta 4.500 € y mide 12 cm", ["4.500 €", "12 cm"]),
        ("tengo 3 hijos", ["3 hijos"]),
        ("el 14 de junio a las 20:30", ["20:30"]),
        ("预算 4500", ["4500"]),
        ("1", []),
    ],
)
def test_numbers_come_with_what_they_count(text: str, found: list[str]) -> None:
    """A day is no number, and a lone digit tells nothing."""
    assert [*sentence_content.numbers(text)] == found


def test_a_day_is_kept_in_whatever_spelling() -> None:
    """14 de junio and 2026-06-14 are one day; another day is not."""
    kept = TextCoverage(["la boda es el 2026-06-14"], date(2026, 2, 14), 0.6)
    assert ("date", "14 de junio") in kept
    assert ("date", "15 de junio") not in kept


# ── by rules ─────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(st.tuples(TEXT, TEXT), max_size=12), st.integers(0, 200))
def test_a_summary_by_rules_keeps_to_its_room(said: list[tuple[str, str]], room: int) -> None:
    """Whatever was said, in whatever script; every line is one line and comes from the talk."""
    turns = [turn(text, answer, last=2 * at, inbox=at) for at, (text, answer) in enumerate(said, 1)]
    found = rule_summary.summarize(Digest(), turns, room, ZONE)
    assert sum(estimate_tokens(line.text) for line in found) <= room
    assert all("\n" not in line.text for line in found)
    assert [line.turns[0] for line in found] == sorted(line.turns[0] for line in found)


def test_what_matters_outlives_what_is_newer() -> None:
    """An old decision stays when there is room for one line only; small talk never pushes it out."""
    first = rule_summary.summarize(Digest(), [turn("Hemos decidido usar Postgres para Andrómeda")], 40, ZONE)
    later = rule_summary.summarize(
        Digest(tuple(first)), [turn("qué calor hace hoy", inbox=2), turn("uf", inbox=3)], 30, ZONE
    )
    assert [line.text for line in later] == [line.text for line in first]


def test_what_was_put_right_is_told_as_it_is_now() -> None:
    """A correction stands in the summary above all; what it corrects does not, nor is that listed as missing."""
    turns = [
        turn("El alquiler son 850 al mes", "Vale.", last=2, inbox=1),
        turn("Hoy hace sol y he paseado por el parque con calma", "Qué bien.", last=4, inbox=2),
        turn("Corrijo lo de antes: el alquiler son 870", "Anotado.", last=6, inbox=3),
    ]
    lines = rule_summary.summarize(Digest(), turns, 30, ZONE)
    assert [line.text for line in lines][-1:] == ["2026-02-14 Corrijo lo de antes: el alquiler son 870"]
    assert not any("850" in line.text for line in lines)
    found = self_check.find_gaps(turns, Digest(tuple(lines)), lambda *_: [], ZONE)
    assert not any("850" in gap.text for gap in found)
    again = rule_summary.summarize(Digest(tuple(lines)), [turn("No, el alquiler son 890", last=8, inbox=4)], 60, ZONE)
    assert [line.text for line in again] == ["2026-02-14 No, el alquiler son 890"]


def test_an_answer_that_repeats_the_person_stays_out() -> None:
    """The bot's echo of what was said takes no room; what the answer adds is told."""
    answer = "Apuntado: cenas con Marta el sábado 28. Reservé en Casa Lola a las 21:00."
    lines = rule_summary.summarize(Digest(), [turn("Apunta que ceno con Marta el sábado 28", answer)], 200, ZONE)
    told = [line.text for line in lines]
    assert any("Casa Lola" in text for text in told)
    assert sum("Marta" in text for text in told) == 1


def test_a_question_that_was_not_answered_is_open() -> None:
    """It weighs more than one that was."""
    asked = "¿A qué hora abre la tienda?"
    unanswered = rule_summary.summarize(
        Digest(), [turn(asked, "No lo sé."), turn(asked.replace("tienda", "panadería"), "A las 8.")], 30, ZONE
    )
    assert "tienda" in unanswered[0].text


def test_quoted_words_are_not_the_speakers() -> None:
    """What stands behind `>` was written by somebody else."""
    found = rule_summary.summarize(
        Digest(), [turn("Mira:\n> We decided to fire everybody\n\nQué opinas, Marta Ruiz?")], 200, ZONE
    )
    trusts = {line.text.partition(" ")[2]: line.trust for line in found}
    assert trusts["We decided to fire everybody"] == "forward"


def test_what_was_answered_of_a_tools_result_keeps_its_trust() -> None:
    """It tells what stands on a page, and not what the assistant knows."""
    asked = turn("What do they say about it?", "They decided to move to Vigo on 3 May.")
    for trust in ("model", "tool"):
        found = rule_summary.summarize(Digest(), [replace(asked, answer_trust=trust)], 200, ZONE)
        assert {line.trust for line in found if "(answered)" in line.text} == {trust}


# ── the record ───────────────────────────────────────────────────────────────────────────────────────────────────

LINES = st.lists(
    st.builds(SummaryLine, TEXT.filter(lambda text: not text.startswith(("- ", MISSING_LABEL.strip()))), TRUSTS),
    max_size=8,
)
ITEMS = st.lists(st.builds(SummaryLine, TEXT.filter(lambda text: "·" not in text), TRUSTS), max_size=5)


@given(LINES, ITEMS)
def test_a_summary_comes_back_from_its_record(lines: list[SummaryLine], missing: list[SummaryLine]) -> None:
    """Lines, whose word each is, what is missing and how far it reaches."""
    digest = Digest(tuple(lines), tuple(missing), 12, "2026-02-14T12:00:00+00:00")
    with open_memory() as connection:
        record = put_record(connection, digest.text or "x", attributes=json.dumps(digest.attributes), trust="forward")
    back = parse_digest(record)
    if lines or missing:
        assert back.lines == digest.lines
        assert sorted(map(str, back.missing)) == sorted(map(str, digest.missing))
    assert (back.last_message, back.last_message_at) == (digest.last_message, digest.last_message_at)
    edited = parse_digest(record._replace(text=f"{record.text}\n- one more"))
    assert {line.trust for line in (*edited.lines, *edited.missing)} == {"forward"}


@given(LINES, ITEMS, st.integers(0, 120))
def test_a_summary_is_cut_from_its_oldest_end(
    lines: list[SummaryLine], missing: list[SummaryLine], tokens: int
) -> None:
    """Within any room, and what stays are the newest lines."""
    cut = trim_digest(Digest(tuple(lines), tuple(missing)), tokens)
    assert cut.size <= tokens or not (cut.lines or cut.missing)
    assert cut.lines == tuple(lines)[len(lines) - len(cut.lines) :]


@given(LINES)
def test_others_words_are_quoted_where_a_prompt_finds_them(lines: list[SummaryLine]) -> None:
    """Each line of a stranger's is told as such, and none of it stands outside a quotation."""
    shown = render_digest(Digest(tuple(lines)))
    foreign = {line.trust for line in lines} - {"owner", "model"}
    assert {trust for trust, _ in find_quotations(shown)} >= foreign
    for trust in foreign:
        said = "\n".join(text for found, text in find_quotations(shown) if found == trust)
        for line in lines:
            assert line.trust != trust or line.text in said.replace("\\", "") or "”" in line.text or "\\" in line.text


# ── a model's answer ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "answer",
    ["", "NONE", "[]", '{"lines": []}', '{"lines": "all"}', '{"lines": [{"text": " … "}]}', '{"lines": [1, null]}'],
)
def test_what_is_no_summary_is_none(answer: str) -> None:
    """Excuses, other shapes and lines without a word."""
    assert prompt.parse_lines(answer, 0, 1, POLICY) is None


def test_an_answer_is_read_with_its_evidence() -> None:
    """Fences and prose around it do no harm; numbers that name nothing are left out; a secret is blotted out."""
    item = {
        "text": "The key is\nsk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789",
        "turns": [1, 7, True],
        "summary": 2,
    }
    [line] = prompt.parse_lines(f"Here it is:\n```json\n{json.dumps({'lines': [item]})}\n```", 2, 3, POLICY) or []
    assert (line.turns, line.summary) == ((0,), (1,))
    assert "abcdefghij" not in line.text
    assert "\n" not in line.text


# ── the self-check ───────────────────────────────────────────────────────────────────────────────────────────────


def test_each_kind_of_loss_is_found() -> None:
    """A decision, something open, a fact, a day, a number, a name: each once, with the turn that said it."""
    turns = [
        turn("Hemos decidido vender la furgoneta. Falta confirmar el seguro. Trabajo en Acme.", inbox=4),
        turn("Qué risa el 3 de marzo con los 12 de siempre y con Julia. También Julia.", inbox=5),
    ]
    found = self_check.find_gaps(turns, Digest(), lambda _turn, _sentence: (), ZONE)
    assert {(gap.kind, gap.turn) for gap in found} == {
        ("decision", 4), ("open", 4), ("fact", 4), ("date", 5), ("number", 5), ("name", 5),
    }  # fmt: skip
    assert sum(gap.text == "Julia" for gap in found) == 1


def test_the_list_is_bounded_and_says_what_it_lacks() -> None:
    """The newest stay; what does not fit is counted."""
    found = [self_check.Gap("name", f"Name{number}", "owner", number) for number in range(40)]
    digest, unlisted = self_check.add_missing(Digest((SummaryLine("x", "owner"),)), found, 30)
    assert sum(estimate_tokens(item.text) for item in digest.missing) <= 30
    assert digest.missing[-1].text == "Name39"
    assert unlisted == 40 - len(digest.missing)


def test_what_the_summary_says_by_now_leaves_the_list() -> None:
    """A later summary may take up what an earlier one lost."""
    digest = Digest(
        (SummaryLine("Julia came", "owner"),), (SummaryLine("Julia", "owner"), SummaryLine("Marta", "owner"))
    )
    assert [item.text for item in self_check.add_missing(digest, [], 100)[0].missing] == ["Marta"]
