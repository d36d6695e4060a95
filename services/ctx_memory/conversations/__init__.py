"""The conversations dialect: contexts of messages, their summaries and relationships."""
