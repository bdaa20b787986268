package tally;

import java.time.Duration;

/** Settings under {@code tally}. */
public class TallyProperties {
    /** The most connections at a time, 64 by default. */
    public static final int MAX_CONNECTIONS = 32;

    private int batchSize = 1000;
    private Duration flushInterval = Duration.ofSeconds(2);

    /** Whether rows are compressed. Defaults to {@code true}. */
    private boolean compressRows = false;
}
