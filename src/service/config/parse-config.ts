import { resolve, dirname } from 'node:path'
import { readFile } from 'node:fs/promises'
import { parseRegions } from '../../contract/regions/parse-regions.js'
import { readList, type Note, readText, take } from '../../contract/regions/read-parts.js'
import { type Parsed, showAddress } from '../../contract/setting-values.js'
import { readYaml } from '../../contract/yaml-text.js'
import { isLoopback, parseListen, parseRange } from '../addresses.js'
import { type Retention, type ServiceConfig, ConfigError } from './config.js'
import { readProjects } from './parse-projects.js'
import { readQuotas } from './parse-quotas.js'
import { atLeastOne, Keys, namesOf, parsing, parseSize, type Read, readDuration } from './keys.js'
import { readOidc } from './parse-oidc.js'
import { readLogin } from './parse-login.js'

/** What could not be read is undefined, and noted. */
type ReadConfig = { readonly [K in keyof ServiceConfig]: ServiceConfig[K] | undefined }

/** Reads the file's text; relative paths in it start at the folder. Every problem is found, with its key. */
export function parseConfig(text: string, folder: string) {
  const { value, problems: flaws } = readYaml(text)
  if (flaws.length > 0) return { config: undefined, problems: flaws.map((flaw) => `is not YAML: ${flaw}`) }
  const problems: string[] = []
  const note: Note = (problem) => void problems.push(problem)
  // An empty file has no keys: those it needs are named.
  const keys = new Keys(value === '' || value === null ? {} : value, CONFIG_KEYS, note, REQUIRED_KEYS)
  const readPath: Read<string> = (given, noteIt) => {
    const path = readText(given, noteIt)
    return path === undefined ? undefined : resolve(folder, path)
  }
  const login = keys.take('login', (given, noteIt) => readLogin(given, noteIt, readPath))
  const oidc = keys.take('oidc', (given, noteIt) => readOidc(given, noteIt, readPath))
  const projects = keys.take('projects', (given, noteIt) => readProjects(given, noteIt, { login, oidc }))
  const listed = projects && new Set(projects.keys())
  const quotas = keys.take('quotas', readQuotas)
  const config: ReadConfig = {
    listen: keys.take('listen', parsing(parseListen)),
    dataDir: keys.take('data', readPath),
    externalUrl: keys.take('external-url', parsing(parseExternalUrl)),
    tls: keys.take('tls', (given, noteIt) => readTls(given, noteIt, readPath)),
    trustedProxies: keys.take('behind-proxy', readProxies),
    oidc,
    maxNodes: keys.take('max-nodes', parsing(atLeastOne)),
    drainMs: keys.has('drain') ? keys.take('drain', readDuration) : readDuration(DEFAULT_DRAIN, note),
    retention: { ...keys.take('retention', readRetention), listed },
    login,
    quotas: quotas && { ...quotas, listed },
    metrics: keys.take('metrics', (given, noteIt) => readMetrics(given, noteIt, readPath)),
    regions: keys.take('regions', readRegions),
    projects
  }
  checkReach(config, keys, note)
  if (keys.has('login') && !keys.has('external-url'))
    note(
      'login needs external-url: the provider sends people back to <external-url>/login/callback, which is registered there'
    )
  const shared = config.oidc?.find(({ issuer }) => issuer === config.login?.issuer)
  if (shared !== undefined && shared.userClaim !== 'sub')
    note(
      `oidc: ${shared.issuer} is the issuer of login, too, where people are known by sub; remove its user-claim ${shared.userClaim}`
    )
  return { config: problems.length === 0 ? (config as ServiceConfig) : undefined, problems }
}

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
      `listen: ${host} can be reached from other machines, and without https anyone on the network could read the tokens; add tls: { certificate: …, key: … }, or behind-proxy: { trusted: [ … ] } if a proxy serves https, or listen on 127.0.0.1`
    )
  if (isEncrypted && config.externalUrl?.startsWith('http:'))
    note(
      `external-url: "${config.externalUrl}" is invalid; callers reach the service by https, so it must start with https://`
    )
}

function readTls(value: unknown, note: Note, readPath: Read<string>): ServiceConfig['tls'] {
  const keys = new Keys(value, TLS_KEYS, note, namesOf(TLS_KEYS))
  const certificate = keys.take('certificate', readPath)
  const key = keys.take('key', readPath)
  return certificate === undefined || key === undefined ? undefined : { certificate, key }
}

function readProxies(value: unknown, note: Note): readonly string[] | undefined {
  return new Keys(value, PROXY_KEYS, note, ['trusted']).take('trusted', readRanges)
}

function readRanges(value: unknown, note: Note): readonly string[] | undefined {
  const ranges = readList(value, note)
  if (Array.isArray(value) && ranges.length === 0)
    note('is an empty list; name at least one address or range')
  return ranges.flatMap(
    (element, index) => take(element, parseRange, (problem) => note(`element ${index + 1}: ${problem}`)) ?? []
  )
}

function readRetention(value: unknown, note: Note): Retention {
  const keys = new Keys(value, RETENTION_KEYS, note)
  const days = keys.take('days', parsing(atLeastOne))
  const bytes = keys.take('size', parsing(parseSize))
  const runsPerProject = keys.take('runs-per-project', parsing(atLeastOne))
  const atLeastMs = keys.take('at-least', readDuration)
  return {
    ...(days !== undefined && { days }),
    ...(bytes !== undefined && { bytes }),
    ...(runsPerProject !== undefined && { runsPerProject }),
    ...(atLeastMs !== undefined && { atLeastMs })
  }
}

function readMetrics(value: unknown, note: Note, readPath: Read<string>): ServiceConfig['metrics'] {
  const keys = new Keys(value, METRICS_KEYS, note)
  const tokenFile = keys.take('token-file', readPath)
  const allow = keys.take('allow', readRanges)
  if (keys.has('token-file') === keys.has('allow'))
    note('must have either token-file or allow: who may read the metrics')
  return { ...(tokenFile !== undefined && { tokenFile }), ...(allow !== undefined && { allow }) }
}

function readRegions(value: unknown, note: Note): ServiceConfig['regions'] {
  const { regions, problems } = parseRegions(value)
  for (const problem of problems) note(problem)
  return regions
}

/** Reads the file of `--config`; throws a ConfigError with everything that is wrong with it. */
export async function readServiceConfig(file: string): Promise<ServiceConfig> {
  const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
    throw new ConfigError(file, [`the file cannot be read: ${(thrown as Error).message}`])
  })
  const { config, problems } = parseConfig(text, dirname(resolve(file)))
  if (config === undefined) throw new ConfigError(file, problems)
  return config
}

/** An origin, without a slash at its end: pages and links are made for the root of a host. */
function parseExternalUrl(text: string): Parsed<string> {
  const url = /^https?:\/\/[^/\s]+\/?$/i.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (url?.username === '' && url.password === '' && url.search === '' && url.hash === '')
    return { ok: true, value: url.origin }
  return {
    ok: false,
    accepted: 'an https address without path, user name or query, such as https://load.example.com',
    shown: showAddress(text)
  }
}

/** The keys of the file, with what `schema/service.schema.json` says of them. */
export const CONFIG_KEYS = {
  listen:
    'Where the service listens: address and port, such as `0.0.0.0:8443`, `"[::1]:8443"` (in quotes), or `:8443` for all addresses. Port 0 is any free port. Beyond loopback it needs `tls` or `behind-proxy`.',
  data: 'Folder for runs, results, users and the audit log.',
  'external-url':
    'The address under which people and gates reach the service, used in links and redirects. Default: made from `listen` and the name of this machine.',
  tls: 'Serve https with this certificate. The files are read again when they change.',
  'behind-proxy': 'Instead of `tls`: a proxy in front of the service serves https.',
  oidc: 'Issuers of ID tokens that let callers in without a token of this service, such as GitHub Actions. Default: none.',
  'max-nodes':
    'How many nodes may be at work at a time, in all runs. Further runs wait. Default: a run on this machine has it to itself, with at most as many nodes as it has cores.',
  drain:
    'How long runs and uploads may go on when the service is told to end (SIGTERM), such as `10m`, or whole seconds; after that runs are ended and their results so far kept.',
  retention:
    'What is beyond one of these limits is deleted, the oldest first. Default: nothing is ever deleted.',
  login:
    'People sign in with single sign-on (OpenID Connect). The provider has to know the redirect address `<external-url>/login/callback`. Default: with tokens only.',
  quotas: 'What each user and each project may have at a time, and upload in a day. Default: no limits.',
  metrics: 'Serve `/metrics` to callers with this token, or from these addresses. Default: nobody.',
  regions: 'Where the nodes of each region run. Default: every region is this machine.',
  projects:
    'Who sees the private runs of each project, and who creates runs in it. Default: everyone sees everything, also what is private.'
} as const
export const REQUIRED_KEYS = ['listen', 'data'] as const satisfies readonly (keyof typeof CONFIG_KEYS)[]

export const TLS_KEYS = {
  certificate: 'File with the certificate and those between it and the root, in PEM format.',
  key: 'File with its private key, in PEM format.'
} as const

export const PROXY_KEYS = {
  trusted:
    'Addresses and ranges of the proxies. Their X-Forwarded-* headers are trusted; requests from elsewhere are refused.'
} as const

export const RETENTION_KEYS = {
  days: 'Age of a run at most, in days.',
  size: 'Size of all results at most, such as `50GB` or `1TiB`.',
  'runs-per-project':
    'Number of runs of a project at most, of those that have ended and are not pinned; in a project that is not in `projects`, of each creator.',
  'at-least':
    'How long each run stays after its end, whatever the limits say, such as `24h`: time for its gate to read the results.'
} as const
export const DEFAULT_AT_LEAST = '24h'

export const METRICS_KEYS = {
  'token-file':
    'File with the token that callers send as `Authorization: Bearer …`. It is read again when it changes.',
  allow: 'Addresses and ranges that need no token.'
} as const

export const DEFAULT_DRAIN = '10m'
