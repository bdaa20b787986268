use clap::Parser;

#[derive(Parser)]
struct Args {
    /// Files above this size are skipped [default: 10485760]
    #[arg(long, default_value_t = 5 * 1024 * 1024)]
    max_file_size: u64,

    /// Seconds until a plugin is stopped, 20 by default.
    #[arg(long, default_value = "60")]
    plugin_timeout: u64,

    #[arg(long, default_value = "auto")]
    colour: String,
}

fn main() {}
