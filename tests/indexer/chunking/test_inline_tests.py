"""Tests inside source files are chunks of their own, marked as tests."""

import pytest

from ctx_indexer.chunking.chunker import chunk
from ctx_indexer.syntax.outline import outline

SAMPLES = {
    "rust": """use a::b;

/// Adds.
pub fn add(a: i32, b: i32) -> i32 {
    a + b
}

#[cfg(not(test))]
fn release() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }
}
""",
    "zig": """const std = @import("std");

pub fn add(a: i32, b: i32) i32 {
    return a + b;
}

test "adds" {
    try std.testing.expect(add(1, 2) == 3);
}
""",
    "java": """class Calc { int add(int a, int b) { return a + b; } }

/** Checks. */
class Checks {
    // first
    @Test
    void adds() { assertEquals(3, add(1, 2)); }
}
""",
    "csharp": """class Calc { int Add(int a, int b) { return a + b; } }

/// Checks.
class Checks {
    // first
    [Fact]
    public void Adds() { Assert.Equal(3, Add(1, 2)); }
}
""",
    "kotlin": """fun add(a: Int, b: Int): Int = a + b

class Checks {
    @Test
    fun adds() { assertEquals(3, add(1, 2)) }
}
""",
    "swift": """func add(_ a: Int, _ b: Int) -> Int { a + b }

@Test func adds() { #expect(add(1, 2) == 3) }
""",
    "php": """<?php
function add($a, $b) { return $a + $b; }

class Checks {
    #[Test]
    public function adds() { assert(add(1, 2) === 3); }
}
""",
}
TEST_LINES = {
    "rust": [(11, 19)],
    "zig": [(7, 9)],
    "java": [(3, 8)],
    "csharp": [(3, 8)],
    "kotlin": [(3, 6)],
    "swift": [(3, 3)],
    "php": [(4, 7)],
}


@pytest.mark.parametrize("language", SAMPLES)
def test_tests_in_a_source_file(language: str) -> None:
    chunks = chunk(outline(SAMPLES[language], language))
    assert [(c.start_line, c.end_line) for c in chunks if c.is_test] == TEST_LINES[language]
    assert any(not c.is_test for c in chunks)


@pytest.mark.parametrize(
    "attribute", ["#[cfg(not(test))]", '#[cfg(any(test, feature = "x"))]', "#[testing::other]"]
)
def test_what_is_compiled_elsewhere_too_is_no_test(attribute: str) -> None:
    text = f"{attribute}\nfn helper() {{\n    run();\n}}\n"
    assert not any(each.is_test for each in chunk(outline(text, "rust")))


@pytest.mark.parametrize("attribute", ["#[tokio::test]", '#[cfg(all(test, feature = "x"))]'])
def test_other_marks_of_rust(attribute: str) -> None:
    text = f"{attribute}\nasync fn works() {{\n    run();\n}}\n"
    assert all(each.is_test for each in chunk(outline(text, "rust")))
