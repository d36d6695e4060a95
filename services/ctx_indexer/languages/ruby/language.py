"""Ruby."""

from ctx_indexer.languages.protocol import Language

LANGUAGES = (
    Language(
        name="ruby",
        extensions="rb rake gemspec ru podspec jbuilder rbi",
        file_names="Rakefile Gemfile Guardfile Vagrantfile Podfile Fastfile Brewfile"
        " Capfile .irbrc Dangerfile",
        interpreters="ruby jruby",
    ),
)
