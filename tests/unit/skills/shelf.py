"""Skills on disk for tests."""

from pathlib import Path

PAGE = "---\nname: {name}\ndescription: {description}\n---\n\n{body}\n"


def put_skill(
    skills: Path, name: str, body: str = "# How\nDo it.", description: str = "Does it.", **files: str
) -> Path:
    """Write a skill; further files by their names, in which `__` stands for a dot."""
    folder = skills / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(PAGE.format(name=name, description=description, body=body), "utf-8")
    for path, text in files.items():
        (folder / path.replace("__", ".")).write_text(text, "utf-8")
    return folder
