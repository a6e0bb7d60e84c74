"""Sleep: the only maintenance of memory. Passes plan, one hand applies, a ledger remembers how far it got."""
