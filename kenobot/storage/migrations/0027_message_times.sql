-- asked_at: when a model was first shown a person's message, which its prompt tells; '' where only `at` is known.
-- recalled: what was recalled for the message alone, where it quotes others: later prompts do not show it, but the reply
-- may have told of it. `context` is what later prompts show as well. Prompts begin anew: older contexts hold both.
ALTER TABLE message ADD COLUMN asked_at TEXT NOT NULL DEFAULT '';
ALTER TABLE message ADD COLUMN recalled TEXT NOT NULL DEFAULT '';
DELETE FROM prompt_prefix;
