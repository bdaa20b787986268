package conf

import "time"

// DefaultMaxPayload is the largest message that is accepted, 1MB by default.
const DefaultMaxPayload = 2 * 1024 * 1024

// DefaultPingInterval is how often clients are pinged. The default is two minutes.
const DefaultPingInterval = 2 * time.Minute

// Config holds what the file says.
type Config struct {
	CheckInterval time.Duration `yaml:"check_interval"`
	MaxConcurrent int           `yaml:"max_concurrent"`
	LogFormat     string        `yaml:"log_format"`
	// Backlog is the number of waiting connections. Defaults to 128.
	Backlog int `yaml:"backlog"`
}

// DefaultConfig is used for what the file leaves out.
var DefaultConfig = Config{
	CheckInterval: time.Minute,
	MaxConcurrent: 16,
	LogFormat:     "json",
	Backlog:       256,
}
