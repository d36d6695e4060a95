"""A use that is not resolved is told as a possible one: nothing is called complete without it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from ctx_core.settings import Settings
from tests.contract.engine.code.conftest import Engine, open_client
from tests.support.repositories import Repository

pytestmark = pytest.mark.asyncio(loop_scope="module")

FILES = {
    # A decorator of the repo wraps what is called and imported.
    "shop/lazy.py": """def lazily(kind):
    def decorate(function):
        def wrapper(*given):
            return function(*given)
        return wrapper
    return decorate
""",
    "shop/html.py": """from shop.lazy import lazily


@lazily(str)
def quote(text):
    return text
""",
    "shop/page.py": """from shop.html import quote


def page(text):
    return quote(text)
""",
    # A package of the workspace, known to build tools only.
    "packages/server/src/listen.ts": """export function listenOn(port: number) {
  return port;
}
export const defaults = new Map();
""",
    "examples/main.ts": """import { listenOn } from '@shop/server/listen';
import { defaults } from '@shop/server/listen';

listenOn(80);
defaults.get('port');
""",
    "examples/other.ts": "import { listenOn } from 'elsewhere';\n\nlistenOn(81);\n",
    # A namespace that a macro opens.
    "include/fmt.h": "SHOP_BEGIN_NAMESPACE\n\ninline int print_to(int out) { return out; }\n",
    "src/print.cc": '#include "fmt.h"\n\nint main() { return shop::print_to(1); }\n',
    # A mixin calls a method of the class that includes it.
    "lib/helpers.rb": """module Helpers
  def redirect
    stop_here 302
  end
end

class Base
  include Helpers

  def stop_here(status)
    status
  end
end
""",
    # Another crate of the workspace, and a type from outside.
    "shop-core/src/lib.rs": "pub mod answer;\n",
    "shop-core/src/answer.rs": """pub trait Answer {
    fn answer(self) -> u8;
}

pub fn parse(text: &str) -> u8 {
    0
}

impl Answer for String {
    fn answer(self) -> u8 {
        1
    }
}
""",
    "shop-web/src/lib.rs": """use shop_core::answer::{parse, Answer};

pub struct Page;

impl Answer for Page {
    fn answer(self) -> u8 {
        parse("2")
    }
}

fn other() -> u8 {
    shop_core::answer::parse("3")
}
""",
    # The package of the root folder.
    "router.go": "package shop\n\nfunc NewRouter() int {\n\treturn 1\n}\n",
    "middleware/strip.go": """package middleware

import "example.org/shop/v5"

func strip() int {
\treturn shop.NewRouter()
}
""",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Engine]:
    repository = Repository.create(tmp_path_factory.mktemp("unresolved") / "work")
    for path, text in FILES.items():
        repository.write(path, text)
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"), workspace=repository.root)
    async with open_client(settings) as engine:
        yield engine


async def uses(engine: Engine, tool: str, name: str) -> list[tuple[str, int, str]]:
    found = await engine.call(tool, query=name)
    return [(each["path"], each["start_line"], each["certainty"]) for each in found["results"]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("quote", [("shop/page.py", 5, "exact")]),
        ("listenOn", [("examples/main.ts", 4, "possible")]),
        ("print_to", [("src/print.cc", 3, "possible")]),
        ("Base#stop_here", [("lib/helpers.rb", 3, "possible")]),
        ("parse", [("shop-web/src/lib.rs", 7, "exact"), ("shop-web/src/lib.rs", 12, "exact")]),
        ("NewRouter", [("middleware/strip.go", 6, "exact")]),
    ],
)
async def test_a_call_is_told(
    shop: Engine, name: str, expected: list[tuple[str, int, str]]
) -> None:
    assert await uses(shop, "search_callers_for", name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("quote", [("shop/page.py", 1, "exact")]),
        ("listenOn", [("examples/main.ts", 1, "possible")]),
        ("defaults", [("examples/main.ts", 2, "possible")]),
    ],
)
async def test_an_import_is_told(
    shop: Engine, name: str, expected: list[tuple[str, int, str]]
) -> None:
    assert await uses(shop, "search_importers_for", name) == expected


async def test_the_reason_names_the_module(shop: Engine) -> None:
    text = await shop.text("search_callers_for", query="listenOn")
    assert "[possible: @shop/server/listen is not resolved]" in text


async def test_blocks_of_other_crates_and_outside_types_are_below_a_trait(shop: Engine) -> None:
    found = await shop.call("symbol_graph", query="Answer", relations=["subclasses"])
    [tree] = found["trees"]
    assert [(node["symbol"], node["path"]) for node in tree["nodes"]] == [
        ("String", "shop-core/src/answer.rs"),
        ("Page", "shop-web/src/lib.rs"),
    ]
