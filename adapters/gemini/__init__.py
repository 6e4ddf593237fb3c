"""Gemini CLI: JSONL sessions, single documents, and raw histories."""
