"""The ledger: what each call of a model uses and costs, reserved before it and settled after it, within budgets."""
