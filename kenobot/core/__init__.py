"""Parts every room above may use, without a table: signal bus, scheduler, log, redaction, plugins, settings."""
