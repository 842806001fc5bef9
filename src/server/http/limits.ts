/** What one caller may take from the others. */
export interface Limits {
  /** Until the headers of a request are there, from the start of the connection or the end of the request before. */
  readonly headersMs: number
  /** Until the body of a request without files is there. */
  readonly bodyMs: number
  /** A body with files may take any time, as long as it brings this many bytes in each window. */
  readonly uploadBytes: number
  readonly uploadWindowMs: number
  /** Between two requests on a connection. */
  readonly keepAliveMs: number
  /** A connection on which nothing is sent or received, not even the beats of an event stream. */
  readonly silenceMs: number
  readonly headerBytes: number
  readonly connections: number
  /** Proxies and this machine itself are exempt: many callers share their address. */
  readonly connectionsPerAddress: number
}

export const DEFAULT_LIMITS: Limits = {
  headersMs: 20_000,
  bodyMs: 60_000,
  uploadBytes: 10_000,
  uploadWindowMs: 20_000,
  keepAliveMs: 72_000,
  silenceMs: 10 * 60_000,
  headerBytes: 16 * 1024,
  connections: 2000,
  connectionsPerAddress: 200
}
