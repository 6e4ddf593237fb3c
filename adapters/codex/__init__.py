"""Codex CLI: rollout files of all generations, and the stream of `codex exec --json`."""
