"""C, C++, Objective-C and CUDA."""

import re

from ctx_indexer.languages.directives import without_directives
from ctx_indexer.languages.native.macros import without_macros, without_misread
from ctx_indexer.languages.native.symbols import CPP, C
from ctx_indexer.languages.protocol import Language, Tests, any_text

_CPP_HEADER = re.compile(
    rb"^[^\S\n]*+(?:class\s++\w++(?:;|[^;{]{0,300}+\{)|namespace\b|template\s*+<|using\s++\w"
    rb"|public:|private:)|^#\s*+include\s*+<(?:\w++>|\w++/[\w/]++\.hpp>)",
    re.MULTILINE,
)
_OBJC_HEADER = re.compile(rb"^[^\S\n]*+(?:@interface|@protocol|@class|#import)\b", re.MULTILINE)


def _is_cpp_header(content: bytes) -> bool:
    return _CPP_HEADER.search(content) is not None


def _is_objc_header(content: bytes) -> bool:
    return _OBJC_HEADER.search(content) is not None


def _is_objc(content: bytes) -> bool:
    """Whether a file `x.m` is Objective-C, and not MATLAB."""
    return _is_objc_header(content) or b"#include" in content


_REPAIRS = (without_macros, without_directives)
_GENERATED = r"\.pb\.(?:cc|h)$"

LANGUAGES = (
    Language(
        name="objc",
        extensions="m mm",
        contents={"h": _is_objc_header, "m": _is_objc},
        tests=Tests(prefixed=True, suffixed="m mm"),
        generated=_GENERATED,
        prepare=without_misread,
        repairs=_REPAIRS,
    ),
    Language(
        name="c",
        extensions="c",
        contents={"h": any_text},
        symbols=C,
        tests=Tests(prefixed=True),
        generated=_GENERATED,
        prepare=without_misread,
        repairs=_REPAIRS,
    ),
    Language(
        name="cpp",
        extensions="cc cpp cxx c++ hpp hh hxx h++ ipp inl tpp ixx cppm",
        modes="c++",
        contents={"h": _is_cpp_header},
        symbols=CPP,
        tests=Tests(prefixed=True, suffixed="cpp cc"),
        generated=_GENERATED,
        prepare=without_misread,
        repairs=_REPAIRS,
    ),
    Language(
        name="cuda",
        extensions="cu cuh",
        tests=Tests(prefixed=True),
        prepare=without_misread,
        repairs=_REPAIRS,
    ),
)
