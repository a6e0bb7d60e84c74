"""Ask a person in plain terms and in their language. Enter keeps what there is."""

import getpass
import os
import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from importlib import resources

from pydantic import BaseModel, SecretStr, ValidationError

from kenobot.cli.language import translate
from kenobot.cli.setup.changes import SetupChanges
from kenobot.cli.setup.live_checks import CheckState, LiveCheck
from kenobot.core import plugins
from kenobot.core.i18n import Language, terminal_language
from kenobot.core.redaction import one_line

_WORDS: Mapping[str, Mapping[Language, str]] = tomllib.loads(
    resources.files(__package__).joinpath("words.toml").read_text("utf-8")
)
MARKS: Mapping[CheckState, str] = {"ok": "✓", "unreachable": "!", "held": "✗", "refused": "✗"}


class Dialog:
    """Questions and answers; what is answered goes to `changes`."""

    def __init__(self, changes: SetupChanges) -> None:
        self.changes = changes

    @property
    def language(self) -> Language:
        """The language that the bot is to speak; until it is one, the terminal's."""
        chosen = self.changes.values.get(("bot", "language"), self.changes.loaded.settings.bot.language)
        if chosen not in {"en", "es"}:
            return terminal_language(os.environ)
        return "es" if chosen == "es" else "en"

    def word(self, what: str, **parts: object) -> str:
        """Return a text of words.toml with its parts filled in."""
        return _WORDS[what][self.language].format(**parts)

    def tell(self, what: str, **parts: object) -> None:
        """Print a text of words.toml."""
        print(self.word(what, **parts))

    def translated(self, sentence: str) -> str:
        """Translate a sentence of another room."""
        return translate(sentence, self.language)

    def refuse(self, why: str) -> None:
        """Say why an answer will not do."""
        self.tell("no", why=self.translated(why))

    def show(self, check: LiveCheck) -> None:
        """Print the result of a check."""
        print(f"  {MARKS[check.state]} {self.translated(check.text)}")

    def show_repair(self) -> None:
        """Print what is wrong in kenobot.toml, and what would come of it."""
        repair = self.changes.repair
        if repair is None:
            return
        self.tell("broken")
        for mistake in repair.mistakes:
            print(f"  {MARKS['refused']} {one_line(self.translated(mistake))}")
        lines = ", ".join(f"{number} ({key})" if key else f"{number}" for number, key in repair.lines)
        self.tell("broken_lines" if lines else "broken_whole", lines=one_line(lines))
        self.tell("broken_copy", copy=one_line(str(repair.copy)))

    def show_bad_credentials(self) -> None:
        """Print which credential files cannot be used, why, and what comes of them."""
        for bad in self.changes.bad:
            self.tell("bad_credential", file=one_line(bad.path.name))
            for mistake in bad.mistakes:
                print(f"  {MARKS['refused']} {one_line(self.translated(mistake))}")
            self.tell("bad_credential_aside", aside=one_line(str(bad.aside)))

    def agreed(self, question: str, *, default: bool, **parts: object) -> bool:
        """Ask for a yes or a no."""
        answer = self.answered(question, self.mark(yes=default), **parts).lower()[:1]
        return answer in {"y", "s"} if answer else default

    def mark(self, *, yes: bool) -> str:
        """Return what stands for a yes or a no."""
        return ("s" if self.language == "es" else "y") if yes else "n"

    def answered(self, question: str, current: str, **parts: object) -> str:
        """Ask, with the current answer in brackets. Returns "" for Enter. Raises EOFError."""
        return input(_with_default(self.word(question, **parts), current)).strip()

    def typed(self, question: str, current: str, check: Callable[[str], str | None]) -> str:
        """Ask until the answer will do; "" keeps what there is."""
        while answer := input(_with_default(question, current)).strip():
            if (why := check(answer)) is None:
                return answer
            self.refuse(why)
        return ""

    def hidden(self, question: str, check: Callable[[str], str | None], *, is_set: bool) -> str:
        """Ask for a secret, which is not shown, until it will do; "" keeps what there is."""
        while answer := getpass.getpass(_with_default(question, self.word("set") if is_set else "")).strip():
            if (why := check(answer)) is None:
                return answer
            self.refuse(why)
        return ""

    def value(self, section: str, key: str, current: str, check: Callable[[str], str | None], **parts: object) -> None:
        """Ask for the value of a setting until it will do. check: returns why one will not."""
        current = str(self.changes.values.get((section, key), current))
        while answer := self.answered("provider" if section == "provider" else key, current, **parts):
            why = check(answer)
            if why is None:
                if answer != current:
                    self.changes.values[section, key] = answer
                return
            self.refuse(why)

    def secret(self, file: str, where: tuple[plugins.PluginGroup, str, str], **parts: object) -> None:
        """Ask for a secret, which is not shown, until it has the form of one. file: of credentials/."""
        group, plugin, key = where
        settings = self.changes.loaded.catalogue.load(group, plugin).settings
        current = self.changes.loaded.settings.plugin_tables(group).get(plugin, {}).get(key)
        is_set = file in self.changes.secrets or isinstance(current, SecretStr)
        question = self.word("api_key" if parts else file, **parts)
        if answer := self.hidden(question, partial(complaint, settings, key), is_set=is_set):
            self.changes.secrets[file] = answer


def _with_default(question: str, current: str) -> str:
    """Write a question, with what Enter answers in brackets where there is that."""
    return f"{question} [{current}]: " if current else f"{question}: "


def complaint(settings: type[BaseModel], key: str, answer: object) -> str | None:
    """Return what is wrong with the value of a key; None when nothing is."""
    try:
        settings.model_validate({key: answer})
    except ValidationError as error:
        wrong = next((detail for detail in error.errors() if detail["loc"] == (key,)), None)
        return str(wrong.get("ctx", {}).get("error") or wrong["msg"]) if wrong is not None else None
    return None
