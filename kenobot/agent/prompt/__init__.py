"""Build the prompt: identity, memory, conversation, and what the runtime adds."""
