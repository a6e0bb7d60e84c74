"""The transcribers that ship: servers that speak OpenAI's API."""
