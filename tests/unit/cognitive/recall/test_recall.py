"""Recall: what comes out of memory for a message, in which order, and what does not."""

from datetime import timedelta

import pytest

from kenobot.cognitive.policy import Policy
from kenobot.cognitive.policy.recall import RecallPolicy
from kenobot.cognitive.recall.search.recall import similar_records
from kenobot.core.token_estimate import estimate_tokens
from kenobot.storage.scopes import ALL_SCOPES
from tests.unit.cognitive.recall.house import HERE, Memory


async def test_the_best_match_comes_first(memory: Memory) -> None:
    """What shares the rare words, not what shares the common ones."""
    for number in range(30):
        await memory.learn(f"The project has meeting number {number} in the office")
    await memory.learn("The project uses Kubernetes in the office")
    found = await memory.texts("which project in the office uses kubernetes?")
    assert found[0] == "The project uses Kubernetes in the office"


async def test_one_known_name_in_a_long_message_is_enough(memory: Memory) -> None:
    """People tell of many things, and the one that matters may be a name."""
    await memory.learn("Ana is allergic to peanuts", subject="ana")
    for number in range(50):
        await memory.learn(f"Some note {number} about work and the weekly plans")
    found = await memory.texts(
        "I am planning a mountain trip next week with my sister Ana and wonder what food we should bring along"
    )
    assert found[0] == "Ana is allergic to peanuts"


@pytest.mark.parametrize(
    "query", ["what does Alex’s wife like", "what does Alex's wife like", "tell me of ALEX", "Lex?"]
)
async def test_a_subject_counts_by_whole_words_its_alias_and_in_the_genitive(memory: Memory, query: str) -> None:
    """Not as a part of another word: "al" is not in "personal"."""
    await memory.learn("Collects stamps", subject="Alex", attributes='{"nickname": "Lex"}')
    await memory.learn("Collects nothing", subject="al")
    found = (await memory.recall(query)).memories
    assert [memory.record.text for memory in found] == ["Collects stamps"]
    assert "subject" in found[0].score.parts
    assert await memory.texts("what are my personal goals") == []


@pytest.mark.parametrize("query", ["where do I live?", "¿dónde está mi casa?", "where does Suraj live?"])
async def test_the_speaker_is_a_subject_too(memory: Memory, query: str) -> None:
    """By "I" and "my", in both languages, and by name: memories about them are boosted."""
    await memory.learn("Goes by Suraj", attributes='{"name": "Suraj"}')
    await memory.learn("Home, casa: lives in Lyon")
    best = (await memory.recall(query)).memories
    assert best
    assert all("subject" in each.score.parts for each in best)
    plain = (await memory.recall("home in Lyon?")).memories
    assert all("subject" not in each.score.parts for each in plain)


async def test_a_short_message_borrows_the_words_said_before(memory: Memory) -> None:
    """And says less than the message's own words."""
    await memory.learn("Marta's birthday is on 3 May")
    assert await memory.texts("and hers?") == []
    assert await memory.texts("and hers?", preceding_text="when is the birthday of my friend Marta?") == [
        "Marta's birthday is on 3 May"
    ]


async def test_neighbours_of_the_best_are_found_through_links(memory: Memory) -> None:
    """Of the best three only, at four fifths of their value a step, over links that are sure enough."""
    best = await memory.learn("The wedding is in Toledo")
    near_by = await memory.learn("Book the train early")
    farther = await memory.learn("The dog needs a sitter then")
    doubtful = await memory.learn("Unrelated rumour")
    await memory.link(best, near_by)
    await memory.link(farther, near_by)
    await memory.link(best, doubtful, confidence=0.1)
    found = {each.record.id: each for each in (await memory.recall("where is the wedding?")).memories}
    assert found.keys() == {best, near_by, farther}
    assert found[near_by].score.value == pytest.approx(0.8 * found[best].score.value)
    assert found[farther].score.value == pytest.approx(0.64 * found[best].score.value)
    assert [(edge.src, edge.dst) for edge in found[farther].path] == [(best, near_by), (near_by, farther)]


async def test_no_neighbours_are_read_where_the_prompt_shows_every_memory(memory: Memory) -> None:
    """Only talk is news there, and they would take its places."""
    best, near_by = await memory.learn("The wedding is in Toledo"), await memory.learn("Book the train early")
    await memory.link(best, near_by)
    found = (await memory.recall("where is the wedding?", all_shown=True)).memories
    assert [each.record.id for each in found] == [best]


async def test_neighbours_have_places_when_direct_hits_fill_the_limit(memory: Memory) -> None:
    """However many there are."""
    hits = [await memory.learn(f"Concert {number} tonight at the arena") for number in range(30)]
    for hit in hits:
        linked = await memory.learn(f"Parking {hit} is free on Sundays")
        await memory.link(hit, linked)
    found = (await memory.recall("which concert is at the arena tonight?", limit=8)).memories
    assert len(found) == 8
    assert 1 <= len([each for each in found if each.path]) <= RecallPolicy().reserved_for_linked


async def test_repeats_give_way_to_what_is_new(memory: Memory) -> None:
    """Ten wordings of one fact leave room for another."""
    for number in range(10):
        await memory.learn(f"The server room code is {number} in the cellar")
    await memory.learn("The code for the server is reviewed by Ines")
    assert "The code for the server is reviewed by Ines" in await memory.texts("server code?", limit=3)


async def test_importance_use_and_age_decide_between_equals(memory: Memory) -> None:
    """And an insight counts half."""
    await memory.learn("Tea note: green", days_ago=200)
    await memory.learn("Tea note: black", days_ago=200, importance=1.0)
    await memory.learn("Tea note: white", days_ago=1)
    await memory.learn("Tea note: red", category="insight")
    assert await memory.texts("tea note") == [
        "Tea note: black", "Tea note: white", "Tea note: green", "Tea note: red",
    ]  # fmt: skip


async def test_a_pack_never_exceeds_its_budget_and_cuts_what_is_too_long(memory: Memory) -> None:
    """Even when the best memory alone is longer."""
    await memory.learn("The novel begins: " + "it was a dark and stormy night " * 200)
    pack = await memory.recall("how does the novel begin?", budget=100)
    assert pack.memories[0].line.endswith(" […]")
    assert estimate_tokens("\n".join(each.line for each in pack.memories)) <= pack.tokens <= 100


async def test_a_stranger_to_the_message_is_left_out_and_the_level_says_so(memory: Memory) -> None:
    """none, low, medium, high."""
    await memory.learn("The boiler was serviced in March by Thermo Ltd")
    levels = [
        (await memory.recall(text)).level for text in ("what is the capital of Peru?", "boiler serviced in March?")
    ]
    assert levels == ["none", "high"]
    vague = await memory.recall("the plumber, the painter and the boiler man will send invoices to grandma")
    assert vague.level in ("low", "medium")
    asked = await memory.recall("did the plumber, the painter and the boiler man ever send invoices to grandma?")
    assert asked.level == "none"


async def test_what_is_shown_already_is_not_repeated(memory: Memory) -> None:
    """By the whole item: a memory that is a part of another one's words is still shown."""
    await memory.learn("likes tea")
    shown = "## 10:00 — dislikes tea\n- likes tea with milk\n"
    assert await memory.texts("who likes tea?", prompt_text=shown) == ["likes tea"]
    for item in ("- likes tea\n", "## 10:00 — likes tea\n", "- likes tea _(2026-02-14)_\n"):
        pack = await memory.recall("who likes tea?", prompt_text=shown + item)
        assert (pack.memories, pack.dropped["on show already"]) == ((), 1)


async def test_meanings_count_where_an_embedder_gives_them(memory: Memory) -> None:
    """A record that shares no word is found by how near it is, and two signs are more than one."""
    one = await memory.learn("Feline companion called Misu")
    other = await memory.learn("The cat food is in the cupboard")
    found = (await memory.recall("what is my cat called?", vector_relevance={one: 0.9})).memories
    assert [each.record.id for each in found] == [one, other]
    assert found[0].ways == ("words", "meaning")
    alone = (await memory.recall("mascot?", vector_relevance={one: 0.9, other: 0.1})).memories
    assert [each.record.id for each in alone] == [one]


async def test_nothing_of_another_scope_is_found(memory: Memory) -> None:
    """Nor by its words, its subject, a link, a meaning or a turn."""
    mine = await memory.learn("The orchid blooms")
    theirs = await memory.learn("The orchid of Bea", scope="user:telegram-9", subject="bea")
    await memory.link(mine, theirs)
    await memory.say("My orchid is ill", 7, "telegram-9")
    pack = await memory.recall("Bea's orchid", vector_relevance={theirs: 1.0}, budget=9000)
    assert [each.record.id for each in pack.memories] == [mine]
    assert pack.excerpts == ()
    assert len((await memory.recall("orchid", reach=ALL_SCOPES)).memories) == 2
    assert await memory.texts("orchid", reach=()) == []


async def test_how_common_a_word_is_elsewhere_changes_nothing(memory: Memory) -> None:
    """Another person's memory cannot be sounded by how mine is ranked."""
    await memory.learn("The orchid blooms in May")
    await memory.learn("Some other note of mine")
    before = (await memory.recall("orchid in May")).memories
    for number in range(40):
        await memory.learn(f"orchid May {number}", scope="user:telegram-9")
    assert (await memory.recall("orchid in May")).memories == before


@pytest.mark.parametrize("text", ["ok", "¡Gracias!", "👍", "", "  ", "vale, perfecto", "thanks!"])
async def test_an_acknowledgement_recalls_nothing(memory: Memory, text: str) -> None:
    """It is no question, and costs nothing."""
    await memory.learn("thanks ok vale perfecto gracias 👍")
    pack = await memory.recall(text)
    assert (pack.need, pack.memories) == ("no_recall", ())


async def test_an_order_to_a_machine_gets_a_smaller_part(memory: Memory) -> None:
    """Less room, but what is about it still comes."""
    for number in range(20):
        await memory.learn(f"The gateway has port {number}")
    pack = await memory.recall("restart the gateway")
    assert pack.need == "minimal"
    assert 0 < len(pack.memories) <= int(RecallPolicy().limit * RecallPolicy().minimal_share)


async def test_what_expired_is_hidden_before_anybody_has_swept(memory: Memory) -> None:
    """And so is what has faded away."""
    past = (memory.now - timedelta(days=1)).isoformat()
    await memory.learn("The voucher code is A", expires=past)
    await memory.learn("The voucher code is B", days_ago=900, source="extraction", confidence=0.3)
    pack = await memory.recall("voucher code")
    assert pack.memories == ()
    assert {name: pack.dropped[name] for name in ("expired", "faded")} == {
        "expired": 1,
        "faded": 1,
    }


async def test_stale_memories_can_be_left_out(memory: Memory) -> None:
    """A switch of the policy; records without a state are not concerned."""
    await memory.learn("The visa rule is old", lifecycle="stale")
    await memory.learn("The visa rule is new", lifecycle="")
    strict = Policy(recall=RecallPolicy(hide_stale=True))
    assert len(await memory.texts("visa rule")) == 2
    assert await memory.texts("visa rule", policy=strict) == ["The visa rule is new"]


async def test_an_owners_word_is_recalled_after_two_years(memory: Memory) -> None:
    """However long nobody asked."""
    await memory.learn("The safe opens with the blue key", days_ago=730)
    assert await memory.texts("how does the safe open?") == ["The safe opens with the blue key"]


async def test_what_people_said_of_a_memory_moves_it(memory: Memory) -> None:
    """A yes lifts it over its equal, a no sinks it."""
    liked = await memory.learn("The lasagne recipe of aunt Rosa", days_ago=3)
    await memory.learn("The lasagne recipe of the book", days_ago=2)
    await memory.change(liked, "confirmed")
    assert (await memory.texts("lasagne recipe"))[0] == "The lasagne recipe of aunt Rosa"
    await memory.change(liked, "disputed")
    await memory.change(liked, "disputed")
    assert (await memory.texts("lasagne recipe"))[0] == "The lasagne recipe of the book"


async def test_near_finds_records_by_words_for_whoever_edits_memory(memory: Memory) -> None:
    """Live ones within reach, the nearest first."""
    first = await memory.learn("I take the 8:15 train to Atocha")
    await memory.learn("The train set is in the attic")
    await memory.learn("I take the 8:15 train to Atocha, says a guest", scope="user:telegram-9")
    found = await memory.database.read(
        lambda c: similar_records(c, memory.index, "the train to Atocha", ("owner", HERE), 1)
    )
    assert found == [first]


@pytest.mark.parametrize(
    ("told", "newer", "fact", "asks"),
    [
        ("My boss is Gwen", "My new boss is Rashid", "Rashid hates long slides", "what does my boss hate?"),
        ("Mi jefa se llama Olaia", "Mi jefe es Arturo Bello", "Arturo colecciona relojes", "¿qué colecciona mi jefe?"),
        ("My husband Declan is an engineer", "The tram is late", "Declan sold the van", "¿Qué ha hecho mi marido?"),
    ],
)
async def test_a_relation_means_whom_memory_says(memory: Memory, told: str, newer: str, fact: str, asks: str) -> None:
    """The newest that says so, in whichever language it was told."""
    await memory.learn(told, days_ago=9)
    await memory.learn(newer, days_ago=5)
    await memory.learn(fact, days_ago=3)
    pack = await memory.recall(asks)
    assert fact in [each.record.text for each in pack.memories]
    known = fact.split(maxsplit=1)[0].lower()
    assert any(known.startswith(word) or word.startswith(known[:5]) for word in pack.query_terms)


async def test_somebody_elses_relations_mean_nobody(memory: Memory) -> None:
    """What another person's memory says of their husband is theirs."""
    await memory.learn("My husband Declan is a sound engineer", scope="user:telegram-9")
    pack = await memory.recall("where is my husband?")
    assert "declan" not in pack.query_terms


@pytest.mark.parametrize("kind", ["time", "member"])
@pytest.mark.parametrize(
    ("told", "strange", "fitting", "question"),
    [
        (
            "I have a dentist appointment on Thursday",
            "My bank card ends in 4471",
            "The appointment costs 80 euros",
            "what about the dentist?",
        ),
        ("Tengo cita con el dentista", "Mi tarjeta acaba en 4471", "La cita cuesta 80 euros", "¿qué hay del dentista?"),
    ],
)
async def test_what_was_only_told_in_the_same_hour_is_not_brought(
    memory: Memory, kind: str, told: str, strange: str, fitting: str, question: str
) -> None:
    """Links lead on by topic: to what shares a word with the message, or with what was found."""
    first, other, near = [await memory.learn(text) for text in (told, strange, fitting)]
    box = await memory.learn("a box", form="box") if kind == "member" else first
    for record in (first, other, near) if kind == "member" else (other, near):
        await memory.link(record, box, kind)
    assert await memory.texts(question) == [told, fitting]
