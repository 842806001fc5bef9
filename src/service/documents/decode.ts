import type {
  Account,
  Credential,
  Grid,
  GridNode,
  Report,
  ResultLink,
  Run,
  RunPage,
  User
} from './documents.js'
import { decodeRunNodes } from './decode-nodes.js'
import { describeErrorBody } from '../http/error-body.js'
import { MalformedReplyError } from '../errors.js'
import type { Vocabulary } from '../../protocol/vocabulary.js'

/** Ids end up in outputs, paths and URLs, so only plain ones are accepted. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

/** A date and a time, and nothing else. */
const ZONELESS = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/
const LONGEST_STATUS = 100
const MAX_WARNINGS = 20
const MAX_WARNING_LENGTH = 1000

export function isId(text: string): boolean {
  return ID.test(text)
}

/** Where an account's tokens are, or would be in a reply with another structure. */
const SECRET_PATH = /(_token|users(\[\d+\])?)$/

class OddPartError extends MalformedReplyError {
  constructor(
    operation: string,
    readonly what: string
  ) {
    super(operation, `the reply is not as documented: ${what}`)
  }
}

/** A reply, or a part of it, with its path for the error message. */
class Part {
  constructor(
    readonly operation: string,
    readonly path: string,
    readonly value: unknown
  ) {}

  at(key: string): Part {
    const value = this.object()[key]
    return new Part(this.operation, this.path === '' ? key : `${this.path}.${key}`, value)
  }

  /** The first of several keys that exists. */
  first(...keys: string[]): Part {
    const found = keys.find((key) => this.object()[key] !== undefined)
    return this.at(found ?? keys[0] ?? '')
  }

  get missing(): boolean {
    return this.value === undefined || this.value === null
  }

  object(): Record<string, unknown> {
    if (typeof this.value === 'object' && this.value !== null && !Array.isArray(this.value))
      return this.value as Record<string, unknown>
    throw this.odd('an object')
  }

  list(): Part[] {
    if (this.missing) return []
    if (!Array.isArray(this.value)) throw this.odd('a list')
    return this.value.map(
      (value: unknown, index) => new Part(this.operation, `${this.path}[${index}]`, value)
    )
  }

  optionalObject(): Part {
    return this.missing ? new Part(this.operation, this.path, {}) : this
  }

  text(): string {
    if (typeof this.value === 'string') return this.value
    throw this.odd('text')
  }

  /** A status is a few words: it appears in logs, outputs and reports, and must not fill them. */
  status(): string {
    const text = this.text()
    if (text.length > LONGEST_STATUS) throw this.odd('a short text')
    return text
  }

  optionalText(): string | undefined {
    return this.missing ? undefined : this.text()
  }

  /** An integer; text that contains one is accepted too, since forms turn numbers into text. */
  optionalInteger(): number | undefined {
    if (this.missing || this.value === '') return undefined
    const number =
      typeof this.value === 'string' && /^-?\d+$/.test(this.value) ? Number(this.value) : this.value
    if (typeof number === 'number' && Number.isInteger(number)) return number
    throw this.odd('a whole number')
  }

  /** UTC if it does not say which zone, like the times in results: that of this machine is not the service's. */
  optionalTimestamp(): number | undefined {
    const text = this.optionalText()
    if (text === undefined || text === '') return undefined
    const at = Date.parse(ZONELESS.test(text) ? `${text}Z` : text)
    if (Number.isNaN(at)) throw this.odd('a timestamp')
    return at
  }

  id(): string {
    const text = typeof this.value === 'number' ? String(this.value) : this.text()
    if (!isId(text)) throw this.odd('an id of letters, digits, - and _')
    return text
  }

  /** Reads an optional value leniently: undefined if it is invalid. */
  try<T>(read: (part: Part) => T): T | undefined {
    try {
      return read(this)
    } catch {
      return undefined
    }
  }

  odd(wanted: string): OddPartError {
    return new OddPartError(
      this.operation,
      `${this.path || 'the reply'} should be ${wanted}, found ${this.found()}`
    )
  }

  /** Only short plain values are quoted: an account's objects contain tokens. */
  private found(): string {
    if (this.value === undefined) return 'nothing'
    if (Array.isArray(this.value)) return 'a list'
    if (typeof this.value === 'object' && this.value !== null) return 'an object'
    return SECRET_PATH.test(this.path) ? 'something else' : shorten(JSON.stringify(this.value))
  }
}

/** Parses a reply's body, or says what was sent instead. */
export function parseReply(operation: string, body: string): Part {
  try {
    // Some servers start with a byte order mark, which is not JSON.
    return new Part(operation, '', JSON.parse(body.replace(/^\uFEFF/, '')))
  } catch {
    const found = body.trim() === '' ? 'an empty body' : describeErrorBody(redactTokens(body), '')
    // Without the cause: the parser's message quotes the body, which may contain a token.
    throw new MalformedReplyError(operation, `the service reported success but sent no JSON: ${found}`)
  }
}

/** A grid must have an id and a status. */
export function decodeGrid(reply: Part): Grid {
  return { ...decodeMadeGrid(reply), status: reply.at('status').status() }
}

/** A grid in the reply to its creation, or in a run: whatever else is odd about it, its id is enough to terminate it. */
export function decodeMadeGrid(reply: Part): Grid {
  return {
    id: reply.at('uuid').id(),
    name: textOf(reply, 'name'),
    region: textOf(reply, 'region') ?? 'unknown',
    origin: textOf(reply, 'origin'),
    nodeCount: numberOf(reply, 'instance_quantity'),
    instanceType: textOf(reply, 'instance_type'),
    infrastructure: textOf(reply, 'infrastructure'),
    stopAfterMinutes: numberOf(reply, 'stop_after'),
    status: statusOf(reply),
    nodes: entriesOf(reply.first('nodes', 'resources')).flatMap((node) => node.try(decodeNode) ?? [])
  }
}

function decodeNode(node: Part): GridNode {
  return { address: textOf(node, 'ip'), state: textOf(node, 'state') }
}

/** A run to watch: it must have a status. Odd grids must not prevent seeing its end, or stopping it. */
export function decodeRun(reply: Part, words: Vocabulary): Run {
  return { ...decodeMadeRun(reply, words), status: reply.at('status').status() }
}

/**
 * A run in the reply to its creation, or in a list: whatever else is odd about it, its id is enough to find and stop it. A list contains
 * other users' runs too, and none of them may hide the wanted one.
 */
export function decodeMadeRun(reply: Part, words: Vocabulary): Run {
  const embedded = embeddedIn(reply)
  const { grids, oddGrids } = decodeGridsOf(embedded.at('grids'))
  const nodes = decodeRunNodes(reply.at('nodes').value)
  const queuePosition = decodePosition(reply.at('queue_position').value)
  return {
    id: reply.at('uuid').id(),
    status: statusOf(reply),
    apdex: decodeApdex(reply.at('apdex')),
    tool: textOf(reply, 'tool'),
    name: textOf(reply, 'name'),
    notes: textOf(reply, 'notes'),
    threads: numberOf(reply, 'threads'),
    rampupSeconds: secondsOf(reply, 'rampup'),
    durationSeconds: secondsOf(reply, 'duration'),
    tags: decodeTags(reply.at('tag_list')),
    permalink: textOf(reply, 'permalink'),
    remoteErrors: decodeRemoteErrors(reply.at('remote_errors')),
    startedMs: reply.at('started').try((part) => part.optionalTimestamp()),
    stoppedMs: reply.at('stopped').try((part) => part.optionalTimestamp()),
    grids,
    ...(oddGrids.length > 0 && { oddGrids }),
    files: entriesOf(embedded.first('files', words.files)).flatMap(
      (file) => file.try((part) => part.at('name').text()) ?? []
    ),
    results: entriesOf(embedded.at('results')).map(decodeResult),
    ...(queuePosition !== undefined && { queuePosition }),
    ...(nodes && { nodes })
  }
}

/** Another service may mean something else by it. */
function decodePosition(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined
}

/** A grid that is listed twice counts once. One whose results cannot be found is not hidden: the verdict must take it into account. */
function decodeGridsOf(list: Part): { grids: Grid[]; oddGrids: string[] } {
  const grids = new Map<string, Grid>()
  const oddGrids: string[] = []
  const read = (take: () => void): void => {
    try {
      take()
    } catch (thrown) {
      if (!(thrown instanceof OddPartError)) throw thrown
      oddGrids.push(thrown.what)
    }
  }
  read(() => {
    for (const part of list.list())
      read(() => {
        const grid = decodeMadeGrid(part)
        grids.set(grid.id, grid)
      })
  })
  return { grids: [...grids.values()], oddGrids }
}

const UNKNOWN = 'unknown'

function statusOf(reply: Part): string {
  return reply.at('status').try((part) => part.status()) ?? UNKNOWN
}

function textOf(reply: Part, key: string): string | undefined {
  return reply.at(key).try((part) => part.optionalText())
}

function numberOf(reply: Part, key: string): number | undefined {
  return reply.at(key).try((part) => part.optionalInteger())
}

/** Whole seconds, also if the service sends fractions. */
function secondsOf(reply: Part, key: string): number | undefined {
  const { value } = reply.at(key)
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof seconds === 'number' && Number.isFinite(seconds) ? Math.round(seconds) : undefined
}

function entriesOf(list: Part): Part[] {
  return list.try((part) => part.list()) ?? []
}

function embeddedIn(reply: Part): Part {
  const embedded = reply.at('_embedded')
  return embedded.try((part) => part.object()) ? embedded : new Part(reply.operation, '_embedded', {})
}

/** A list, or one text with commas as it was sent. */
function decodeTags(tags: Part): string[] {
  const list =
    typeof tags.value === 'string' ? tags.value.split(',') : entriesOf(tags).map(({ value }) => value)
  return list.flatMap((tag) =>
    typeof tag === 'string' || typeof tag === 'number'
      ? [String(tag).trim()].filter((text) => text !== '')
      : []
  )
}

/** An apdex of another type is kept as text: whoever judges it reports it as odd. */
function decodeApdex(apdex: Part): string | null {
  if (apdex.missing) return null
  return textFor(apdex.value)
}

function decodeRemoteErrors(errors: Part): string | undefined {
  if (errors.missing) return undefined
  const text = textFor(errors.value)
  return text === '' || text === '[]' || text === '{}' ? undefined : text
}

/** No real message is nested this deeply; only an attack on the stack is. */
const DEEPEST = 6

/** A text as it is, anything else as JSON. */
function textFor(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(withinDepth(value, DEEPEST))
}

function withinDepth(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return '… (nested too deeply to be shown)'
  if (Array.isArray(value)) return value.map((inner) => withinDepth(inner, depth - 1))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withinDepth(inner, depth - 1)]))
}

/** A result without a link is kept: it is part of the evidence, and the missing link must show. */
function decodeResult(result: Part): ResultLink {
  const given = result.try((part) => part.object()) ? result : new Part(result.operation, result.path, {})
  return { name: textOf(given, 'name'), region: textOf(given, 'region'), href: textOf(given, 'href') ?? '' }
}

/** Entries without an id are left out, since nothing can be done with them. */
export function decodeRunPage(reply: Part, words: Vocabulary): RunPage {
  const entries = reply.at('_embedded').at(words.runs).list()
  const runs = entries.flatMap((entry) => entry.try((part) => decodeMadeRun(part, words)) ?? [])
  return {
    runs,
    leftOut: entries.length - runs.length,
    total: numberOf(reply, 'total'),
    next: decodeLink(embeddedLinks(reply).at('next'))
  }
}

function embeddedLinks(reply: Part): Part {
  const links = reply.at('_links')
  return Array.isArray(links.value) ? new Part(reply.operation, '_links', {}) : links.optionalObject()
}

/** An object with `href`, or just the URL. Anything else is an error: unread pages may contain the wanted run. */
function decodeLink(link: Part): string | undefined {
  return typeof link.value === 'string' ? link.value : link.optionalObject().at('href').optionalText()
}

export function decodeReport(reply: Part): Report {
  const numbers = Object.entries(reply.object()).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number'
  )
  return {
    summary: reply.at('summary').try((summary) => summary.text()),
    means: Object.fromEntries(numbers),
    rehearsal: reply.at('rehearsal').value === true,
    warnings: decodeWarnings(reply.at('warnings').value)
  }
}

function decodeWarnings(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  return value
    .filter((text): text is string => typeof text === 'string')
    .slice(0, MAX_WARNINGS)
    .map((text) => text.slice(0, MAX_WARNING_LENGTH))
}

export function decodeAccount(reply: Part): Account {
  const embedded = reply.at('_embedded').optionalObject()
  return {
    email: reply.at('email').optionalText(),
    users: embedded.at('users').list().map(decodeUser),
    credentials: embedded.at('credentials').list().map(decodeCredential)
  }
}

function decodeUser(user: Part): User {
  return {
    id: user.at('id').optionalInteger(),
    email: user.at('email').optionalText(),
    authenticationToken: user.at('authentication_token').optionalText(),
    signInCount: user.at('sign_in_count').optionalInteger(),
    lastSignIn: user.at('last_sign_in_at').optionalText()
  }
}

function decodeCredential(credential: Part): Credential {
  return {
    id: credential.at('id').optionalInteger(),
    provider: credential.at('provider').optionalText(),
    description: credential.at('description').optionalText(),
    arn: credential.at('arn').optionalText(),
    accessKeyId: credential.at('access_key_id').optionalText()
  }
}

/** Half a reply is not JSON, but may still contain a token. */
function redactTokens(body: string): string {
  return body.replace(/("[^"]*_token"\s*:\s*)("[^"]*"?|[^\s,}]+)/g, '$1"***"')
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 120 ? `${line.slice(0, 120)}…` : line
}
