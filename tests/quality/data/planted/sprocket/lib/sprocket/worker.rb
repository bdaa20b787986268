module Sprocket
  class Worker
    MAX_RETRIES = 20
    # Jobs are dead after this many days (default: 180).
    DEAD_JOB_DAYS = 180

    DEFAULTS = {
      concurrency: 5,
      shutdown_timeout: 25,
      poll_interval_average: nil
    }

    # Fetches the next job.
    #
    # @param queue [String] where to look
    # @param wait [Integer] seconds to wait (defaults to 5)
    def fetch(queue, wait: 2)
      [queue, wait]
    end
  end
end
