import type { Regions } from '../regions/regions.js'

/** The file that `loadgate serve --config` reads. Paths are absolute: relative ones start at the folder of the file. */
export interface ServiceConfig {
  readonly listen: { readonly host: string; readonly port: number }
  readonly dataDir: string
  /** Without a slash at the end. */
  readonly externalUrl: string | undefined
  readonly tls: { readonly certificate: string; readonly key: string } | undefined
  /** Addresses and ranges of the proxies whose X-Forwarded-* headers are believed; undefined if there is no proxy. */
  readonly trustedProxies: readonly string[] | undefined
  readonly maxNodes: number | undefined
  readonly drainMs: number
  readonly retention: Retention
  readonly metrics: { readonly tokenFile?: string; readonly allow?: readonly string[] } | undefined
  readonly regions: Regions | undefined
}

/** Whatever is beyond one of these limits is deleted, oldest first; what is undefined has no limit. */
export interface Retention {
  readonly days?: number
  readonly bytes?: number
  readonly runsPerProject?: number
}
