"""Full-text search over the texts of entries, on both databases."""
