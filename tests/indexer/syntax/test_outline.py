"""Outlines: what is found in a sample of each language."""

from pathlib import Path

import pytest
from tree_sitter import Query

from ctx_indexer import languages
from ctx_indexer.chunking.chunker import chunk
from ctx_indexer.languages.registry import LANGUAGES, definition_query
from ctx_indexer.source.content import decode
from ctx_indexer.source.languages import language_of
from ctx_indexer.syntax import grammar
from ctx_indexer.syntax.definitions import KINDS, flatten
from ctx_indexer.syntax.grammar import grammar_of, query_source
from ctx_indexer.syntax.outline import Outline, outline
from ctx_indexer.syntax.references import Reference, references_within

SAMPLES = Path(__file__).parent / "samples"


# What a sample must hold, as kind:symbol path; then imports and calls, at least these.
EXPECTED: dict[str, tuple[str, str, str]] = {
    "sample.py": (
        "variable:LIMIT class:Account method:Account.__init__ method:Account.withdraw "
        "function:accounts function:accounts.build",
        "decimal collections.abc bank.ledger record",
        "Book subtract map record",
    ),
    "sample.js": (
        "variable:SESSION_SECONDS class:SessionStore method:SessionStore.get "
        "method:SessionStore.load function:createApp function:authenticate function:close",
        "node:fs/promises express path readFile",
        "readFile join parse authenticate exit",
    ),
    "sample.jsx": ("function:Counter function:Panel", "react useState ./button", "Button memo"),
    "sample.ts": (
        "interface:Repository method:Repository.find type:OrderId enum:Status class:OrderService "
        "method:OrderService.find method:OrderService.total class:Shape method:Shape.area "
        "module:Geometry function:distance function:sum",
        "@angular/core ./order Order",
        "get sum abs reduce",
    ),
    "sample.tsx": ("interface:Props function:Profile function:Page", "./query", "Avatar Profile"),
    "sample.go": (
        "constant:MaxUsers variable:ErrNotFound struct:Store interface:Finder type:UserID "
        "function:New method:Store.Find",
        "context github.com/acme/db",
        "Open QueryRow scan",
    ),
    "sample.rs": (
        "constant:LIMIT struct:Lexer enum:Mode trait:Scan method:Scan.scan impl:Lexer "
        "method:Lexer.new method:Lexer.scan macro:token type:Tokens function:run module:tests "
        "function:tests.runs",
        "std::collections::HashMap Parser Token",
        "new get cloned helper println",
    ),
    "sample.java": (
        "class:OrderService variable:OrderService.LIMIT method:OrderService.OrderService "
        "method:OrderService.open enum:OrderService.State interface:Orders class:Line "
        "method:Line.total",
        "java.util.List java.util.stream.Collectors.toList",
        "findAll filter isOpen max",
    ),
    "sample.kt": (
        "variable:LIMIT class:Mailer method:Mailer.send method:Mailer.create interface:Sender "
        "class:Mail enum:Level class:Registry method:Registry.find function:main",
        "kotlinx.coroutines.delay",
        "delay connect write println",
    ),
    "sample.c": (
        "macro:MAX_ITEMS macro:SQUARE struct:node enum:color type:node_t variable:counter "
        "function:list_push function:main",
        "stdio.h list.h",
        "malloc SQUARE printf",
    ),
    "sample.cpp": (
        "module:geo class:Point method:Point.Point method:Point.length struct:Box enum:Side "
        "method:Circle.area function:largest function:main",
        "vector shape.hpp",
        "sqrt max_element run",
    ),
    "sample.cs": (
        "class:InvoiceWriter method:InvoiceWriter.InvoiceWriter method:InvoiceWriter.Write "
        "variable:InvoiceWriter.Count interface:IWriter struct:Money enum:State class:Line",
        "System System.Collections.Generic",
        "Open Add ToString",
    ),
    "sample.rb": (
        "module:Shop constant:Shop.TAX class:Shop.Basket method:Shop.Basket.initialize "
        "method:Shop.Basket.total method:Shop.Basket.load function:main",
        "json lib/store Enumerable",
        "sum open puts total",
    ),
    "sample.php": (
        "constant:LIMIT class:UserController method:UserController.show interface:Shows "
        "trait:Counts method:Counts.count enum:Level function:load",
        "App\\Models\\User",
        "info find load User",
    ),
    "sample.swift": (
        "variable:limit class:ImageLoader method:ImageLoader.init method:ImageLoader.load "
        "interface:Loading struct:Size method:Size.scaled enum:Mode method:Size.area function:run",
        "Foundation UIKit",
        "configure fetch decode print",
    ),
    "sample.scala": (
        "class:UserStore method:UserStore.find trait:Store method:UserStore.apply class:User",
        "scala.collection.mutable",
        "get orElse load open",
    ),
    "sample.sh": (
        "variable:TARGET function:build function:deploy",
        "./lib.sh",
        "docker kubectl notify build",
    ),
    "sample.lua": (
        "variable:RETRIES function:M.read method:M.close function:helper function:M.write",
        "json",
        "open decode read helper",
    ),
    "sample.ex": (
        "module:Shop.Cart function:Shop.Cart.add function:Shop.Cart.update macro:Shop.Cart.debug",
        "GenServer Ecto.Query Shop.Repo",
        "insert update put",
    ),
    "sample.hs": (
        "type:Stack type:Wrapper type:Name interface:Container function:push function:size",
        "Data.Map Data.List sort",
        "size",
    ),
    "sample.zig": (
        "variable:limit struct:Queue method:Queue.push enum:Mode function:main",
        "std",
        "copy print run",
    ),
    "sample.sql": (
        "table:customers rule:customers_name table:open_orders function:add_tax",
        "",
        "orders customers",
    ),
    "sample.html": ("element:html element:html.head element:html.body.content", "app.js", ""),
    "sample.css": ("rule::root rule:fade", "reset.css", "var"),
    "sample.scss": ("variable:$accent function:rounded rule:.card", "theme", "rounded"),
    "sample.md": ("heading:Guide", "", ""),
    "sample.rst": ("heading:Guide", "", ""),
    "sample.yaml": ("key:name key:on key:jobs key:jobs.test key:jobs.lint", "", ""),
    "sample.json": ("key:name key:scripts key:scripts.build key:dependencies", "", ""),
    "sample.toml": ("key:title table:server table:server.tls table:worker", "", ""),
    "sample.dockerfile": ("block:build block:nginx:1.27", "node:22", ""),
    "sample.mk": ("variable:CC rule:all rule:clean", "common.mk", "main.o"),
    "sample.tf": ("block:region block:aws_s3_bucket.files block:network", "./network", "lower"),
    "sample.proto": (
        "struct:Order enum:Order.State interface:Orders method:Orders.Get",
        "google/protobuf/timestamp.proto",
        "GetRequest",
    ),
    "sample.graphql": (
        "type:User interface:Node enum:Role type:NewUser function:GetUser",
        "",
        "user",
    ),
    "sample.pl": ("function:Shop::Cart.new function:Shop::Cart.total", "List::Util", "items sum"),
    "sample.r": ("variable:limit function:clean_mean function:summarise_all", "dplyr", "mean"),
    "sample.jl": (
        "constant:LIMIT type:Shape struct:Circle function:area function:square macro:twice",
        "LinearAlgebra",
        "square",
    ),
    "sample.ml": ("type:shape module:Area function:Area.of_shape function:print", "Printf", ""),
    "sample.erl": ("struct:state function:start function:add", "lists", "spawn format"),
    "sample.clj": (
        "variable:limit function:add macro:unless interface:Store",
        "clojure.string",
        "conj trim",
    ),
    "sample.dart": (
        "class:Counter method:Counter.build enum:Mode trait:Logging method:Logging.log "
        "function:format",
        "dart:async",
        "print toString",
    ),
    "sample.groovy": ("class:Cart method:Cart.add function:total", "", "sum"),
    "sample.ps1": ("function:Copy-Things class:Job method:Job.Run", "Az.Storage", "Get-ChildItem"),
    "sample.vue": ("variable:count function:add", "vue ref", "next"),
    "sample.svelte": ("variable:name function:greet", "svelte onMount", "alert"),
    "sample.sol": ("class:Vault method:Vault.pay interface:IVault", "./Token.sol", "compute"),
    "sample.cmake": ("function:add_tool", "CTest", "add_executable"),
}


def sample(name: str) -> Outline:
    content = (SAMPLES / name).read_bytes()
    return outline(decode(content), language_of(name, content))


def definitions_of(found: Outline) -> set[str]:
    return {f"{each.kind}:{each.path}" for each in flatten(found.definitions)}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_sample_is_outlined(name: str) -> None:
    definitions, imports, calls = (set(words.split()) for words in EXPECTED[name])
    found = sample(name)
    assert definitions - definitions_of(found) == set()
    assert imports - {each.name for each in found.references.imports} == set()
    assert calls - {each.name for each in found.references.calls} == set()
    assert {each.kind for each in flatten(found.definitions)} <= KINDS


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_sample_is_chunked(name: str) -> None:
    chunks = chunk(sample(name))
    expected = {entry.split(":", 1)[1] for entry in EXPECTED[name][0].split()}
    symbols = {symbol for found in chunks for symbol in found.symbols}
    for path in expected:
        assert any(path == symbol or path.endswith(f".{symbol}") for symbol in symbols), path
    assert any(found.symbol for found in chunks)


def test_every_sample_is_expected() -> None:
    assert {path.name for path in SAMPLES.iterdir()} == set(EXPECTED)


def test_every_query_belongs_to_a_language_and_compiles() -> None:
    families = Path(languages.__path__[0])
    for path in families.glob("*/queries/*.scm"):
        assert path.stem in LANGUAGES
        assert definition_query(path.stem) == path
        found = grammar_of(path.stem)
        assert found is not None
        definitions, references = query_source(path.stem)
        count: object = Query(found.language, definitions).pattern_count  # a method in its stubs
        assert isinstance(count, int)
        assert count > 0
        assert "@attached" in references or path.stem == "groovy", path.stem


def test_headings_inside_code_are_none() -> None:
    assert definitions_of(sample("sample.md")) == {
        "heading:Guide",
        "heading:Guide > Install",
        "heading:Guide > Configure",
        "heading:Guide > Use",
        "heading:Guide > Use > From code",
    }
    assert definitions_of(sample("sample.rst")) == {
        "heading:Guide",
        "heading:Guide > Install",
        "heading:Guide > Install > Details",
    }


def test_definitions_are_nested_and_know_their_lines() -> None:
    text = "class Store:\n    # Says it.\n    @wraps\n    def get(self):\n        return load()\n"
    [store] = outline(text, "python").definitions
    [method] = store.children
    assert (store.path, store.start, store.end) == ("Store", 0, 4)
    assert (method.path, method.kind, method.head) == ("Store.get", "method", 3)


def test_references_are_in_the_order_of_lines() -> None:
    found = outline("import b\nimport a\nf()\ng(f())\n", "python").references
    assert found.imports == (Reference("b", 1), Reference("a", 2))
    assert found.calls == (Reference("f", 3), Reference("f", 4), Reference("g", 4))
    assert references_within(found.calls, 3, 4) == (Reference("f", 3), Reference("g", 4))
    assert references_within(found.calls, 5, 9) == ()


@pytest.mark.parametrize(("text", "language"), [("", "python"), ("x", "text"), ("}{" * 99, "c")])
def test_a_text_that_cannot_be_parsed_has_lines_only(text: str, language: str) -> None:
    found = outline(text, language)
    assert (list(found.definitions), found.references.calls) == ([], ())
    assert found.lines.rows == [text]


def test_a_definition_begins_at_its_decorators_and_not_at_its_comment() -> None:
    text = (
        "# why\n@first\n@second(\n    1)\n# how\ndef f():\n    pass\n\n"
        "class A:\n    @property\n    def b(self):\n        pass\n"
    )
    f, a, b = flatten(outline(text, "python").definitions)
    assert (f.start, f.head, f.end) == (1, 5, 6)
    assert (a.start, b.start, b.head) == (8, 9, 10)


def test_a_rust_function_begins_at_its_attributes() -> None:
    text = "/// Says so.\n#[inline]\npub fn f() {\n}\n"
    [f] = flatten(outline(text, "rust").definitions)
    assert (f.start, f.head) == (1, 2)


def test_the_elements_of_a_java_annotation_are_methods() -> None:
    text = "@interface Since {\n  double value();\n  boolean strict() default true;\n}\n"
    found = flatten(outline(text, "java").definitions)
    assert [(each.path, each.kind) for each in found[1:]] == [
        ("Since.value", "method"),
        ("Since.strict", "method"),
    ]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ruby", 'app.config["KEY"] = value\napp.config.name = other\n'),
        ("python", 'app.config["KEY"] = value\napp.config.name = other\n'),
        ("javascript", 'app.config["KEY"] = value;\napp.config.name = other;\n'),
        ("php", "<?php $app->config['KEY'] = $value;\n"),
        ("go", 'package main\nfunc main() { app.config["KEY"] = value }\n'),
    ],
)
def test_assignments_to_items_and_attributes_have_symbols(language: str, text: str) -> None:
    assert outline(text, language, with_symbols=True).symbols is not None


def test_a_parser_that_had_to_wait_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deadlines count computing: a machine that is busy or asleep changes no outline."""
    text = "\n".join(f"def function_{n}(a, b=[1, {{2: 3}}]):\n    return a" for n in range(2_000))
    whole = outline(text, "python")
    assert len(whole.definitions) == 2_000
    monkeypatch.setattr(grammar, "TURN_SECONDS", 0.001)
    assert outline(text, "python").definitions == whole.definitions
    monkeypatch.setattr(grammar, "PARSE_SECONDS", 0)
    assert not outline(text, "python").definitions


def test_a_section_ends_with_its_last_line_and_keeps_its_quotes() -> None:
    text = "Guide\n=====\n\n``Meta`` options\n----------------\n\nOf models.\n"
    [guide] = outline(text, "rst").definitions
    found = [(each.path, each.end + 1) for each in (guide, *guide.children)]
    assert found == [("Guide", 7), ("Guide > ``Meta`` options", 7)]
