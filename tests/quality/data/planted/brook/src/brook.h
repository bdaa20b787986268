#ifndef BROOK_H
#define BROOK_H

#define BROOK_DEFAULT_PORT 6381
#define BROOK_MAX_CLIENTS 10000

/* Bytes of the output buffer: 16 KB by default. */
#define BROOK_OUTPUT_BUFFER (32 * 1024)

/* Milliseconds until a slow command is logged (10 ms). */
#define BROOK_SLOWLOG_MS 10

#endif
