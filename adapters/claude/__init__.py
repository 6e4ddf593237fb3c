"""Claude Code: transcripts, one file per session; sub-agents inline or in files of their own."""
