"""Types of Java and its library: how they widen, their ancestors, the results of methods."""

from collections.abc import Mapping

# A primitive type → the types that it is widened to: `int` → `long`.
WIDENED: Mapping[str, frozenset[str]] = {
    name: frozenset(wider.split())
    for name, wider in {
        "byte": "short int long float double",
        "short": "int long float double",
        "char": "int long float double",
        "int": "long float double",
        "long": "float double",
        "float": "double",
        "double": "",
        "boolean": "",
        "void": "",
    }.items()
}
BOXES = {
    "byte": "Byte",
    "short": "Short",
    "char": "Character",
    "int": "Integer",
    "long": "Long",
    "float": "Float",
    "double": "Double",
    "boolean": "Boolean",
}
UNBOXED = {box: primitive for primitive, box in BOXES.items()}
_VALUE = "Comparable Serializable Constable ConstantDesc Object"
_TEXT = "CharSequence Serializable Object"
# A final type → all types that it inherits from: `String` → `CharSequence`.
FINAL: Mapping[str, frozenset[str]] = {
    "String": frozenset(f"{_VALUE} CharSequence".split()),
    "Class": frozenset("Type GenericDeclaration AnnotatedElement Serializable Object".split()),
    "StringBuilder": frozenset(f"{_TEXT} Appendable Comparable AbstractStringBuilder".split()),
    "StringBuffer": frozenset(f"{_TEXT} Appendable Comparable AbstractStringBuilder".split()),
    "Boolean": frozenset(_VALUE.split()),
    "Character": frozenset(_VALUE.split()),
    "Object": frozenset(),
    **{
        box: frozenset(f"{_VALUE} Number".split())
        for box in "Byte Short Integer Long Float Double".split()
    },
}
# Types that a class may inherit without naming them: a record inherits `Record`.
IMPLIED = frozenset("Comparable Serializable Enum Record Annotation Constable".split())
OF_ARRAYS = frozenset("Object Cloneable Serializable".split())
# An interface of one method → the number of its parameters: `Runnable` → 0.
FUNCTIONAL: Mapping[str, int] = {
    name: count
    for count, names in {
        0: "Runnable Callable Supplier BooleanSupplier IntSupplier LongSupplier DoubleSupplier",
        1: "Function Consumer Predicate UnaryOperator IntFunction IntPredicate IntConsumer"
        " ToIntFunction ToLongFunction ToDoubleFunction IntUnaryOperator LongFunction"
        " LongPredicate LongConsumer DoubleFunction DoublePredicate DoubleConsumer",
        2: "BiFunction BiConsumer BiPredicate BinaryOperator Comparator ToIntBiFunction"
        " IntBinaryOperator LongBinaryOperator DoubleBinaryOperator InvocationHandler",
    }.items()
    for name in names.split()
}
NOT_FUNCTIONAL = frozenset([*FINAL, *_TEXT.split(), "Number", "Collection", "List", "Set", "Map"])
# Methods that every object, enumeration, record or annotation has.
OF_OBJECTS = frozenset(
    "toString equals hashCode getClass notify notifyAll wait clone finalize values valueOf name"
    " ordinal compareTo getDeclaringClass annotationType".split()
)
_TEXT_METHODS = {
    "int": "length indexOf lastIndexOf codePointAt compareTo compareToIgnoreCase",
    "char": "charAt",
    "boolean": "isEmpty isBlank contains startsWith endsWith equalsIgnoreCase matches"
    " contentEquals",
    "char[]": "toCharArray",
    "byte[]": "getBytes",
    "String": "substring trim strip concat toLowerCase toUpperCase replace replaceAll repeat"
    " replaceFirst intern valueOf copyValueOf format join formatted",
    "String[]": "split",
}
_COLLECTION_METHODS = {
    "int": "size indexOf lastIndexOf",
    "boolean": "isEmpty contains containsAll containsKey containsValue hasNext isPresent add"
    " addAll removeAll retainAll",
}
_NUMBER_METHODS = {
    "int": "intValue compareTo compare bitCount signum",
    "long": "longValue",
    "double": "doubleValue",
    "float": "floatValue",
    "boolean": "isNaN isInfinite",
}
# Types of the library → a type → the methods that give it: `String` → `int` → `length`.
_METHODS = {
    "String StringBuilder StringBuffer CharSequence": _TEXT_METHODS,
    "Collection List ArrayList LinkedList Set HashSet TreeSet LinkedHashSet Map HashMap TreeMap"
    " LinkedHashMap Iterator ListIterator Optional Deque Queue ArrayDeque": _COLLECTION_METHODS,
    "Number Byte Short Integer Long Float Double BigInteger BigDecimal": _NUMBER_METHODS,
    "Byte": {"byte": "parseByte byteValue", "Byte": "valueOf"},
    "Short": {"short": "parseShort shortValue", "Short": "valueOf"},
    "Integer": {"int": "parseInt", "Integer": "valueOf"},
    "Long": {"long": "parseLong", "Long": "valueOf"},
    "Float": {"float": "parseFloat", "Float": "valueOf"},
    "Double": {"double": "parseDouble", "Double": "valueOf"},
    "Boolean": {"boolean": "parseBoolean booleanValue", "Boolean": "valueOf"},
    "Character": {
        "char": "charValue",
        "boolean": "isDigit isLetter isWhitespace isLetterOrDigit isUpperCase isLowerCase",
        "Character": "valueOf",
    },
    "Class": {
        "String": "getName getSimpleName getCanonicalName getTypeName",
        "Class": "getComponentType getSuperclass getDeclaringClass forName",
        "boolean": "isInstance isInterface isArray isPrimitive isAssignableFrom isEnum",
    },
    "System": {"long": "currentTimeMillis nanoTime", "String": "getProperty lineSeparator getenv"},
    "Objects": {"boolean": "equals deepEquals isNull nonNull", "int": "hash hashCode"},
    "Arrays": {
        "boolean": "equals deepEquals",
        "int": "hashCode",
        "String": "deepToString",
        "List": "asList",
    },
    "Collections": {
        "List": "emptyList singletonList unmodifiableList nCopies",
        "Set": "emptySet singleton unmodifiableSet",
        "Map": "emptyMap singletonMap unmodifiableMap",
    },
    "Iterable Collection List ArrayList LinkedList Set HashSet": {"Iterator": "iterator"},
    "Pattern": {"Pattern": "compile", "Matcher": "matcher"},
    "Calendar GregorianCalendar": {"Date": "getTime", "long": "getTimeInMillis"},
    "Date": {"long": "getTime"},
    "AtomicInteger": {"int": "get incrementAndGet getAndIncrement decrementAndGet addAndGet"},
    "AtomicLong": {"long": "get incrementAndGet getAndIncrement decrementAndGet addAndGet"},
    "AtomicBoolean": {"boolean": "get getAndSet compareAndSet"},
    "Throwable Exception RuntimeException": {"String": "getMessage getLocalizedMessage"},
    "Object": {
        "String": "toString",
        "boolean": "equals",
        "int": "hashCode",
        "Class": "getClass",
    },
}
# A type and a method of it → the type that the method gives: `String`, `length` → `int`.
GIVEN: Mapping[tuple[str, str], str] = {
    (owner, name): type_
    for owners, methods in _METHODS.items()
    for type_, names in methods.items()
    for owner in owners.split()
    for name in names.split()
}
NUMBERS = ("double", "float", "long", "int")  # the types of arithmetic results, widest first
