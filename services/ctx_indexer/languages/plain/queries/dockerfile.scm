(from_instruction as: (image_alias) @name) @section.block
(from_instruction (image_spec) @name) @section.block

; --- references
(comment) @attached
(from_instruction (image_spec) @import)
