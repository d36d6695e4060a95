"""A name is found as its language writes it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from ctx_core.settings import Settings
from tests.contract.engine.code.conftest import Engine, open_client
from tests.support.repositories import Repository

pytestmark = pytest.mark.asyncio(loop_scope="module")

FILES = {
    "src/Log/Logger.php": """<?php
namespace Shop\\Log;

class Logger
{
    public function add(string $line): void
    {
    }

    public function info(string $line): void
    {
        $this->add($line);
    }
}
""",
    "src/Other.php": "<?php\nclass Other\n{\n    public function add(): void\n    {\n    }\n}\n",
    "mux.go": """package shop

type Mux struct{}

func (mx *Mux) Route(path string) {
}

func serve(mx *Mux) {
\tmx.Route("/")
}
""",
    "lib/conn.ex": """defmodule Shop.Conn do
  def put_header(conn, key, value) do
    {conn, key, value}
  end
end
""",
    "lib/pair.ex": """defmodule Pair do
  def swap({a, b}) do
    {b, a}
  end

  def swap(nil) do
    nil
  end
end
""",
    "Mapper.cs": """public static class Mapper
{
    public static T Single<T>(string sql)
    {
        return default;
    }
}
""",
    "Reader.java": """class Reader {
    String read(String text) {
        return text;
    }

    String read(int number) {
        return "";
    }
}
""",
    "src/lib.rs": """pub struct Router<S> {
    state: S,
}

impl<S> Router<S> {
    pub fn nest(self) -> Self {
        self
    }
}
""",
    "src/tests.rs": "fn nest() {}\n",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Engine]:
    repository = Repository.create(tmp_path_factory.mktemp("names") / "work")
    for path, text in FILES.items():
        repository.write(path, text)
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"), workspace=repository.root)
    async with open_client(settings) as engine:
        yield engine


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("\\Shop\\Log\\Logger", "src/Log/Logger.php:4-14 class Logger"),
        ("Shop\\Log\\Logger::add", "src/Log/Logger.php:6-8 method Logger.add"),
        ("Logger::add()", "src/Log/Logger.php:6-8 method Logger.add"),
        ("(*Mux).Route", "mux.go:5-6 method Mux.Route"),
        ("(Mux).Route", "mux.go:5-6 method Mux.Route"),
        ("Shop.Conn.put_header/3", "lib/conn.ex:2-4 function Shop.Conn.put_header"),
        ("Mapper.Single<T>", "Mapper.cs:3-6 method Mapper.Single"),
        ("Mapper.Single<List<int>>(string sql)", "Mapper.cs:3-6 method Mapper.Single"),
        ("Router::<S>::nest", "src/lib.rs:6-8 method Router.nest"),
        ("<Router<S> as Service>::nest", "src/lib.rs:6-8 method Router.nest"),
        ("crate::Router::nest", "src/lib.rs:6-8 method Router.nest"),
        ("`Router::nest`", "src/lib.rs:6-8 method Router.nest"),
    ],
)
async def test_a_name_is_read_as_it_is_written(shop: Engine, written: str, found: str) -> None:
    head = (await shop.text("read_code", name=written)).partition("\n")[0]
    assert head.startswith(f"{found} (")
    assert "nothing is called" not in head


@pytest.mark.parametrize(
    ("written", "line"),
    [("\\Shop\\Log\\Logger::add", 12), ("(*Mux).Route", 9)],
)
async def test_callers_are_found_by_a_written_name(shop: Engine, written: str, line: int) -> None:
    found = await shop.call("search_callers_for", query=written)
    assert [(each["start_line"], each["certainty"]) for each in found["results"]] == [
        (line, "exact")
    ]


async def test_overloads_are_told_apart_by_their_lines(shop: Engine) -> None:
    text = await shop.text("read_code", name="Reader.read(String)")
    assert text.partition("\n")[0].endswith("; read one by path and start_line")


async def test_a_language_without_a_graph_is_told_once_and_counts_nothing(shop: Engine) -> None:
    text = await shop.text("symbol_graph", query="Pair.swap")
    assert text == "by name only in lib/pair.ex: ask exact_search"
