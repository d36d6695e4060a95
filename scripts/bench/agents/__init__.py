"""Calls and tokens that an agent pays for an answer, with our tools and with ripgrep."""
