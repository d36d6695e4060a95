"""Lines are marked by what the outline of their file knows."""

import pytest

from ctx_indexer.lookup.marks import BASE, CALL, DEFINITION, IMPORT, OTHER, Marker
from ctx_indexer.syntax.outline import outline

SOURCES = {
    "python": (
        "from shop import Base\n"
        "class Basket(\n"
        "    Mixin,\n"
        "    Base,\n"
        "):\n"
        "    kind = Base\n"
        "    def make(self):\n"
        "        return Base()\n"
    ),
    "java": (
        "import shop.Base;\n"
        "class Basket\n"
        "    extends Other\n"
        "    implements Base {\n"
        "  Base kind;\n"
        "  Object make() {\n"
        "    return new Base();\n"
        "  }\n"
        "}\n"
    ),
    "typescript": (
        "import { Base } from './shop';\n"
        "export class Basket extends Other\n"
        "  implements Base {\n"
        "  kind: Base;\n"
        "  make() {\n"
        "    return new Base();\n"
        "  }\n"
        "}\n"
    ),
    "cpp": (
        "class Base {\n};\n"
        "class Basket : public Other,\n"
        "               public Base {\n"
        "  Base kind;\n"
        "};\n"
    ),
}
ROLES = {
    "python": [IMPORT, BASE, OTHER, CALL],
    "java": [IMPORT, BASE, OTHER, CALL],
    "typescript": [IMPORT, BASE, OTHER, CALL],
    "cpp": [DEFINITION, BASE, OTHER],
}


@pytest.mark.parametrize("language", list(SOURCES))
def test_bases_are_told_from_other_uses(language: str) -> None:
    text = SOURCES[language]
    marker = Marker(outline(text, language))
    marks = [
        marker.mark(number, row, row.index("Base"))
        for number, row in enumerate(text.split("\n"), 1)
        if "Base" in row.replace("Basket", "")
    ]
    assert [mark.role for mark in marks] == ROLES[language]
    assert marks[1].symbol == "Basket"


def test_a_name_that_ends_like_its_base_is_no_definition_of_it() -> None:
    row = "class ClearableInput(Input):"
    marker = Marker(outline(f"{row}\n    pass\n", "python"))
    assert marker.mark(1, row, row.index("(") + 1).roles == (BASE,)


def test_a_class_of_the_name_of_its_base_has_both_roles() -> None:
    row = "class Cursor(database.Cursor):"
    marker = Marker(outline(f"{row}\n    pass\n", "python"))
    assert marker.mark(1, row, row.index("Cursor")).roles == (DEFINITION, BASE)


def test_a_match_before_the_name_of_a_class_is_its_definition() -> None:
    row = "class Basket(Base):"
    marker = Marker(outline(f"{row}\n    pass\n", "python"))
    assert marker.mark(1, row, 0).role == DEFINITION
