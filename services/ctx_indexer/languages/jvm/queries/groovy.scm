((command (unit (identifier) @_class) (block (unit (identifier) @name))) @definition.class
  (#any-of? @_class "class" "interface" "trait" "enum"))
((command (unit (identifier)) (block (unit (func (identifier) @name)))) @definition.function)

; --- references
(func (identifier) @call)
((command . (unit (identifier) @_import) . (unit) @import) (#eq? @_import "import"))
