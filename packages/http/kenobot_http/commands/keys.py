"""`kenobot http key`: the keys of the REST API."""

from kenobot.cli import options
from kenobot.cli.context import CommandContext
from kenobot.cli.language import say
from kenobot.cli.table import print_table
from kenobot.storage import api_keys, approved_people
from kenobot_http.api.scopes import DEFAULT_SCOPES, OWNER_ONLY, SCOPES, new_secret
from kenobot_http.settings import CHANNEL, HttpSettings

_LONGEST_NAME = 64
_SPEAKS = (
    "With the scope messages whoever has it speaks as you, and may give commands such as /forget and /approve: "
    "keep it as you keep a password."
)


def add(context: CommandContext) -> int:
    name, user, wanted = context.args.name, context.args.user, context.args.scope or DEFAULT_SCOPES
    scopes = frozenset(SCOPES if "all" in wanted else wanted)
    if not name.strip() or len(name) > _LONGEST_NAME:
        return options.print_failure(
            say("A key needs a name of 1 to {longest_name} characters.", longest_name=_LONGEST_NAME), options.FAILED
        )
    settings = context.loaded.plugin_settings("kenobot.channels", CHANNEL, HttpSettings)
    context.make_home()
    secret = new_secret()
    with context.write() as connection:
        approved = any(p.account == (CHANNEL, user) for p in approved_people.list_people(connection))
        if user not in settings.owners and user not in settings.allowed_users and not approved:
            return options.print_failure(
                say(
                    "{user} is nobody on the channel http: put that name into channels.http.allowed_users first.",
                    user=repr(user),
                ),
                options.FAILED,
            )
        if user not in settings.owners:
            if kept := ", ".join(sorted(OWNER_ONLY.intersection(wanted))):
                return options.print_failure(
                    say(
                        "{user} is a guest, whose key cannot open {kept}: leave that out, or make a key of the "
                        "owner's.",
                        user=repr(user),
                        kept=kept,
                    ),
                    options.FAILED,
                )
            scopes -= OWNER_ONLY
        key = api_keys.add_key(connection, name, secret, user, scopes, context.now)
    if key is None:
        return options.print_failure(
            say("There is a key {name} already: revoke it first.", name=repr(name)), options.FAILED
        )
    row = {"name": key.name, "user": key.user, "scopes": sorted(key.scopes), "key": secret}
    told = say("The key of {name}, shown this once; it opens {scopes}:", name=key.name, scopes=", ".join(row["scopes"]))
    if user in settings.owners and "messages" in key.scopes:  # beside the key, which a script reads
        options.print_failure(_SPEAKS)
    return options.print_row(row, context.args.json, f"{told}\n{secret}")


def list_(context: CommandContext) -> int:
    with context.read() as connection:
        keys = api_keys.list_keys(connection)
    rows = [{"name": k.name, "user": k.user, "scopes": sorted(k.scopes), "created": k.created} for k in keys]
    if context.args.json or not rows:
        return options.print_rows(rows, context.args.json, str, "There is no key yet: `kenobot http key add NAME`.")
    table = [(k.name, k.user, ", ".join(sorted(k.scopes)), context.local_time(k.created)) for k in keys]
    print_table(("name", "user", "opens", "since"), table)
    return 0


def revoke(context: CommandContext) -> int:
    name = context.args.name
    with context.write() as connection:
        gone = api_keys.revoke_key(connection, name)
    if not gone:
        return options.print_failure("There is no key of that name: see `kenobot http key list`.")
    print(say("Revoked: {name}", name=name))
    return 0
