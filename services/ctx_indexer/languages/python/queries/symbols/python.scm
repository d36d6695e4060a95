(function_definition name: (identifier) @name parameters: (_) @parameters return_type: (_)? @type) @on.function
(class_definition name: (identifier) @name superclasses: (_)? @bases) @on.class
(lambda parameters: (_)? @parameters body: (_) @value) @on.lambda
(decorator (_) @value) @on.decorator
(assignment left: (_) @target type: (_)? @type right: (_)? @value) @on.assign
(named_expression name: (_) @target value: (_) @value) @on.assign
(for_statement left: (_) @target right: (_) @value) @on.loop
(for_in_clause left: (_) @target right: (_) @value) @on.loop
(with_item value: (as_pattern . (_) @value alias: (as_pattern_target (_) @target))) @on.enter
(with_item value: [(call) (identifier) (attribute)] @value) @on.enter
(except_clause (as_pattern . (_) @type alias: (as_pattern_target (_) @target))) @on.catch
(except_clause . (_) @type . (identifier) @target) @on.catch
(return_statement (_) @value) @on.return
(yield (_) @value) @on.return
(raise_statement . [(identifier) (attribute)] @function) @on.call
(import_statement) @on.import
(import_from_statement) @on.import
