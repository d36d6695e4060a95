(function_item name: (_) @name parameters: (_) @parameters return_type: (_)? @type) @on.function
(function_signature_item name: (_) @name parameters: (_) @parameters return_type: (_)? @type) @on.function
(struct_item name: (_) @name) @on.class
(enum_item name: (_) @name) @on.class
(union_item name: (_) @name) @on.class
(trait_item name: (_) @name bounds: (trait_bounds (_) @base)?) @on.class
(impl_item trait: (_)? @base type: (_) @owner) @on.extension
(mod_item name: (_) @name body: (_)) @on.module
(mod_item !body) @on.import
(use_declaration) @on.import
(let_declaration pattern: (identifier) @name value: (closure_expression) @on.function)
(closure_expression parameters: (_) @parameters) @on.head
(closure_expression) @on.lambda
(closure_expression body: [(call_expression) (identifier) (field_expression)] @on.return)
(field_declaration name: (_) @target type: (_) @type) @on.assign
(let_declaration pattern: (_) @target type: (_)? @type value: [(call_expression) (identifier) (field_expression) (struct_expression) (reference_expression) (await_expression) (try_expression) (scoped_identifier) (index_expression)]? @value) @on.assign
(let_condition pattern: (tuple_struct_pattern type: (_) . (identifier) @target) value: (_) @value) @on.assign
(match_expression value: (_) @value body: (match_block (match_arm pattern: (match_pattern (tuple_struct_pattern type: (identifier) @_some . (identifier) @target)) (#any-of? @_some "Some" "Ok")))) @on.assign
(assignment_expression left: (field_expression) @target right: (_) @value) @on.assign
(static_item name: (_) @target type: (_) @type) @on.assign
(const_item name: (_) @target type: (_) @type) @on.assign
(type_item name: (_) @target type: (_) @value) @on.assign
(type_parameter name: (_) @target bounds: (trait_bounds . (_) @value)) @on.assign
(for_expression pattern: (_) @target value: (_) @value) @on.loop
(return_expression (_) @value) @on.return
(function_item body: (block) @on.result)
