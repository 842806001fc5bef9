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
import { describeErrorBody } from '../http/error-body.js'
import { MalformedReplyError } from '../errors.js'
import type { Vocabulary } from '../../protocol/vocabulary.js'

/** Ids end up in outputs, paths and addresses, so only plain ones are let in. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

const LONGEST_STATUS = 100

export function isId(text: string): boolean {
  return ID.test(text)
}

/** Where an account's tokens lie, or would lie in a reply of another shape. */
const SECRET_PATH = /(_token|users(\[\d+\])?)$/

class OddPartError extends MalformedReplyError {
  constructor(
    operation: string,
    readonly what: string
  ) {
    super(operation, `the reply is not as documented: ${what}`)
  }
}

/** One reply, or a part of it, with the way to it for the error message. */
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

  /** The first of several keys that is there. */
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

  /** A state is a word or a few: it stands in logs, outputs and reports, and must not fill them. */
  status(): string {
    const text = this.text()
    if (text.length > LONGEST_STATUS) throw this.odd('a short text')
    return text
  }

  optionalText(): string | undefined {
    return this.missing ? undefined : this.text()
  }

  /** A whole number; text that holds one is taken too, for forms turn numbers into text. */
  optionalInteger(): number | undefined {
    if (this.missing || this.value === '') return undefined
    const number =
      typeof this.value === 'string' && /^-?\d+$/.test(this.value) ? Number(this.value) : this.value
    if (typeof number === 'number' && Number.isInteger(number)) return number
    throw this.odd('a whole number')
  }

  optionalTimestamp(): number | undefined {
    const text = this.optionalText()
    if (text === undefined || text === '') return undefined
    const at = Date.parse(text)
    if (Number.isNaN(at)) throw this.odd('a timestamp')
    return at
  }

  id(): string {
    const text = typeof this.value === 'number' ? String(this.value) : this.text()
    if (!isId(text)) throw this.odd('an id of letters, digits, - and _')
    return text
  }

  /** Read leniently: nothing where it is not what it should be, for it is not needed. */
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

  /** Only short plain values are quoted: an account's objects hold tokens. */
  private found(): string {
    if (this.value === undefined) return 'nothing'
    if (Array.isArray(this.value)) return 'a list'
    if (typeof this.value === 'object' && this.value !== null) return 'an object'
    return SECRET_PATH.test(this.path) ? 'something else' : shorten(JSON.stringify(this.value))
  }
}

/** Parses a reply's body, or says what came in its place. */
export function parseReply(operation: string, body: string): Part {
  try {
    // Some servers begin with a byte order mark, which is no JSON.
    return new Part(operation, '', JSON.parse(body.replace(/^\uFEFF/, '')))
  } catch {
    const found = body.trim() === '' ? 'an empty body' : describeErrorBody(redactTokens(body), '')
    // Without its cause: the parser's own message quotes the body, token or not.
    throw new MalformedReplyError(operation, `the service answered with success but without JSON: ${found}`)
  }
}

/** What is needed of a grid is its id and its status. */
export function decodeGrid(reply: Part): Grid {
  return { ...decodeMadeGrid(reply), status: reply.at('status').status() }
}

/** A grid as it is made, or as a run names it: whatever else is odd about it, its id is what it is ended by. */
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

/** A run to be watched: its status must be there. What is odd about its grids keeps nobody from seeing its end, or from stopping it. */
export function decodeRun(reply: Part, words: Vocabulary): Run {
  return { ...decodeMadeRun(reply, words), status: reply.at('status').status() }
}

/**
 * A run as it is made, or as a list names it: whatever else is odd about it, its id is what it is found and stopped by. A list holds
 * other people's runs too, and none of them may hide the one that is looked for.
 */
export function decodeMadeRun(reply: Part, words: Vocabulary): Run {
  const embedded = embeddedIn(reply)
  const { grids, oddGrids } = decodeGridsOf(embedded.at('grids'))
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
    results: entriesOf(embedded.at('results')).map(decodeResult)
  }
}

/** A grid by which no results can be found is not hidden: whoever judges the run must know that it is there. */
function decodeGridsOf(list: Part): { grids: Grid[]; oddGrids: string[] } {
  const grids: Grid[] = []
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
    for (const grid of list.list()) read(() => grids.push(decodeMadeGrid(grid)))
  })
  return { grids, oddGrids }
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

/** Whole seconds, also where somebody counts in fractions of them. */
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

/** An apdex of another type is kept as the text it would be: the judge finds it odd and says so. */
function decodeApdex(apdex: Part): string | null {
  if (apdex.missing) return null
  return textFor(apdex.value)
}

function decodeRemoteErrors(errors: Part): string | undefined {
  if (errors.missing) return undefined
  const text = textFor(errors.value)
  return text === '' || text === '[]' || text === '{}' ? undefined : text
}

/** Nobody explains anything in lists within lists; only an attack on the stack goes deeper. */
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

/** A result without a link is kept: it is part of the evidence, and its absence must show. */
function decodeResult(result: Part): ResultLink {
  const given = result.try((part) => part.object()) ? result : new Part(result.operation, result.path, {})
  return { name: textOf(given, 'name'), region: textOf(given, 'region'), href: textOf(given, 'href') ?? '' }
}

/** Entries without an id are left out, for nothing can be done with them. */
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

/** An object with `href`, or the address by itself. Anything else is an error: pages that are not read may hold what is looked for. */
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
    rehearsal: reply.at('rehearsal').value === true
  }
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

/** Half a reply is no JSON, and may still hold somebody's token. */
function redactTokens(body: string): string {
  return body.replace(/("[^"]*_token"\s*:\s*)("[^"]*"?|[^\s,}]+)/g, '$1"***"')
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 120 ? `${line.slice(0, 120)}…` : line
}
