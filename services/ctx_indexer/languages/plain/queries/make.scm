(rule (targets) @name) @definition.rule
(variable_assignment name: (word) @name) @definition.variable
(define_directive name: (word) @name) @definition.function

; --- references
(comment) @attached
(function_call function: _ @call)
(rule normal: (prerequisites (word) @call))
(include_directive filenames: (list (word) @import))
