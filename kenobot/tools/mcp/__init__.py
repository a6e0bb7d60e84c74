"""Tools of servers that speak the Model Context Protocol. Its SDK is imported once a server is to be reached."""
