"""The MCP server: memory and agenda as tools for other programs, through the doors of the REST API."""
