"""The experts of a night can be switched off, each with its passes; rules then decide as without a model."""

from collections.abc import Iterator

from kenobot.cognitive.sleep import night
from kenobot.cognitive.sleep.plan.changes import Change
from kenobot.cognitive.sleep.plan.passes import ModelQuestion, NightView, Pass
from kenobot.storage.connection import Connection
from tests.unit.cognitive.sleep.nights import view_of

_ASKS = ModelQuestion("system", "text")


def test_a_pass_by_rules_asks_nothing_and_sees_no_answers(database: Connection) -> None:
    """Also not what a model has said of the same before."""
    seen: list[tuple[bool, str | None]] = []

    def plan(view: NightView) -> Iterator[Change]:
        seen.append((view.model_available, view.answer(_ASKS)))
        return iter(())

    asked = view_of(database, answers={_ASKS.key: "yes"})
    one = Pass("one", "consolidate", "", plan, lambda _: (_ASKS,))
    for each in (one, one.by_rules()):
        each.plan(asked)
    assert seen == [(True, "yes"), (False, None)]
    assert one.by_rules().questions(asked) == ()


def test_what_is_switched_off_goes_by_rules() -> None:
    """The other passes are the same, in the same order."""
    assert night.with_experts(night.NIGHT, [*night.EXPERTS]) == night.NIGHT
    without = night.with_experts(night.NIGHT, ["errors"])
    assert [one.name for one in without] == [one.name for one in night.NIGHT]
    changed = [one.name for one, other in zip(night.NIGHT, without, strict=True) if one != other]
    assert changed == [one.name for one in night.EXPERTS["duplicates"]]
