((call target: (identifier) @_def (arguments . (alias) @name)) @definition.module
  (#any-of? @_def "defmodule" "defimpl"))
((call target: (identifier) @_def (arguments . (alias) @name)) @definition.interface
  (#eq? @_def "defprotocol"))
((call target: (identifier) @_def (arguments . [
    (call target: (identifier) @name)
    (identifier) @name
    (binary_operator left: (call target: (identifier) @name))
    (binary_operator left: (identifier) @name)])) @definition.function
  (#any-of? @_def "def" "defp" "defdelegate" "defguard" "defguardp" "defn"))
((call target: (identifier) @_def (arguments . [
    (call target: (identifier) @name)
    (identifier) @name
    (binary_operator left: (call target: (identifier) @name))])) @definition.macro
  (#any-of? @_def "defmacro" "defmacrop"))
((call target: (identifier) @_def (arguments . (string (quoted_content) @name))) @definition.function
  (#any-of? @_def "test" "describe"))

; --- references
(comment) @attached
((unary_operator operator: "@" operand: (call target: (identifier) @_doc)) @attached
  (#any-of? @_doc "doc" "spec" "impl" "deprecated" "tag" "since"))
((call target: (identifier) @call)
  (#not-match? @call "^(def.*|use|import|alias|require|doc|moduledoc|spec|type|impl|quote|unquote)$"))
(call target: (dot right: (identifier) @call))
((call target: (identifier) @_use (arguments . (alias) @import))
  (#any-of? @_use "use" "import" "alias" "require"))
