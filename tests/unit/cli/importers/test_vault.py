"""Notes in Markdown: what a page says is about the page, and every line is counted."""

from datetime import date

import pytest

from kenobot_importers.vault_page import Page, page_names, read_page


def read(text: str, stem: str = "Ana García", **links: str) -> Page:
    page = read_page(text, stem, links)
    assert page.counts.total() == len(text.splitlines())
    return page


def texts(page: Page) -> list[str]:
    return [fact.text for fact in page.facts]


def test_a_page_of_a_vault() -> None:
    """Front matter, fields, links, tasks and headings say something; comments, queries, tags and pictures do not."""
    page = read(
        '---\naliases: [Ani, "Anita"]\ntags: person\nphone: 612 34 56 78\nkids:\n  - Tom\n  - Eva\n---\n'
        "# Ana García\n\nBirthday: 1 May\nLives in [[Lyon]] with [[People/Tom Smith|Tommy]]. ^abc\n"
        "height:: 170\n\n## Work\n- works at ACME\n"
        "- Email: ana@acme.example\n\n![[ana.png]]\n%% secret\ncomment %%\n```dataview\nLIST\n```\n- [ ] call her\n"
        "- **Notes:**\n{{template}}\n#person #friend\n> [!note] Remember\n> buy milk\n"
    )
    assert (page.title, page.aliases) == ("Ana García", ("Ani", "Anita"))
    assert texts(page) == [
        "phone: 612 34 56 78", "kids: Tom, Eva", "Birthday: 1 May", "Lives in Lyon with Tommy (Tom Smith).",
        "height: 170",
        "Work: works at ACME", "Work: Email: ana@acme.example", "Work: call her", "Work: Remember\nbuy milk",
    ]  # fmt: skip
    assert [fact.category for fact in page.facts if fact.text == "Work: call her"] == ["commitment"]
    assert page.counts["media"] == 1


@pytest.mark.parametrize(
    ("stem", "day"),
    [
        ("2026-02-03", date(2026, 2, 3)), ("2026-02-03 Tuesday", date(2026, 2, 3)), ("20260203", date(2026, 2, 3)),
        ("2026_02_03", date(2026, 2, 3)), ("3.2.2026", date(2026, 2, 3)), ("Ana", None), ("2026-13-40", None),
        ("February 3rd, 2026", date(2026, 2, 3)), ("Feb 3, 2026", date(2026, 2, 3)), ("March madness, 2026", None),
        ("3 de febrero de 2026", date(2026, 2, 3)), ("martes, 3 de febrero de 2026", date(2026, 2, 3)),
        ("3 February 2026", date(2026, 2, 3)), ("Tue 2026-02-03", date(2026, 2, 3)), ("3. März 2026", date(2026, 3, 3)),
        ("Tuesday, February 3, 2026", date(2026, 2, 3)), ("3 mangos 2026", None), ("Room 2026-02", None),
    ],
)  # fmt: skip
def test_a_page_of_a_day_is_about_no_page(stem: str, day: date | None) -> None:
    """Its name is its day."""
    page = read("Met Bo.\n", stem)
    assert (page.day, page.is_about) == (day, day is None and stem != "2026-13-40")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[[Ana]]", "Ana"), ("[[Ana|she]]", "she (Ana)"), ("[[Ana García|Ana]]", "Ana (Ana García)"),
        ("[[Ana#Work]]", "Ana"),
        ("[[#Work]]", "Work"), ("[[Ani]]", "Ani (Ana García)"), ("[x](https://x.example)", "x (https://x.example)"),
        ("a [[b", "a [[b"), ("see ![[p.png]] here", "see  here"), ("x:: y", "x: y"), ("std::vector", "std::vector"),
    ],
)  # fmt: skip
def test_links_are_read_as_they_are_shown(line: str, said: str) -> None:
    """With the page that they name, by an alias too."""
    assert texts(read(f"{line}\n", "Notes", ani="Ana García")) == [said]


def test_code_is_kept_whole_and_a_long_paragraph_in_parts() -> None:
    """Nothing in code is a field, a heading or a comment."""
    assert texts(read("Run:\n```\n# not a heading\n\na: b\n```\n", "Server")) == [
        "Run:\n```\n# not a heading\n\na: b\n```"
    ]
    long = "word " * 2000
    assert "".join(texts(read(f"{long}\n"))).replace(" ", "") == long.replace(" ", "")


@pytest.mark.parametrize(
    "head",
    [
        "a: &x [1]\nb: *x\n",
        "a: [\n",
        "title: Foo: bar\n",
        "a: {b: {c: d}}\n",
        "- 1\n",
        "\tx\n",
        "a: " + "[" * 3000 + "\n",
        "? x\n",
    ],
)
def test_strange_front_matter_costs_no_line(head: str) -> None:
    """References, broken and deep YAML."""
    page = read(f"---\n{head}---\nHello there.\n")
    assert texts(page)[-1] == "Hello there."


def test_a_numbered_page_is_named_by_its_heading() -> None:
    """As notes of a slip box are."""
    assert page_names("# Rye bread\n\nRises long.\n", "202602031200").title == "Rye bread"


def test_pages_of_other_programs_than_obsidian() -> None:
    """Properties of Logseq, and the sign that Notion puts behind names."""
    page = read("alias:: Ani, [[Anita]]\ntags:: person\n- Birthday: 1 May\n  id:: 64a1\n", "Ana")
    assert (page.aliases, texts(page)) == (("Ani", "Anita"), ["Birthday: 1 May"])
    assert page_names("Hi.\n", "Ana 0a1b2c3d4e5f60718293a4b5c6d7e8f9").title == "Ana"


@pytest.mark.parametrize(
    ("stem", "day"),
    [
        ("Retro 2026-02-03", date(2026, 2, 3)), ("2026-W06", date(2026, 2, 2)), ("2026-W99", None), ("Ana", None),
        ("part 12026-02-034", None), ("1st of 2026-13-40", None),
    ],
)  # fmt: skip
def test_a_date_within_a_name_dates_its_lines(stem: str, day: date | None) -> None:
    """And the page is still about what its name says."""
    page = read("Fewer meetings.\n", stem)
    assert (page.day, page.is_about) == (day, True)


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("<< [[2026-02-02]] | [[Daily/2026-02-04|tomorrow]] >>", False), ("[[2026-02-02]]", False),
        ("Birthday:: [[2026-02-02]]", True), ("[[Ana]] | [[2026-02-02]]", True), ("← [[3 de mayo de 2026]] →", False),
    ],
)  # fmt: skip
def test_links_to_other_days_say_nothing(line: str, kept: bool) -> None:
    """Such as the ones above a diary's page."""
    assert bool(texts(read(f"{line}\n"))) is kept


@pytest.mark.parametrize(
    ("line", "said", "category"),
    [
        ("- [ ] call Bo", "call Bo", "commitment"), ("- [/] call Bo", "call Bo", "commitment"),
        ("- [x] call Bo", "call Bo", "fact"), ("- [-] call Bo", "[-] call Bo", "fact"),
        ("- [A] call Bo", "[A] call Bo", "commitment"),
    ],
)  # fmt: skip
def test_what_is_done_or_dropped_is_no_commitment(line: str, said: str, category: str) -> None:
    """Even under a heading of tasks."""
    page = read(f"## Tasks\n{line}\n")
    assert [(fact.text.removeprefix("Tasks: "), fact.category) for fact in page.facts] == [(said, category)]


def test_what_nobody_filled_in_says_nothing() -> None:
    """Neither fields without a value nor a template's marks."""
    assert texts(read("---\nborn: '{{date}}'\n---\nBirthday:\nPhone: \nCity: Kiel\nJob:\n")) == ["City: Kiel"]


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("insurance:\n  company: Mutua\n  numbers: [7, 8]", "insurance: company: Mutua, numbers: 7, 8"),
        ("related: [[Tom Smith]]", "related: Tom Smith"),
        ("note: a: b: c\nkids:\n  - Tom\n  - Eva", "kids: Tom, Eva"),
    ],
)
def test_front_matter_may_nest_and_may_be_no_yaml(head: str, said: str) -> None:
    """What stands below a name is said with it, in a list or with names of its own, and where a colon breaks it."""
    assert said in texts(read(f"---\n{head}\n---\n"))


def test_a_heading_is_said_with_what_is_below_it_or_alone() -> None:
    """It is put before each fact below it, unless it only tells the kind; a sentence with nothing below is a fact."""
    page = read(
        "## Garage\nPlace 47, the spare key is in the drawer.\n\n## Dislikes\n- salted liquorice drops\n"
        "## Decisions\n- We move to Tuesdays for good.\n## The dog is called Trufa\n\n## Best of today?\n\n## Wins\n"
    )
    assert texts(page) == [
        "Garage: Place 47, the spare key is in the drawer.",
        "Dislikes: salted liquorice drops",
        "We move to Tuesdays for good.",
        "The dog is called Trufa",
    ]
    assert page.counts["kept"] == 7


def test_a_drawing_has_texts() -> None:
    """Of a drawing of Excalidraw the texts are facts, and the rest counts as a picture."""
    page = read(
        "---\nexcalidraw-plugin: parsed\n---\n==⚠  Switch to EXCALIDRAW VIEW ⚠==\n\n# Excalidraw Data\n"
        "## Text Elements\nThe pump goes left ^a1\n\n%%\n## Drawing\n```compressed-json\nN4KAk\n```\n%%\n"
    )
    assert (texts(page), page.counts["media"]) == (["The pump goes left"], 6)
