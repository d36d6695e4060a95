(package_clause (package_identifier) @name) @on.package
(import_spec) @on.import
(function_declaration name: (_) @name parameters: (_) @parameters result: (_)? @type) @on.function
(method_declaration
  receiver: (parameter_list (parameter_declaration name: (_)? @self type: (_) @owner))
  name: (_) @name parameters: (_) @parameters result: (_)? @type) @on.function
(method_elem name: (_) @name parameters: (_) @parameters result: (_)? @type) @on.function @declaration
(short_var_declaration left: (expression_list . (identifier) @name) right: (expression_list . (func_literal) @on.function))
(assignment_statement left: (expression_list . (identifier) @name .) right: (expression_list . (func_literal) @on.function .))
(var_spec name: (identifier) @name value: (expression_list . (func_literal) @on.function))
(func_literal parameters: (_) @parameters result: (_)? @type) @on.head
(func_literal) @on.lambda
(type_spec name: (_) @name type: [(struct_type) (interface_type)]) @on.class
(type_spec name: (_) @name type: [(type_identifier) (qualified_type) (generic_type) (pointer_type)] @base) @on.class
(type_spec name: (_) @name type: [(map_type) (slice_type) (array_type) (channel_type) (function_type)] @type) @on.class
([
  (slice_type (struct_type (field_declaration_list (field_declaration))) @on.class)
  (array_type (struct_type (field_declaration_list (field_declaration))) @on.class)
  (map_type (struct_type (field_declaration_list (field_declaration))) @on.class)
  (pointer_type (struct_type (field_declaration_list (field_declaration))) @on.class)
  (channel_type (struct_type (field_declaration_list (field_declaration))) @on.class)
  (composite_literal (struct_type (field_declaration_list (field_declaration))) @on.class)
  (var_spec (struct_type (field_declaration_list (field_declaration))) @on.class)
  (field_declaration (struct_type (field_declaration_list (field_declaration))) @on.class)
  (parameter_declaration (struct_type (field_declaration_list (field_declaration))) @on.class)
])
([
  (var_spec (interface_type (method_elem)) @on.class)
  (field_declaration (interface_type (method_elem)) @on.class)
  (parameter_declaration (interface_type (method_elem)) @on.class)
  (type_assertion_expression (interface_type (method_elem)) @on.class)
  (type_case (interface_type (method_elem)) @on.class)
])
(type_alias name: (_) @target type: (_) @value) @on.assign
(field_declaration name: (_) @target type: (_) @type) @on.assign
(field_declaration !name type: (_) @base) @on.base
(field_declaration !name type: (type_identifier) @target @type) @on.assign
(field_declaration !name type: (qualified_type name: (_) @target) @type) @on.assign
(field_declaration !name type: (generic_type type: (type_identifier) @target) @type) @on.assign
(interface_type (type_elem (_) @base)) @on.base
(short_var_declaration left: (_) @target right: (_) @value) @on.assign
((assignment_statement left: (_) @target right: (_) @value) @on.assign (#set! changes "yes"))
(var_spec name: (_) @target type: (_) @type value: (_) @value) @on.assign
((var_spec name: (_) @target type: (_) @type !value) @on.assign (#set! empty "yes"))
(var_spec !type value: (_) @value) @on.assign
(const_spec name: (_) @target type: (_)? @type value: (_)? @value) @on.assign
(range_clause left: (_) @target right: (_) @value) @on.loop
(receive_statement left: (_) @target right: (_) @value) @on.assign
(type_switch_statement alias: (_) @target value: (_) @value) @on.assign
((type_switch_statement
  alias: (expression_list (identifier) @target)
  (type_case "case" . type: (_) @type . ":")) @on.assign (#set! inside "type"))
((type_switch_statement alias: (_) (type_case) @on.block) (#set! always "yes"))
(if_statement) @on.block
(if_statement consequence: (block) @on.block)
(if_statement alternative: (block) @on.block)
(for_statement) @on.block
(type_switch_statement) @on.block
(expression_switch_statement) @on.block
[(expression_case) (default_case) (communication_case)] @on.block
(statement_list (block) @on.block)
(function_declaration result: (parameter_list (parameter_declaration name: (_) @target type: (_) @type))) @on.assign
(method_declaration result: (parameter_list (parameter_declaration name: (_) @target type: (_) @type))) @on.assign
(func_literal result: (parameter_list (parameter_declaration name: (_) @target type: (_) @type))) @on.assign
(type_parameter_declaration name: (_) @target type: (_) @value) @on.assign
(return_statement (_) @value) @on.return
