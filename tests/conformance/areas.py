"""Areas that no adapter stands for, and why: built later, or not wanted here at all."""

from collections.abc import Mapping

_LATER = "not built yet (belongs to a later issue: {})"

_NOT_WANTED: Mapping[str, str] = {
    "confidence.estimate": "ADR 13: one confidence from 0 to 1 instead of points that a second rule took for a share",
    "backfill-subjects": "a fact comes with its subject, from whoever read it; sleep joins names, and gives none anew",
    "cli.format_bytes": "sizes are told in MB and GB of a thousand, as disks are sold, not in GiB under that name",
    "core-prefs": "preferences stand in preferences.md, all of them, in every prompt of the owner's",
    "disagreement": "asking why is answered by /why; only a plain no counts against a memory",
    "batcher.": "whether a person goes on is told by time; the last words of a message do not tell",
    "cosine": "vectors are kept at length 1, so a product is the cosine; one of another size is made anew",
    "vector.": "vectors are kept at length 1, so a product is the cosine; one of another size is made anew",
    "immune.integrity": "each reply is judged alone, by the owner's rules: identity.rules_violations",
    "gateway.interpolate": "prompts are composed in code; no template has places that words could fill by accident",
    "logger.": "the format of the original's logger; this one logs with the standard library",
    "motor.ssh_url": "a repository is cloned by https from the forge that the owner names: the bot has no key of SSH",
    "provider.cli_prompt.codex_gemini": "ADR 49: the system prompt is a file of its own, not a part of what is said",
    "provider.mock": "the texts of the original's mock provider; the offline provider answers in its own words",
    "retrieval.": "ADR 13: records are found, not sections of files; scores are mixed, not ranks",
    "sensitivity": "no class of sensitive facts: who may see a memory is decided by its scope, for every memory",
    "sleep.branch_slug": "a proposal is a row that the owner decides about; there is no branch to name",
    "session.file_format": "history lives in the database, not in sessions/*.jsonl",
}

_TOPICS: Mapping[str, str] = {
    # KenoBot in JavaScript
    "consolidation.": "sleep: consolidation",
    "dedupe.": "sleep: pruning and merging",
    "facts.": "sleep: consolidation",
    "gateway.": "cheap-model experts",
    "identity.profile_parse": "onboarding profile by a model",
    "procedural.": "procedural memory",
    "prune.": "sleep: pruning and merging",
    "salience.": "sleep: consolidation",
    "sleep.": "the sleep cycle",
    "transparency.": "/why and learning feedback",
    # Engram
    "action_": "Engram: action policy",
    "attribute_pairs": "Engram: supersession by attribute",
    "causal_phrase": "Engram: memory graph",
    "confidence_": "Engram: confidence tiers",
    "consolidation_": "Engram: consolidation",
    "edge_": "Engram: memory graph",
    "eligibility_parse": "Engram: action policy",
    "entity_": "Engram: entities",
    "feedback_delta": "Engram: feedback",
    "graph_": "Engram: memory graph",
    "importance": "Engram: importance",
    "lateral_inhibition": "Engram: memory graph",
    "lifecycle": "Engram: lifecycle",
    "memory_kind": "Engram: episodes and notes",
    "memory_worth": "Engram: feedback",
    "pagerank_": "Engram: memory graph",
    "sanitize": "Engram: extraction",
    "spreading_activation": "Engram: memory graph",
    "supersede": "Engram: supersession by attribute",
    "supersession_key": "Engram: supersession by attribute",
    "tier_routing": "Engram: hot and cold tiers",
    "update_note": "Engram: action policy",
    # Personal AI
    "contradiction/": "Personal AI: contradictions",
    "correct/": "Personal AI: commands on beliefs",
    "create/": "Personal AI: beliefs with evidence",
    "decay": "Personal AI: belief strength",
    "dedup/": "Personal AI: reinforcement and duplicates",
    "evidence-weighing": "Personal AI: contradictions",
    "export/": "Personal AI: export and import",
    "forget/": "Personal AI: commands on beliefs",
    "grey-zone/": "Personal AI: contradictions",
    "history/": "Personal AI: audit log of beliefs",
    "import/": "Personal AI: export and import",
    "memory-file/": "Personal AI: export and import",
    "prune/": "Personal AI: reflect, merge, synthesize",
    "reinforce/": "Personal AI: reinforcement and duplicates",
    "relationship/": "Personal AI: contradictions",
    "stats/": "Personal AI: commands on beliefs",
}


def reason_for(area: str) -> str:
    """One line that says why the cases of `area` are not applicable; the longest prefix that fits decides."""
    reasons = {**_NOT_WANTED, **{prefix: _LATER.format(topic) for prefix, topic in _TOPICS.items()}}
    fitting = [prefix for prefix in reasons if area.startswith(prefix)]
    return reasons[max(fitting, key=len)] if fitting else "unknown area"
