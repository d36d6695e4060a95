"""The nodes of Rust that symbol tables are built from."""

from ctx_indexer.languages.rust.imports import rust_imports
from ctx_indexer.syntax.symbols.spec import Shapes, SymbolSpec

RUST = SymbolSpec(
    query="rust",
    shapes=Shapes(
        attributes={"field_expression": ("value", "field")},
        calls={"call_expression": ("function", "arguments")},
        constructs={"struct_expression": ("name", "")},
        subscripts={"index_expression": ("0", "1")},
        wrappers={
            "reference_expression": "value",
            "await_expression": "0",
            "try_expression": "0",
            "parenthesized_expression": "0",
            "reference_type": "type",
            "dynamic_type": "trait",
            "abstract_type": "trait",
            "unary_expression": "0",
            "generic_function": "function",
            "mut_pattern": "-1",
            "ref_pattern": "-1",
            "bounded_type": "0",
        },
        literals={"string_literal": "str", "integer_literal": "i32", "float_literal": "f64"},
        functions=frozenset(["closure_expression"]),
        names=frozenset(
            "identifier self super crate type_identifier scoped_identifier"
            " scoped_type_identifier".split()
        ),
        generics={"generic_type": "type_arguments"},
        arrays={"array_type": "element", "slice_type": "0"},
        transparent=frozenset(
            "Option Box Rc Arc RefCell Cell Mutex RwLock Result Cow Pin Ref RefMut".split()
        ),
    ),
    imports=rust_imports,
    parameters={"parameter": ("pattern", "type", "")},
    no_parameters=frozenset(["self_parameter", "attribute_item"]),
    tuples=frozenset(["tuple_type"]),
    exports=True,
)
