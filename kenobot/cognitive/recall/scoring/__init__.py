"""Score records and turns against a question with learned weights."""
