"""Knowledge and git: commits of the knowledge folder alone, merges, pushes and pulls."""
