"""Flags of files by the conventions of their languages."""

import pytest

from ctx_indexer.source.classify import classify
from ctx_indexer.source.languages import language_of

TESTS = """
tests/client.py test/run.py pkg/test_client.py app/tests.py conftest.py client_test.py
client_test.go e2e/login.go tests/it.rs src/parser/tests.rs spec/client_spec.rb test/test_client.rb
src/client.test.ts src/client.spec.tsx src/__tests__/client.js src/test/java/A.java ClientTest.java
ClientIT.java ClientSpec.scala ClientTests.cs ClientTest.php tests/ClientTest.php client_spec.lua
test/client_test.exs t/basic.t test/suite.bats test_client.c tests/unit/test_a.cpp ClientTests.swift
ClientTest.kt test/client_test.dart tests/data/config.yml spec/fixtures/a.yml test_foo.jl
"""
NO_TESTS = """
lib/test_runner.sh src/testing/harness.go django/test/client.py werkzeug/test.py src/test_utils.rs
src/latest.ts src/contest.py spec/openapi.yaml api.spec.yaml cmd/testify.go src/attest.c
"""
DOCS = "README.md LICENSE docs/index.html INSTALL CHANGES.txt docs/a.rst HISTORY NEWS SECURITY.md"
NO_DOCS = "app/security.py src/history.ts cmd/install.go src/license.rs lib/news.rb notice.java"
CONFIG = """
pyproject.toml .github/workflows/ci.yml package.json tsconfig.json webpack.config.js Dockerfile
docker-compose.yml setup.py mysite/settings.py config/routes.rb config/prod.exs config/app.php
pom.xml App.csproj web.config Directory.Build.targets appsettings.Development.json nginx.conf
main.tf Makefile CMakeLists.txt go.mod build.gradle .env.example application.properties log4j2.xml
src/main/AndroidManifest.xml Cargo.toml .eslintrc deploy/app.service
"""
NO_CONFIG = """
src/config.py src/settings.ts data/countries.json locales/en.json notebooks/a.ipynb docs/a.xml
tests/fixtures/response.json src/main.c lang/de.yml README.md
"""
VENDORED = "vendor/a.go third_party/x.c web/vendors/slider.js node_modules/a/b.js"
NOT_VENDORED = "pay/vendors/Stripe.kt app/vendors/models.py cmd/vendors.go"


def flagged(path: str, flag: str) -> bool:
    return bool(getattr(classify(path, language_of(path, b"use strict;\n")), flag))


@pytest.mark.parametrize(
    ("flag", "paths", "others"),
    [
        ("is_test", TESTS, NO_TESTS),
        ("is_docs", DOCS, NO_DOCS),
        ("is_config", CONFIG, NO_CONFIG),
        ("is_vendored", VENDORED, NOT_VENDORED),
    ],
)
def test_flags_follow_the_language(flag: str, paths: str, others: str) -> None:
    assert [path for path in paths.split() if not flagged(path, flag)] == []
    assert [path for path in others.split() if flagged(path, flag)] == []
