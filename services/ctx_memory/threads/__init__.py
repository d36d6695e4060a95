"""The threads dialect: entries that belong together, and thirteen tools for them."""
