(package_clause (package_identifier) @name) @on.package
(import_spec) @on.import
(function_declaration name: (_) @name parameters: (_) @parameters result: (_)? @type) @on.function
(method_declaration
  receiver: (parameter_list (parameter_declaration name: (_)? @self type: (_) @owner))
  name: (_) @name parameters: (_) @parameters result: (_)? @type) @on.function
(method_elem name: (_) @name parameters: (_) @parameters result: (_)? @type @declaration) @on.function
(short_var_declaration left: (expression_list . (identifier) @name) right: (expression_list . (func_literal) @on.function))
(var_spec name: (identifier) @name value: (expression_list . (func_literal) @on.function))
(func_literal parameters: (_) @parameters result: (_)? @type) @on.head
(func_literal) @on.lambda
(type_spec name: (_) @name type: [(struct_type) (interface_type)]) @on.class
(type_spec name: (_) @name type: [(type_identifier) (qualified_type) (pointer_type)] @base) @on.class
(type_spec name: (_) @name type: [(map_type) (slice_type) (function_type) (array_type)]) @on.class
(type_alias name: (_) @target type: (_) @value) @on.assign
(field_declaration name: (_) @target type: (_) @type) @on.assign
(field_declaration !name type: (_) @base) @on.base
(interface_type (type_elem (_) @base)) @on.base
(short_var_declaration left: (_) @target right: (_) @value) @on.assign
(assignment_statement left: (_) @target right: (_) @value) @on.assign
(var_spec name: (_) @target type: (_)? @type value: (_)? @value) @on.assign
(const_spec name: (_) @target value: (_)? @value) @on.assign
(range_clause left: (_) @target right: (_) @value) @on.loop
(type_parameter_declaration name: (_) @target type: (_) @value) @on.assign
(return_statement (_) @value) @on.return
