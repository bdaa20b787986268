(preproc_include path: [(string_literal) (system_lib_string) (identifier)] @import.module) @import
; @import UIKit.UIView; @class is a forward declaration, and says nothing about where.
(module_import "@import" . path: (identifier) @import.module) @import
