"""JavaScript, TypeScript, and the markup that holds them: Vue, Svelte, Astro."""

import re
from collections.abc import Iterator

from ctx_indexer.languages.protocol import Language, Scripts, Tests, any_text
from ctx_indexer.languages.web.symbols import JAVASCRIPT, TYPESCRIPT

_LANGUAGE = "typescript"  # the language of scripts in markup: its grammar parses JavaScript, too
_CONFIGURATION = (
    r"(?:^|/)(?:[^/]*\.(?:config|conf|rc)\.[cm]?[jt]s|\.[^/]*rc\.[cm]?js|(?:grunt|gulp)file\.js)$"
)
_GENERATED = r"(?:\.min\.(?:js|mjs|cjs)|[.-]bundle\.js|\.chunk\.js)$"
_OPENING = re.compile(r"<script\b", re.IGNORECASE)
_CLOSING = re.compile(r"</script\s*+>", re.IGNORECASE)
_FRONT_MATTER = re.compile(r"---[^\n]*\n(.*?)^---", re.DOTALL | re.MULTILINE)


def _front_matter(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the script of an Astro component stands: between its first two `---`."""
    if match := _FRONT_MATTER.match(text):
        yield match.span(1)


def _scripts(text: str) -> Iterator[tuple[int, int]]:
    """Yield where scripts stand: `<script>run()</script>` → the span of `run()`.

    A tag that nothing closes ends the search, so that the text is read once.
    """
    at = 0
    while opening := _OPENING.search(text, at):
        start = text.find(">", opening.end()) + 1
        closing = _CLOSING.search(text, start) if start else None
        if closing is None:
            return
        yield start, closing.start()
        at = closing.end()


_COMPONENT = Scripts(_LANGUAGE, _scripts)
LANGUAGES = (
    Language(
        name="javascript",
        aliases="node",
        extensions="js mjs cjs jsx es6",
        interpreters="node nodejs bun",
        symbols=JAVASCRIPT,
        tests=Tests(prefixed=True),
        configuration=_CONFIGURATION,
        generated=_GENERATED,
        in_pages=True,
    ),
    Language(
        name="typescript",
        extensions="ts mts cts",
        interpreters="deno ts-node tsx",
        contents={"ts": any_text},
        symbols=TYPESCRIPT,
        tests=Tests(prefixed=True),
        configuration=_CONFIGURATION,
    ),
    Language(name="tsx", extensions="tsx", symbols=TYPESCRIPT, tests=Tests(prefixed=True)),
    Language(name="vue", extensions="vue", scripts=_COMPONENT),
    Language(name="svelte", extensions="svelte", scripts=_COMPONENT),
    Language(name="astro", extensions="astro", scripts=Scripts(_LANGUAGE, _front_matter)),
)
