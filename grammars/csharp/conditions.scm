[(preproc_if) (preproc_elif) (preproc_else)] @condition
