"""Three-way merges of knowledge files: Markdown by section, JSON by field, NDJSON by record."""
