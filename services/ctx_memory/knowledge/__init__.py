"""Project knowledge: keyed Markdown in the project's git repository, shared by its agents."""
