"""The indexer server: code in, ranked spans and cited answers out."""
