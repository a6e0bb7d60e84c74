"""The observer that tells a collector what the bot does, by OpenTelemetry."""
