import { Choice } from '../data/seeded-choice.js'
import { mutateBytes } from '../data/mutate-bytes.js'
import { makeRandom } from '../data/seeded-random.js'
import {
  ESCAPED,
  ODD_FORMS,
  ODD_HEADERS,
  ODD_IDS,
  ODD_JSON,
  ODD_NUMBERS,
  ODD_TEXTS,
  ODD_TYPES
} from './odd-values.js'
import type { RawRequest } from './wire.js'

export interface Route {
  readonly method: string
  readonly url: string
}

export const CALLERS = ['admin', 'member', 'viewer', 'session', 'stranger', 'nobody'] as const
export type Caller = (typeof CALLERS)[number]

/** What the generator may refer to: it grows with what the service has created. */
export interface Known {
  readonly routes: readonly Route[]
  readonly host: string
  /** By caller, of those who have one. */
  readonly tokens: Readonly<Partial<Record<Caller, string>>>
  /** Of an admin's session in a browser: the whole header. */
  readonly cookie: string
  readonly ids: readonly string[]
}

export interface FuzzRequest extends RawRequest {
  readonly caller: Caller
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']
const ODD_METHODS = ['TRACE', 'PROPFIND', 'CONNECT', 'get', 'X', 'QUERY', '']
const QUERY_KEYS = [
  'page',
  'token',
  'grid_id',
  'name',
  'project',
  'tag',
  'user',
  'status',
  'per_page',
  'next',
  'q'
]
const PLAN =
  '<jmeterTestPlan><hashTree><HTTPSamplerProxy testname="home" enabled="true"/><hashTree/></hashTree></jmeterTestPlan>'

const THRESHOLDS = [
  ['p95 < 800ms'],
  ['apdex >= 0.85', 'warn: mean < 1ms'],
  [],
  ['p95{label="*"} < 1s'],
  'p99 < 1s'
]

/** One request of the sequence: the same for the same seed, but for ids and tokens. */
export function makeRequest(seed: number, known: Known): FuzzRequest {
  const choice = new Choice(seed)
  // Few requests create something, but most of the others need it.
  const creating = known.routes.filter(({ method, url }) => method === 'POST' && !url.includes(':'))
  const route = choice.of(choice.chance(0.2) ? creating : known.routes)
  const caller = choice.chance(0.5) ? 'admin' : choice.of(CALLERS.slice(1))
  const method = choice.chance(0.7) ? route.method : choice.of(choice.chance(0.9) ? METHODS : ODD_METHODS)
  const path = makePath(choice, route, known)
  const { type, body } = makeBody(choice, { method, seed, known, url: route.url })
  const isMisleading = choice.chance(0.01)
  const isChunked = !isMisleading && choice.chance(0.1)
  const length = String(isMisleading ? body.length + choice.between(-3, 9) : body.length)
  const headers: (readonly [string, string])[] = [
    ...hostHeader(choice, known),
    ...credentials(caller, known),
    ...(isChunked ? [['transfer-encoding', 'chunked'] as const] : []),
    ...(isChunked || (body.length === 0 && !isMisleading) ? [] : [['content-length', length] as const]),
    ...(type === undefined ? [] : [['content-type', type] as const]),
    ...Array.from({ length: choice.of([0, 0, 0, 1, 1, 2, 4]) }, () => choice.of(ODD_HEADERS)),
    ...(choice.chance(0.1) ? [['origin', `https://${known.host}`] as const] : []),
    // Through a proxy, each from an address of its own, which is the last: guesses from one address are slowed down.
    ...(choice.chance(0.99) ? [['x-forwarded-for', addressOf(seed)] as const] : []),
    // The last one counts.
    ...(seed % 100 === 0 ? [] : [['x-forwarded-proto', 'https'] as const])
  ]
  const isUnfinished = headers.some(([name]) => ['upgrade', 'expect'].includes(name))
  const isOwnLength = headers.filter(([name]) => name === 'transfer-encoding').length > (isChunked ? 1 : 0)
  return {
    ...{ method, path, headers, body, isChunked, caller },
    isMisleading: isMisleading || isOwnLength || isUnfinished || method === 'CONNECT' || method === ''
  }
}

const addressOf = (seed: number): string => `10.${(seed >> 16) & 255}.${(seed >> 8) & 255}.${seed & 255}`

function hostHeader(choice: Choice, { host }: Known): (readonly [string, string])[] {
  if (choice.chance(0.96)) return [['host', host]]
  return choice.of([
    [],
    [['host', 'evil.example']],
    [['host', '']],
    [['host', '[']],
    [
      ['host', host],
      ['host', 'evil.example']
    ]
  ])
}

function credentials(caller: Caller, { tokens, cookie }: Known): (readonly [string, string])[] {
  if (caller === 'nobody') return []
  if (caller === 'session') return [['cookie', cookie]]
  const token = tokens[caller] ?? `lg_1_${'x'.repeat(43)}`
  return [['authorization', `Basic ${Buffer.from(`${token}:`).toString('base64')}`]]
}

function makePath(choice: Choice, { url }: Route, known: Known): string {
  const filled = url.replaceAll(/:\w+/g, () =>
    known.ids.length > 0 && choice.chance(0.75) ? choice.of(known.ids) : choice.of(ODD_IDS)
  )
  const path = `${choice.chance(0.3) ? '/api' : ''}${filled === '*' ? '/*' : filled}`
  const query = choice.chance(0.3) ? `?${makeQuery(choice, known)}` : ''
  return `${choice.chance(0.1) ? bend(choice, path) : path}${query}`
}

function bend(choice: Choice, path: string): string {
  return choice.of([
    `/${path}`,
    `${path}/`,
    `${path}//`,
    path.toUpperCase(),
    `${path}/..`,
    `${path}/../../../etc/passwd`,
    `${path}%2f..%2f..`,
    `${path};a=b`,
    `${path}.json`,
    `${path}%00`,
    `${path}#x`,
    `http://evil.example${path}`,
    `/api/api${path}`,
    '*',
    '',
    `${path}/${choice.of(ODD_IDS)}`,
    path.replaceAll('/', '/./')
  ])
}

/** Half a pair of surrogates has no bytes. */
function escape(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString())
}

function makeQuery(choice: Choice, { tokens, ids }: Known): string {
  const pair = (): string => {
    const key = choice.of(QUERY_KEYS)
    if (key === 'token' && choice.chance(0.5)) return `token=${tokens.admin ?? ''}`
    const values = [...ODD_TEXTS, ...ODD_NUMBERS, ...ids, 'running', 'finished', 'queued']
    const suffix = choice.chance(0.1) ? choice.of(['[]', '[a]', '%5B%5D']) : ''
    return `${key}${suffix}=${escape(choice.of(values))}`
  }
  if (choice.chance(0.1))
    return choice.of(['%ff=%', '&&&', '__proto__=1', '?', '=', 'page=%', 'a'.repeat(9000)])
  return Array.from({ length: choice.between(1, 3) }, pair).join('&')
}

interface Sending {
  readonly method: string
  readonly seed: number
  readonly known: Known
  readonly url: string
}

function makeBody(choice: Choice, sending: Sending): { type?: string; body: Buffer } {
  const { method, seed, known, url } = sending
  if (choice.chance(['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(method) ? 0.9 : 0.05))
    return { body: Buffer.alloc(0) }
  const boundary = 'xx'
  const kinds: (() => { type?: string; body: Buffer })[] = [
    () => form(boundary, runFields(choice, known)),
    () => {
      const { type, body } = form(boundary, runFields(choice, known))
      return { type, body: Buffer.from(mutateBytes(body, makeRandom(seed))) }
    },
    () => json(Object.fromEntries([['grid', Object.fromEntries(specFields(choice))]])),
    () => json({ run: Object.fromEntries(fieldsOfRun(choice)) }),
    () => ({ type: 'application/json', body: Buffer.from(choice.of(ODD_JSON)) }),
    () => ({ type: 'application/x-www-form-urlencoded', body: Buffer.from(choice.of(ODD_FORMS)) }),
    () => ({
      type: 'application/x-www-form-urlencoded',
      body: Buffer.from(`token=${known.tokens.viewer ?? known.tokens.admin ?? ''}`)
    }),
    () => ({ type: choice.of(ODD_TYPES), body: Buffer.from(choice.of([...ODD_JSON, ...ODD_FORMS])) }),
    () => ({ body: Buffer.from(choice.of(ODD_TEXTS)) })
  ]
  if (choice.chance(0.6)) {
    const [run, , grid, , , , token] = kinds
    const fitting = [
      { path: /\/runs$/, make: run },
      { path: /\/grids$/, make: grid },
      { path: /\/login/, make: token },
      { path: /\/thresholds$/, make: () => json({ thresholds: choice.of(THRESHOLDS) }) }
    ].find(({ path }) => path.test(url))?.make
    if (fitting) return fitting()
  }
  if (choice.chance(0.002)) return { type: 'application/json', body: Buffer.alloc(3 * 1024 ** 2, '[') }
  return choice.of(kinds)()
}

const json = (value: unknown): { type: string; body: Buffer } => ({
  type: 'application/json',
  body: Buffer.from(JSON.stringify(value))
})

type Part = readonly [name: string, value: string, fileName?: string]

function form(boundary: string, parts: readonly Part[]): { type: string; body: Buffer } {
  const texts = parts.map(([name, value, fileName]) => {
    const file = fileName === undefined ? '' : `; filename="${fileName}"`
    return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`
  })
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.from(`${texts.join('')}--${boundary}--\r\n`)
  }
}

/** A run that could be started, with up to three odd values. */
function runFields(choice: Choice, known: Known): Part[] {
  const gridFields: Part[] = choice.chance(0.1)
    ? [['run[grids][][uuid]', choice.of([...known.ids, ...ODD_IDS])]]
    : specFields(choice).map(([key, value]) => [`run[grids][][${key}]`, value])
  const fields = fieldsOfRun(choice).map(([key, value]): Part => [`run[${key}]`, value])
  const name = choice.chance(0.1)
    ? choice.of(ODD_TEXTS)
    : choice.of(['plan.jmx', 'Plan.scala', 'test.js', 'plan.jmx'])
  const files: Part[] = [['run_files[]', choice.chance(0.1) ? choice.of(ODD_TEXTS) : PLAN, name]]
  if (choice.chance(0.1))
    files.push(['run_files[]', 'a,b', choice.of(['data.csv', `../../${ESCAPED}.csv`, name])])
  return [...fields, ...gridFields, ...files]
}

function fieldsOfRun(choice: Choice): (readonly [string, string])[] {
  const fields: (readonly [string, string])[] = [
    ['tool', choice.chance(0.1) ? choice.of([...ODD_TEXTS, 'gatling']) : 'jmeter'],
    ['duration', choice.chance(0.1) ? choice.of(ODD_NUMBERS) : choice.of(['1', '2'])],
    ['threads', choice.chance(0.1) ? choice.of(ODD_NUMBERS) : '2']
  ]
  const rest = [
    'name',
    'notes',
    'project',
    'tag_list',
    'privacy_flag',
    'rampup',
    'override_hosts',
    'override_parameters'
  ]
  for (const key of rest) {
    const value = choice.of([...ODD_TEXTS, ...ODD_NUMBERS])
    if (choice.chance(key === 'name' || key === 'project' || key === 'tag_list' ? 0.3 : 0.04))
      fields.push([key, value])
  }
  if (choice.chance(0.1))
    fields.push([
      'override_parameters',
      choice.of([
        '-Jrehearsal.realtime=true',
        '-Jrehearsal.mean=x',
        '-Jrehearsal.problem=none',
        '-J=',
        '-Da=b'
      ])
    ])
  return fields
}

function specFields(choice: Choice): (readonly [string, string])[] {
  const odd = (value: string, odds: readonly string[]): string =>
    choice.chance(0.04) ? choice.of(odds) : value
  return [
    ['infrastructure', odd('demand', ODD_TEXTS)],
    ['instance_quantity', odd('1', ODD_NUMBERS)],
    ['region', odd('local', ODD_TEXTS)],
    ['instance_type', odd('m5.large', ODD_TEXTS)],
    ['stop_after', odd('1', ODD_NUMBERS)]
  ]
}
