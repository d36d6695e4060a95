"""Texts to measure on: source files of several sizes, our own documents, planted secrets."""
