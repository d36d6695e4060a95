(class name: (_) @name superclass: (superclass (_) @base)?) @on.class
(module name: (_) @name) @on.class
(method name: (_) @name parameters: (_)? @parameters) @on.function
(singleton_method name: (_) @name parameters: (_)? @parameters) @on.function
(assignment left: (identifier) @name right: (lambda) @on.function)
(lambda parameters: (_) @parameters) @on.head
(lambda) @on.lambda
(method body: (body_statement) @on.result)
(singleton_method body: (body_statement) @on.result)
(return (argument_list (_) @value)) @on.return
(assignment left: (_) @target right: [(call) (identifier) (constant) (scope_resolution) (instance_variable) (array) (string) (integer) (binary) (conditional) (self)] @value) @on.assign
(operator_assignment left: (_) @target right: (_) @value) @on.assign
(block parameters: (block_parameters (identifier) @target)) @on.assign
(do_block parameters: (block_parameters (identifier) @target)) @on.assign
(call method: (identifier) @_m arguments: (argument_list (_) @base) (#any-of? @_m "include" "extend" "prepend")) @on.base
(call method: (identifier) @_m arguments: (argument_list (string)) (#any-of? @_m "require" "require_relative")) @on.import
(super) @function @on.call
