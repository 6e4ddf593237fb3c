"""Pi: its live channel, its session files, its extension."""
