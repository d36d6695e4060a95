"""Knowledge that comes and goes by files: bundles, and instruction files of agents."""
