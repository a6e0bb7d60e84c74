"""Check what a bot depends on beside its home: plugins, keys and services, the system's service, and who may talk."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from kenobot.app.plugin_report import plugin_rows, try_build
from kenobot.cli.context import CommandContext
from kenobot.cli.doctor.findings import Finding
from kenobot.cli.language import say, word_error
from kenobot.cli.setup import service_check
from kenobot.core.plugins import KINDS
from kenobot.core.settings.home import AlreadyLocked
from kenobot.core.settings.sources import is_secret
from kenobot.ports.errors import KenobotError
from kenobot.providers.openai_compatible import PRESETS


def check_plugins(context: CommandContext) -> Iterator[Finding]:
    """Yield every plugin that is on, as a start builds it."""
    loaded = context.loaded
    unusable = list(_find_unusable(context))
    advice = say("Correct its settings: `kenobot config` shows them, `kenobot setup` asks for what is missing.")
    for name, why in unusable:
        yield Finding("plugins", "error", say("{name} cannot be used: {why}", name=name, why=why), advice)
    broken = try_build(loaded, context.plugin_context)
    rows = [
        row
        for row in plugin_rows(loaded.settings, loaded.catalogue, broken)
        if not (row.shipped and row.kind == KINDS["kenobot.tools"])  # which are checked as tools
    ]
    for row in rows:
        if row.state == "broken":
            text = say("The plugin {name} is off: {why}", name=row.name, why=row.why)
            yield Finding(
                "plugins", "warning", text, say("See `kenobot plugins`; switch it off in the settings, or mend it.")
            )
    foreign = sorted({row.name for row in rows if row.state == "on" and not row.shipped})
    if foreign:
        text = say("Plugins that do not ship with KenoBot run with its rights: {names}", names=", ".join(foreign))
        yield Finding("plugins", "note", text, say("Leave on only those whose code you trust."))
    if not unusable and not any(row.state == "broken" for row in rows):
        yield Finding("plugins", "ok", say("Every plugin that is on can be built."))


def check_access(context: CommandContext) -> Iterator[Finding]:
    """Check whether each channel has an owner."""
    loaded = context.loaded
    for name in loaded.settings.channels.enabled:
        table = loaded.settings.plugin_tables("kenobot.channels").get(name, {})
        model = loaded.catalogue.load("kenobot.channels", name).settings
        owners = model.model_fields.get("owners")
        if name == "console" or owners is None or table.get("owners", owners.get_default(call_default_factory=True)):
            continue
        text = say("The channel {name} has no owner: nobody can approve others there, or hears of problems.", name=name)
        yield Finding("access", "warning", text, say("Put your id into `owners` of [channels.{name}].", name=name))


def check_secrets(context: CommandContext) -> Iterator[Finding]:
    """Check where secrets are kept."""
    stray = sorted(key for key, origin in context.loaded.origins.items() if _is_stray(key, origin))
    for key in stray:
        text = say("{key} stands in kenobot.toml, which is easily shown or copied.", key=key)
        advice = say("Move it into a file of its own: credentials/{key}, readable by its owner only.", key=key)
        yield Finding("secrets", "warning", text, advice)
    if not stray:
        yield Finding("secrets", "ok", say("No secret stands in kenobot.toml."))


def check_exposure(context: CommandContext) -> Iterator[Finding]:
    """Check what of the bot the network can reach."""
    settings = context.loaded.settings
    if "http" not in settings.channels.enabled:
        return
    table = settings.plugin_tables("kenobot.channels").get("http", {})
    host = str(table.get("host", "127.0.0.1"))
    if host not in ("127.0.0.1", "::1", "localhost"):
        text = say("The channel http listens on {host}: others of the network reach it, unencrypted.", host=host)
        advice = say("Put a proxy with TLS before it and set channels.http.host to 127.0.0.1.")
        yield Finding("exposure", "warning", text, advice)
    else:
        yield Finding("exposure", "ok", say("The channel http is reachable from this machine alone."))


def check_services(context: CommandContext) -> Iterator[Finding]:
    """Check whether the platforms and models answer, and take the keys."""
    settings = context.loaded.settings
    asked = []
    if "telegram" in settings.channels.enabled:
        table = settings.plugin_tables("kenobot.channels").get("telegram", {})
        asked.append(
            ("Telegram", "telegram_token", table.get("token"), table.get("base_url", "https://api.telegram.org/bot"))
        )
    for name in dict.fromkeys(settings.list_enabled_plugins("kenobot.providers")):
        table = settings.plugin_tables("kenobot.providers").get(name, {})
        base = table.get("base_url") or (PRESETS[name].base_url if name in PRESETS else "")
        if name == "anthropic":
            asked.append((name, "anthropic_api_key", table.get("api_key"), base or "https://api.anthropic.com"))
        elif base:
            asked.append((name, name, table.get("api_key"), base))
    unusable = {name for name, _ in _find_unusable(context)}
    for name, kind, secret, base in asked:
        key = _reveal(secret)
        if key or name.casefold() not in unusable:  # one that lacks its key is named with the plugins
            yield _answer(name, service_check.is_refused(kind, key, str(base)), str(base))


def check_running(context: CommandContext) -> Iterator[Finding]:
    """Check whether a bot runs in the home."""
    try:
        with context.home.lock():
            pass
    except AlreadyLocked as error:
        yield Finding("running", "ok", say("The bot is running (process {number}).", number=error.holder))
    else:
        text = say("The bot is not running.")
        yield Finding(
            "running", "note", text, say("Start it with `kenobot run`, or as a service: `kenobot service install`.")
        )


def _find_unusable(context: CommandContext) -> Iterator[tuple[str, str]]:
    """Yield what a start needs and cannot be built, with the reason."""
    loaded = context.loaded
    for group in KINDS:
        for name in dict.fromkeys(loaded.settings.list_enabled_plugins(group)):
            if loaded.catalogue.may_lack(group, name):
                continue
            try:
                loaded.build_plugin(group, name, context.plugin_context)
            except KenobotError as error:
                yield name, word_error(error)


def _answer(name: str, is_refused: bool | None, base: str) -> Finding:
    where = urlsplit(base).hostname or base
    if is_refused is None:
        text = say("{name} does not answer at {where}.", name=name, where=where)
        return Finding(
            "services", "warning", text, say("Check the network and its address; the bot tries on by itself.")
        )
    if is_refused:
        text = say("{name} refuses the key.", name=name)
        return Finding("services", "error", text, say("Get a new one and put it in with `kenobot setup`."))
    return Finding("services", "ok", say("{name} answers and takes the key.", name=name))


def _is_stray(key: str, origin: str) -> bool:
    return origin.startswith("file ") and is_secret(key.rpartition(".")[2])


def _reveal(secret: object) -> str:
    reveal = getattr(secret, "get_secret_value", None)
    return str(reveal() if reveal is not None else secret or "").strip()
