"""OpenCode: `opencode export` documents, and its live database, read-only."""
