[(preproc_if) (preproc_ifdef) (preproc_elif) (preproc_elifdef) (preproc_else)] @condition
