"""Paths in a workspace, and names of repositories."""

from kenobot.ports.errors import ToolFailed
from kenobot.tools.workspace.paths import parse_path
from kenobot.tools.workspace.repository import parse_repository
from tests.conformance.cases import Adapter, Case, Checked, Compared, Outcome


def safe_path(case: Case) -> Outcome:
    """The original returns the whole path; here it is names, from the workspace down."""
    base, path = case.input["base"], case.input["path"]
    try:
        found: object = "/".join((base, *parse_path(path, base)))
    except ToolFailed:
        found = {"error": f"Path traversal blocked: {path}"}
    return Compared(found, case.expected)


def parse_repo(case: Case) -> Outcome:
    """The original lets names through that lead out of the folder of clones."""
    try:
        parsed = parse_repository(case.input or "")
        found: object = {"owner": parsed.owner, "name": parsed.name}
    except ToolFailed:
        found = {
            "error": f'Invalid repo format: "{"null" if case.input is None else case.input}". Expected "owner/repo".'
        }
    if case.quirk:
        return Checked(found, {"it is refused": isinstance(found, dict) and "error" in found})
    return Compared(found, case.expected)


ADAPTERS: dict[str, Adapter] = {"safe_path": safe_path, "motor.parse_repo": parse_repo}
