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
import { describeErrorBody } from './error-body.js'
import { MalformedReplyError } from './errors.js'
import type { Vocabulary } from './vocabulary.js'

/** Ids end up in outputs, paths and addresses, so only plain ones are let in. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

const LONGEST_STATUS = 100

export function isId(text: string): boolean {
  return ID.test(text)
}

/** Where an account's tokens lie, or would lie in a reply of another shape. */
const SECRET_PATH = /(_token|users(\[\d+\])?)$/

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

  odd(wanted: string): MalformedReplyError {
    return new MalformedReplyError(
      this.operation,
      `the reply is not as documented: ${this.path || 'the reply'} should be ${wanted}, found ${this.found()}`
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
    return new Part(operation, '', JSON.parse(body))
  } catch {
    const found = body.trim() === '' ? 'an empty body' : describeErrorBody(redactTokens(body), '')
    // Without its cause: the parser's own message quotes the body, token or not.
    throw new MalformedReplyError(operation, `the service answered with success but without JSON: ${found}`)
  }
}

export function decodeGrid(reply: Part): Grid {
  return {
    id: reply.at('uuid').id(),
    name: reply.at('name').optionalText(),
    region: reply.at('region').optionalText() ?? 'unknown',
    origin: reply.at('origin').optionalText(),
    nodeCount: reply.at('instance_quantity').optionalInteger(),
    instanceType: reply.at('instance_type').optionalText(),
    infrastructure: reply.at('infrastructure').optionalText(),
    stopAfterMinutes: reply.at('stop_after').optionalInteger(),
    status: reply.at('status').status(),
    nodes: reply.first('nodes', 'resources').list().map(decodeNode)
  }
}

function decodeNode(node: Part): GridNode {
  return { address: node.at('ip').optionalText(), state: node.at('state').optionalText() }
}

export function decodeRun(reply: Part, words: Vocabulary): Run {
  const embedded = reply.at('_embedded').optionalObject()
  return {
    id: reply.at('uuid').id(),
    status: reply.at('status').status(),
    apdex: decodeApdex(reply.at('apdex')),
    tool: reply.at('tool').optionalText(),
    name: reply.at('name').optionalText(),
    notes: reply.at('notes').optionalText(),
    threads: reply.at('threads').optionalInteger(),
    rampupSeconds: reply.at('rampup').optionalInteger(),
    durationSeconds: reply.at('duration').optionalInteger(),
    tags: reply
      .at('tag_list')
      .list()
      .map((tag) => tag.text()),
    permalink: reply.at('permalink').optionalText(),
    remoteErrors: decodeRemoteErrors(reply.at('remote_errors')),
    startedMs: reply.at('started').optionalTimestamp(),
    stoppedMs: reply.at('stopped').optionalTimestamp(),
    grids: embedded.at('grids').list().map(decodeGrid),
    files: embedded
      .first('files', words.files)
      .list()
      .map((file) => file.at('name').text()),
    results: embedded.at('results').list().map(decodeResult)
  }
}

/** An apdex of another type is kept as the text it would be: the judge finds it odd and says so. */
function decodeApdex(apdex: Part): string | null {
  if (apdex.missing) return null
  return typeof apdex.value === 'string' ? apdex.value : JSON.stringify(apdex.value)
}

function decodeRemoteErrors(errors: Part): string | undefined {
  if (errors.missing) return undefined
  const text = typeof errors.value === 'string' ? errors.value : JSON.stringify(errors.value)
  return text === '' || text === '[]' || text === '{}' ? undefined : text
}

function decodeResult(result: Part): ResultLink {
  return {
    name: result.at('name').optionalText(),
    region: result.at('region').optionalText(),
    href: result.at('href').text()
  }
}

export function decodeRunPage(reply: Part, words: Vocabulary): RunPage {
  const next = reply.at('_links').optionalObject().at('next').optionalObject().at('href')
  return {
    runs: reply
      .at('_embedded')
      .at(words.runs)
      .list()
      .map((run) => decodeRun(run, words)),
    total: reply.at('total').optionalInteger(),
    next: next.optionalText()
  }
}

export function decodeReport(reply: Part): Report {
  const numbers = Object.entries(reply.object()).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number'
  )
  return {
    summary: reply.at('summary').text(),
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
