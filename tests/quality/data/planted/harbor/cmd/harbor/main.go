package main

import (
	"flag"
	"time"
)

func main() {
	listen := flag.String("web.listen-address", ":9110", "Address to listen on.")
	read := flag.Duration("web.read-timeout", 5*time.Minute, "Time until a slow client is cut off.")
	retention := flag.String("storage.retention", "15d", "How long samples are kept.")
	drain := flag.Duration("drain-timeout", 30*time.Second, "How long connections are drained.")
	queue := flag.Int("queue-length", 1000, "Samples that wait to be sent (default 10000).")
	flag.Parse()
	_, _, _, _, _ = listen, read, retention, drain, queue
}
