(class name: [(constant) (scope_resolution)] @name) @definition.class
(module name: [(constant) (scope_resolution)] @name) @definition.module
(method name: (_) @name) @definition.function
(singleton_method name: (_) @name) @definition.function
(assignment left: (constant) @name) @definition.constant
(alias name: (_) @name) @definition.function

; --- references
(comment) @attached
(call method: [(identifier) (constant)] @call)
((call method: (identifier) @_require arguments: (argument_list . (string (string_content) @import)))
  (#any-of? @_require "require" "require_relative" "autoload"))
((call method: (identifier) @_include arguments: (argument_list (constant) @import))
  (#any-of? @_include "include" "extend" "prepend"))
((call method: (identifier) @_include arguments: (argument_list (scope_resolution) @import))
  (#any-of? @_include "include" "extend" "prepend"))
