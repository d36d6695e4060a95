(rule_set (selectors) @name) @definition.rule
(keyframes_statement (keyframes_name) @name) @definition.rule
(media_statement . (_) @name) @definition.rule
(supports_statement . (_) @name) @definition.rule

; --- references
(comment) @attached
(call_expression (function_name) @call)
(import_statement (string_value) @import)
(import_statement (call_expression (arguments (string_value) @import)))
