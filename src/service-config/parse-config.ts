import { resolve } from 'node:path'
import { parseRegions } from '../regions/parse-regions.js'
import { readKeys, readList, type Note } from '../regions/read-parts.js'
import { readText, take } from '../regions/read-values.js'
import { parseDurationSeconds, parseInteger, type Parsed } from '../values/setting-values.js'
import { readYaml } from '../values/yaml-text.js'
import { isLoopback, parseListen, parseRange } from './addresses.js'
import {
  CONFIG_KEYS,
  DEFAULT_DRAIN,
  METRICS_KEYS,
  namesOf,
  PROXY_KEYS,
  REQUIRED_KEYS,
  RETENTION_KEYS,
  TLS_KEYS
} from './config-keys.js'
import type { Retention, ServiceConfig } from './config.js'
import { parseExternalUrl } from './external-url.js'
import { parseSize } from './size.js'

export interface ParsedConfig {
  /** Undefined if there are problems. */
  readonly config: ServiceConfig | undefined
  readonly problems: readonly string[]
}

/** What could not be read is undefined, and noted. */
type ReadConfig = { readonly [K in keyof ServiceConfig]: ServiceConfig[K] | undefined }

type Read<T> = (value: unknown, note: Note) => T | undefined

/** Reads the file's text; relative paths in it start at the folder. Every problem is found, with its key. */
export function parseConfig(text: string, folder: string): ParsedConfig {
  const problems: string[] = []
  const config = readConfig(text, { folder, note: (problem) => void problems.push(problem) })
  return { config: problems.length === 0 ? config : undefined, problems }
}

function readConfig(
  text: string,
  { folder, note }: { folder: string; note: Note }
): ServiceConfig | undefined {
  const { value, problems } = readYaml(text)
  for (const problem of problems) note(`is not YAML: ${problem}`)
  if (problems.length > 0) return undefined
  // An empty file has no keys: those it needs are named below.
  const keys = new Keys(
    readKeys(value === '' || value === null ? {} : value, namesOf(CONFIG_KEYS), note),
    note
  )
  for (const key of REQUIRED_KEYS) if (!keys.has(key)) note(`${key} is missing: ${CONFIG_KEYS[key]}`)
  const readPath: Read<string> = (given, noteIt) => {
    const path = readText(given, noteIt)
    return path === undefined ? undefined : resolve(folder, path)
  }
  const config: ReadConfig = {
    listen: keys.take('listen', parsing(parseListen)),
    dataDir: keys.take('data', readPath),
    externalUrl: keys.take('external-url', parsing(parseExternalUrl)),
    tls: keys.take('tls', (given, noteIt) => readTls(given, noteIt, readPath)),
    trustedProxies: keys.take('behind-proxy', readProxies),
    maxNodes: keys.take('max-nodes', parsing(atLeastOne)),
    drainMs: keys.has('drain') ? keys.take('drain', readDuration) : readDuration(DEFAULT_DRAIN, note),
    retention: keys.take('retention', readRetention) ?? {},
    metrics: keys.take('metrics', (given, noteIt) => readMetrics(given, noteIt, readPath)),
    regions: keys.take('regions', readRegions)
  }
  checkReach(config, keys, note)
  return config as ServiceConfig
}

/** What a map of the file has, each value read with its key in front of what is wrong with it. */
class Keys<K extends string> {
  constructor(
    private readonly values: ReadonlyMap<K, unknown>,
    private readonly note: Note
  ) {}

  has(key: K): boolean {
    return this.values.has(key)
  }

  take<T>(key: K, read: Read<T>): T | undefined {
    if (!this.values.has(key)) return undefined
    return read(this.values.get(key), (problem) => this.note(`${key}: ${problem}`))
  }
}

function parsing<T>(parse: (text: string) => Parsed<T>): Read<T> {
  return (value, note) => take(value, parse, note)
}

const atLeastOne = (text: string): Parsed<number> => parseInteger(text, { least: 1 })

/** Neither is wrong in itself; together they must not put tokens on the wire in plain text. */
function checkReach(config: ReadConfig, keys: Keys<keyof typeof CONFIG_KEYS>, note: Note): void {
  const isEncrypted = keys.has('tls') || keys.has('behind-proxy')
  if (keys.has('tls') && keys.has('behind-proxy'))
    note(
      'tls and behind-proxy exclude each other: either the service serves https itself, or a proxy does; remove one'
    )
  const { host = '127.0.0.1' } = config.listen ?? {}
  if (!isEncrypted && !isLoopback(host))
    note(
      `listen: ${host} can be reached from other machines, and without https everyone on the way reads the tokens; add tls: { certificate: …, key: … }, or behind-proxy: { trusted: [ … ] } if a proxy serves https, or listen on 127.0.0.1`
    )
  if (isEncrypted && config.externalUrl?.startsWith('http:'))
    note(
      `external-url: "${config.externalUrl}" is invalid; callers reach the service by https, so it must start with https://`
    )
}

function readTls(value: unknown, note: Note, readPath: Read<string>): ServiceConfig['tls'] {
  const keys = new Keys(readKeys(value, namesOf(TLS_KEYS), note), note)
  const certificate = keys.take('certificate', readPath)
  const key = keys.take('key', readPath)
  for (const name of namesOf(TLS_KEYS)) if (!keys.has(name)) note(`${name} is missing: ${TLS_KEYS[name]}`)
  return certificate === undefined || key === undefined ? undefined : { certificate, key }
}

function readProxies(value: unknown, note: Note): readonly string[] | undefined {
  const keys = new Keys(readKeys(value, namesOf(PROXY_KEYS), note), note)
  if (!keys.has('trusted')) note(`trusted is missing: ${PROXY_KEYS.trusted}`)
  return keys.take('trusted', readRanges)
}

function readRanges(value: unknown, note: Note): readonly string[] | undefined {
  const ranges = readList(value, note)
  if (Array.isArray(value) && ranges.length === 0)
    note('is an empty list; name at least one address or range')
  return ranges.flatMap(
    (element, index) => take(element, parseRange, (problem) => note(`element ${index + 1}: ${problem}`)) ?? []
  )
}

function readDuration(value: unknown, note: Note): number | undefined {
  const seconds = take(value, (text) => parseDurationSeconds(text, 0), note)
  return seconds === undefined ? undefined : seconds * 1000
}

function readRetention(value: unknown, note: Note): Retention {
  const keys = new Keys(readKeys(value, namesOf(RETENTION_KEYS), note), note)
  const days = keys.take('days', parsing(atLeastOne))
  const bytes = keys.take('size', parsing(parseSize))
  const runsPerProject = keys.take('runs-per-project', parsing(atLeastOne))
  return {
    ...(days !== undefined && { days }),
    ...(bytes !== undefined && { bytes }),
    ...(runsPerProject !== undefined && { runsPerProject })
  }
}

function readMetrics(value: unknown, note: Note, readPath: Read<string>): ServiceConfig['metrics'] {
  const keys = new Keys(readKeys(value, namesOf(METRICS_KEYS), note), note)
  const tokenFile = keys.take('token-file', readPath)
  const allow = keys.take('allow', readRanges)
  if (keys.has('token-file') === keys.has('allow'))
    note('must have either token-file or allow: who may read the figures')
  return { ...(tokenFile !== undefined && { tokenFile }), ...(allow !== undefined && { allow }) }
}

function readRegions(value: unknown, note: Note): ServiceConfig['regions'] {
  const { regions, problems } = parseRegions(value)
  for (const problem of problems) note(problem)
  return regions
}
