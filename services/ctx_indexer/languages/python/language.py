"""Python."""

from ctx_indexer.languages.protocol import Language, Tests
from ctx_indexer.languages.python.symbols import PYTHON

LANGUAGES = (
    Language(
        name="python",
        extensions="py pyi pyw pyx pxd gyp bzl star",
        file_names="SConstruct SConscript wscript BUILD WORKSPACE BUILD.bazel Tiltfile",
        interpreters="python pypy uv",
        symbols=PYTHON,
        tests=Tests(prefixed=True, package=True, paths=r"(?:^|/)conftest\.py$"),
        configuration=r"(?:^|/)(?:setup\.py|(?:local_)?settings\.py|settings/[^/]*\.py)$",
        generated=r"_pb2(?:_grpc)?\.pyi?$",
    ),
)
