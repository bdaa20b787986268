/// What `kiln.toml` may say.
pub struct Config {
    /// Columns of a line. Default: 100.
    pub line_width: usize,
    /// Columns of a tab. Default: 2.
    pub tab_width: usize,
    pub newline: String,
}

impl Default for Config {
    fn default() -> Self {
        Config { line_width: 100, tab_width: 4, newline: "unix".into() }
    }
}

/// The number of entries of the cache, 4096 by default.
pub const CACHE_ENTRIES: usize = 1024;
