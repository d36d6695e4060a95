(function_def (function_command (argument_list . (argument) @name))) @definition.function
(macro_def (macro_command (argument_list . (argument) @name))) @definition.macro

; --- references
(line_comment) @attached
(bracket_comment) @attached
(normal_command (identifier) @call)
((normal_command (identifier) @_include (argument_list . (argument) @import))
  (#any-of? @_include "include" "find_package" "add_subdirectory"))
