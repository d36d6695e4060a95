"""Ruby."""

from ctx_indexer.languages.protocol import Language, Tests
from ctx_indexer.languages.ruby.symbols import RUBY

LANGUAGES = (
    Language(
        name="ruby",
        extensions="rb rake gemspec ru podspec jbuilder rbi",
        file_names="Rakefile Gemfile Guardfile Vagrantfile Podfile Fastfile Brewfile"
        " Capfile .irbrc Dangerfile",
        interpreters="ruby jruby",
        symbols=RUBY,
        tests=Tests(prefixed=True),
        configuration=r"(?:^|/)config/.*(?-i:\.rb)$",
    ),
)
