-- Signals of a kind are few thousands, looked for by a person, newest first: that needs no index of its own.
DROP INDEX signal_name;
