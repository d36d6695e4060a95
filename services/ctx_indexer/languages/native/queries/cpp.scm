(template_declaration (function_definition declarator: [
  (function_declarator declarator: [(identifier) (qualified_identifier) (operator_name)] @name)
  (reference_declarator (function_declarator declarator: [(identifier) (qualified_identifier)] @name))
  (pointer_declarator declarator: (function_declarator declarator: [(identifier) (qualified_identifier)] @name))])) @definition.function
(template_declaration (union_specifier name: (_) @name body: (_))) @definition.struct
(template_declaration (alias_declaration name: (type_identifier) @name)) @definition.type
(template_declaration (class_specifier name: (_) @name body: (_))) @definition.class
(template_declaration (struct_specifier name: (_) @name body: (_))) @definition.struct
(function_definition declarator: (function_declarator declarator: [
  (identifier) (qualified_identifier) (field_identifier) (destructor_name) (operator_name)] @name)) @definition.function
(function_definition declarator: (reference_declarator (function_declarator declarator: [
  (identifier) (qualified_identifier) (field_identifier) (operator_name)] @name))) @definition.function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: [
  (identifier) (qualified_identifier) (field_identifier)] @name))) @definition.function
(class_specifier name: [(type_identifier) (template_type) (qualified_identifier)] @name body: (_)) @definition.class
(type_definition type: (struct_specifier body: (_)) declarator: (type_identifier) @name) @definition.struct
(struct_specifier name: [(type_identifier) (template_type) (qualified_identifier)] @name body: (_)) @definition.struct
(union_specifier name: (type_identifier) @name body: (_)) @definition.struct
(enum_specifier name: [(type_identifier) (qualified_identifier)] @name body: (_)) @definition.enum
(namespace_definition name: (_) @name) @definition.namespace
(concept_definition name: (identifier) @name) @definition.type
(alias_declaration name: (type_identifier) @name) @definition.type
(type_definition declarator: (type_identifier) @name) @definition.type
(preproc_def name: (identifier) @name) @definition.macro
(preproc_function_def name: (identifier) @name) @definition.macro
(field_declaration declarator: (function_declarator declarator: (field_identifier) @name)) @definition.variable
(field_declaration declarator: (field_identifier) @name) @definition.variable
(translation_unit (declaration declarator: (init_declarator declarator: (identifier) @name)) @definition.variable)
(namespace_definition body: (declaration_list (declaration declarator: (init_declarator declarator: (identifier) @name)) @definition.variable))
(translation_unit (declaration declarator: (function_declarator declarator: (identifier) @name)) @definition.variable)

; --- references
(comment) @attached
(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @call))
(call_expression function: (qualified_identifier name: (identifier) @call))
(call_expression function: (qualified_identifier name: (qualified_identifier name: (identifier) @call)))
(call_expression function: (template_function name: (identifier) @call))
(call_expression function: (qualified_identifier name: (template_function name: (identifier) @call)))
(new_expression type: (type_identifier) @call)
(preproc_include path: (_) @import)
(using_declaration (qualified_identifier) @import)
