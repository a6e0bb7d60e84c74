"""One turn: a pure state machine, and the runner that performs its effects."""
