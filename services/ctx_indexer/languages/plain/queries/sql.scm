(statement (create_table (object_reference) @name)) @definition.table
(statement (create_view (object_reference) @name)) @definition.table
(statement (create_materialized_view (object_reference) @name)) @definition.table
(statement (create_function (object_reference) @name)) @definition.function
(statement (create_index column: (identifier) @name)) @definition.rule
(statement (create_trigger . (keyword_create) (object_reference) @name)) @definition.rule
(statement (create_type (object_reference) @name)) @definition.type
(statement (create_schema (identifier) @name)) @definition.namespace
(statement (alter_table (object_reference) @name)) @definition.table

; --- references
(comment) @attached
(marginalia) @attached
(invocation (object_reference name: (identifier) @call))
(from (relation (object_reference name: (identifier) @call)))
(insert (object_reference name: (identifier) @call))
