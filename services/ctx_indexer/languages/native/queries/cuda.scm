; inherits: cpp

; --- references
