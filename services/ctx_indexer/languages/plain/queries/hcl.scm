(config_file (body (block . (identifier) @_type . (string_lit (template_literal) @scope) . (string_lit (template_literal) @name)) @definition.block))
(config_file (body (block . (identifier) . (string_lit (template_literal) @name)) @definition.block))
(config_file (body (block . (identifier) @name) @definition.block))
(config_file (body (attribute . (identifier) @name) @definition.variable))

; --- references
(comment) @attached
(function_call (identifier) @call)
((block (identifier) @_module (body (attribute (identifier) @_source (expression (literal_value (string_lit (template_literal) @import))))))
  (#eq? @_module "module") (#eq? @_source "source"))
