"""Text for a terminal. Everything untrusted passes `safe.safe_line` before it is printed."""
