"""Languages by name and content."""

import pytest

from ctx_indexer.source.languages import language_of


@pytest.mark.parametrize(
    ("path", "content", "language"),
    [
        ("a/b.py", b"", "python"),
        ("b.PY", b"", "python"),
        ("x.tsx", b"", "tsx"),
        ("Dockerfile", b"", "dockerfile"),
        ("Dockerfile.dev", b"", "dockerfile"),
        ("api.Dockerfile", b"", "dockerfile"),
        ("Makefile", b"", "make"),
        ("CMakeLists.txt", b"", "cmake"),
        ("run", b"#!/usr/bin/env python3\n", "python"),
        ("run", b"#!/bin/sh -e\n", "bash"),
        ("run", b"#!/usr/bin/env -S node --x\n", "javascript"),
        ("thing.h", b"int f(void);\n", "c"),
        ("thing.h", b"#pragma once\nnamespace a {\nclass B {};\n}\n", "cpp"),
        ("thing.h", b"#import <Foundation/Foundation.h>\n@interface A\n", "objc"),
        ("page.ts", b'<?xml version="1.0"?><TS>', "xml"),
        ("page.ts", b"export const x = 1", "typescript"),
        ("ref.txt", b"Title\n=====\n\n.. note:: x\n", "rst"),
        ("notes.txt", b"hello", "text"),
        ("LICENSE", b"", "text"),
        ("no", b"\xff\xfe\x00", "text"),
        (".bashrc", b"", "bash"),
        ("main.tf", b"", "hcl"),
        ("schema.graphql", b"", "graphql"),
    ],
)
def test_language_of(path: str, content: bytes, language: str) -> None:
    assert language_of(path, content) == language


@pytest.mark.parametrize(
    ("line", "language"),
    [
        (b"# -*- C++ -*-", "cpp"),
        (b"# -*- mode: python; coding: utf-8 -*-", "python"),
        (b"# -*- coding: utf-8; mode: Ruby -*-", "ruby"),
        (b"# -*- python; indent: 4 -*-", "python"),
        (b"# -*- coding: utf-8 -*-", "text"),
    ],
)
def test_mode_lines(line: bytes, language: str) -> None:
    assert language_of("script", line + b"\n") == language
