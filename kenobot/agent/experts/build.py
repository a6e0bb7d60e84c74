"""Build the experts that the settings switch on, each with the day's tokens of its own."""

from kenobot.agent.experts.expert import Expert
from kenobot.agent.experts.recall import ModelQueryExpander, ModelReranker
from kenobot.core.settings.load import Settings
from kenobot.language.question.several_turns import needs_several_turns
from kenobot.language.recall_need import is_question
from kenobot.ledger.expert_rest import ExpertRest
from kenobot.ledger.ledger import Ledger
from kenobot.ledger.model_router import ModelRouter
from kenobot.ledger.models import BudgetedModel
from kenobot.ports.clock import Clock
from kenobot.ports.embedder import QueryExpander, Reranker

_SECONDS = 8.0  # a person waits for the reply


def build_reranker(settings: Settings, model: ModelRouter | None, ledger: Ledger, clock: Clock) -> Reranker | None:
    """Build the reranker of the settings; by default none."""
    if settings.memory.reranker == "none" or model is None:
        return None
    return ModelReranker(_expert("rerank", model, ledger, clock))


def build_query_expander(
    settings: Settings, model: ModelRouter | None, ledger: Ledger, clock: Clock
) -> QueryExpander | None:
    """Build the query expander of the settings; by default none."""
    asked = settings.experts.queries
    if asked == "none" or model is None:
        return None
    expert = _expert("queries", model, ledger, clock)
    return ModelQueryExpander(expert, is_question if asked == "all" else needs_several_turns)


def _expert(purpose: str, model: ModelRouter, ledger: Ledger, clock: Clock) -> Expert:
    rest = ExpertRest(ledger.database, clock, purpose)
    return Expert(purpose, BudgetedModel(model, ledger, purpose), rest, _SECONDS)
