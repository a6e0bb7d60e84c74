"""Tools that work in the folders that the owner named: files, a shell, git."""
