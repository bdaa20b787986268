export interface CacheOptions {
  /** Milliseconds until a query is stale. Defaults to 0. */
  staleTime?: number
  /** @default 600000 */
  gcTime?: number
  /**
   * How often a failed query is tried again.
   * @default 3
   */
  retryCount?: number
  retryDelay?: number
  /** Whether a refocused window fetches again (default: false). */
  refetchOnFocus?: boolean
}

export const defaultCacheOptions: Required<CacheOptions> = {
  staleTime: 0,
  gcTime: 5 * 60 * 1000,
  retryCount: 4,
  retryDelay: 1000,
  refetchOnFocus: true,
}

export class QueryCache {
  /** Entries beyond this many are dropped; 500 unless configured. */
  maxEntries = 1000

  constructor(private options: CacheOptions = {}) {}
}
