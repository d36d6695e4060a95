"""The command line of ctx."""
