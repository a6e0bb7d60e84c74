"""Settings: the models, the sources they are merged from, the home folder, and errors in plain lines."""
