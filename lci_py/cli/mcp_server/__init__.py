"""`lci mcp`: the commands as tools of an MCP server on standard input and output (docs/adr/0024-mcp.md)."""
