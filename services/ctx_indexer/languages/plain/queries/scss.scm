(mixin_statement name: (identifier) @name) @definition.function
(function_statement name: (identifier) @name) @definition.function
(rule_set (selectors) @name) @definition.rule
(keyframes_statement (keyframes_name) @name) @definition.rule
(media_statement . (_) @name) @definition.rule
(stylesheet (declaration (property_name) @name) @definition.variable)

; --- references
(comment) @attached
(call_expression (function_name) @call)
(include_statement (identifier) @call)
(import_statement (string_value) @import)
(use_statement (string_value) @import)
(forward_statement (string_value) @import)
