"""Outlines of texts that grammars stumble over: nothing behind the stumbling block is lost."""

import pytest

from ctx_indexer.syntax.definitions import flatten
from ctx_indexer.syntax.grammar import MAX_PARSED_LINE
from ctx_indexer.syntax.outline import outline

CPP = """\
FMT_BEGIN_NAMESPACE
FMT_EXPORT template <typename Context> class store {
 public:
  FMT_CONSTEXPR store(int size) : size_(size) {}
  FMT_NORETURN FMT_CONSTEXPR void fail(const char* message FMT_LIFETIMEBOUND) FMT_NOEXCEPT {}
  template <typename T, FMT_ENABLE_IF(!is_same<T, int>::value)>
  FMT_INLINE auto find(T t) -> int {
    if FMT_CONSTEXPR20 (sizeof(T) == 1) return 1;
    return 2;
  }
};
struct FMT_API pipe {
  int read_end;
};
enum : unsigned { mask = 1 };
template <typename T> struct traits<ns::appender<T>> {
  using value_type = T;
};
bool store::operator()(int x) const { return true; }
FMT_END_NAMESPACE
"""

CSHARP = """\
namespace Shop {
#if NET8_0
public ref partial struct Reader {
#else
public partial struct Reader {
#endif
  public void Read() {}
}
public static class Sql
#if NET5
  : Base
#endif
{
  public static int Count() { return 1; }
}
#if WINDOWS
class Windows { void Open() {} }
#else
class Unix { void Close() {} }
#endif
}
"""

C = """\
UNITTEST bool contains(struct table *t,
                       const char *name)
{
#ifdef FAST
  if(fast(t)) {
#else
  if(slow(t)) {
#endif
    return true;
  }
  return false;
}

API_EXTERN int last(void)
{
  return 1;
}
"""

RUST = """\
cfg_net! {
    pub struct Socket { port: u16 }
    impl Socket { pub fn open(&self) {} }
}
lazy_static! { static ref TABLE: u8 = 1; }
mod inner {
    pin_project! {
        pub enum State { Ready }
    }
}
impl<'a> IntoIterator for &'a Params { type Item = u8; }
pub trait Listener { type Io: Send; }
"""

BASH = """\
first() {
  echo 1
}
if [[ $x =~ ^( [a-z]+)$ ]; then echo
second() {
  echo 2
}
third() { echo ${x//(foo|"bar)/}; }
fourth() {
  echo 4
}
"""

KOTLIN = """\
annotation class Marked(val by: String)
fun interface Action {
    fun run(): Int
}
class Box {
    companion object Factory {
        fun make() = Box()
    }
}
"""

SWIFT = """\
public final class Cache: Store, @unchecked Sendable {
    func get() {}
}
#if canImport(Network)
class Remote { func open() {} }
#else
class Local { func open() {} }
#endif
"""

JAVA = """\
enum Policy {
    DEFAULT() {
        @Override public String of(Long value) { return ""; }
    },
    OTHER;
}
"""

TYPESCRIPT = """\
export interface Promised<T> {
  then: <R>(done: (value: T) => R) => Promised<R>;
  name: string;
}
app.use(function isMember(request) {
  return request.user;
});
"""


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "cpp",
            CPP,
            "class:store method:store.store method:store.fail method:store.find struct:pipe "
            "struct:traits type:traits.value_type method:store.operator()",
        ),
        (
            "csharp",
            CSHARP,
            "struct:Reader method:Reader.Read class:Sql method:Sql.Count class:Windows "
            "method:Windows.Open class:Unix method:Unix.Close",
        ),
        ("c", C, "function:contains function:last"),
        (
            "rust",
            RUST,
            "struct:Socket impl:Socket method:Socket.open module:inner enum:inner.State "
            "impl:Params type:Params.Item trait:Listener type:Listener.Io",
        ),
        ("bash", BASH, "function:first function:second function:fourth"),
        (
            "kotlin",
            KOTLIN,
            "class:Marked interface:Action method:Action.run class:Box class:Box.Factory "
            "method:Box.Factory.make",
        ),
        ("swift", SWIFT, "class:Cache method:Cache.get class:Remote class:Local"),
        (
            "java",
            JAVA,
            "enum:Policy constant:Policy.DEFAULT method:Policy.DEFAULT.of constant:Policy.OTHER",
        ),
        (
            "typescript",
            TYPESCRIPT,
            "interface:Promised method:Promised.then function:isMember",
        ),
    ],
)
def test_nothing_is_lost_behind_what_a_grammar_does_not_know(
    language: str, text: str, expected: str
) -> None:
    found = {f"{each.kind}:{each.path}" for each in flatten(outline(text, language).definitions)}
    assert found >= set(expected.split()), sorted(found)


def test_lines_and_names_are_those_of_the_text() -> None:
    found = {each.path: each for each in flatten(outline(CPP, "cpp").definitions)}
    rows = CPP.split("\n")
    assert "FMT_NORETURN" in rows[found["store.fail"].start]
    assert (found["store"].start, found["store"].end) == (1, 10)
    assert rows[found["pipe"].start] == "struct FMT_API pipe {"


def test_names_in_capitals_that_are_types_stay() -> None:
    text = "UINT_PTR handle(int x) { return x; }\nstruct FILE_INFO info = {1};\nFILE *out(void);\n"
    found = {each.path for each in flatten(outline(text, "c").definitions)}
    assert {"handle", "info"} <= found


def test_one_long_line_costs_itself_alone() -> None:
    data = f'DATA = "{"x" * MAX_PARSED_LINE}"'
    code = "def before():\n    return 1\n" + 'name = "é"\n' * 2_000
    found = flatten(outline(f"{code}{data}\n\ndef after():\n    return 2\n", "python").definitions)
    found = [each for each in found if each.kind == "function"]
    assert [each.path for each in found] == ["before", "after"]
    assert found[1].start == code.count("\n") + 2
    assert not outline(f"{data}\ndef after():\n    return 2\n", "python").definitions
