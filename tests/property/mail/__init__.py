"""Properties of messages: none lost, none answered twice."""
