import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { json } from '../fake-service.js'

export interface ApiCall {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly authorization: string | undefined
  readonly body: unknown
}

export interface ApiComment {
  readonly id: number
  body: string
  readonly user: { readonly login: string; readonly type: 'Bot' | 'User' }
}

export interface ApiPull {
  readonly number: number
  readonly state: 'open' | 'closed'
  readonly head: {
    readonly ref: string
    readonly sha: string
    readonly repo: { readonly full_name: string } | null
  }
}

/** Answers in place of the API, or lets it answer (false). */
export type ApiFault = (call: ApiCall, response: ServerResponse) => boolean

const REPOSITORY = '/repos/octo/shop'
/** GitHub gives 30 where nothing is said, and never more than 100. */
const PAGE = 30
const LARGEST_PAGE = 100

/** The part of GitHub's API that a comment needs, in memory and on loopback. */
export class GitHubApi {
  readonly calls: ApiCall[] = []
  readonly comments = new Map<number, ApiComment[]>()
  readonly pulls: ApiPull[] = []
  readonly faults: ApiFault[] = []
  login = 'github-actions[bot]'
  /** What a call waits for before it is answered. */
  pause: (call: ApiCall) => Promise<void> = () => Promise.resolve()
  /** What a list shows; a list may lag behind. */
  shown: (comments: readonly ApiComment[]) => readonly unknown[] = (comments) => comments
  /** Answers what is not about comments. */
  more: ApiFault = () => false
  #server: Server | undefined
  #count = 1000

  get url(): string {
    return `http://127.0.0.1:${(this.#server?.address() as AddressInfo).port}`
  }

  async start(): Promise<this> {
    this.#server = createServer((request, response) => void this.#receive(request, response))
    await new Promise<void>((done) => this.#server?.listen(0, '127.0.0.1', done))
    return this
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections()
    await new Promise((done) => this.#server?.close(done))
  }

  made(method: string, path: RegExp): ApiCall[] {
    return this.calls.filter((call) => call.method === method && path.test(call.path))
  }

  /** Everything on that path is answered so. */
  refuse(path: RegExp, status: number, message: string, method = /./): void {
    this.faults.push((call, response) => {
      if (!path.test(call.path) || !method.test(call.method)) return false
      json(response, status, { message })
      return true
    })
  }

  /** The next call of that kind is answered so, the ones after it as usual. */
  failOnce(call: RegExp, fault: ApiFault): void {
    let isDone = false
    this.faults.push((made, response) => {
      if (isDone || !call.test(`${made.method} ${made.path}`)) return false
      isDone = true
      return fault(made, response)
    })
  }

  /** It has happened, and the reply is lost. */
  loseReply = (call: ApiCall, response: ServerResponse): boolean => {
    const { body } = call.body as { body: string }
    const [, issue] = /issues\/(\d+)\/comments$/.exec(call.path) ?? []
    const [, comment] = /issues\/comments\/(\d+)$/.exec(call.path) ?? []
    if (issue !== undefined) this.addComment(Number(issue), body)
    if (comment !== undefined) this.#find(Number(comment))!.body = body
    response.destroy()
    return true
  }

  addComment(issue: number, body: string, login = this.login): ApiComment {
    const type = login.endsWith('[bot]') ? 'Bot' : 'User'
    const comment: ApiComment = { id: ++this.#count, body, user: { login, type } }
    this.of(issue).push(comment)
    return comment
  }

  of(issue: number): ApiComment[] {
    const comments = this.comments.get(issue) ?? []
    this.comments.set(issue, comments)
    return comments
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url)
    const sent = await text(request)
    const call: ApiCall = {
      method: request.method ?? '',
      // A server of one's own has the same under /api/v3, but for GraphQL, which is at /api/graphql.
      path: pathname.replace(/^\/api(\/v3(?=\/repos\/)|(?=\/graphql$))/, ''),
      query: searchParams,
      authorization: request.headers.authorization,
      body: sent === '' ? undefined : JSON.parse(sent)
    }
    this.calls.push(call)
    await this.pause(call)
    if (!this.faults.some((fault) => fault(call, response))) this.#answer(call, response)
  }

  #answer(call: ApiCall, response: ServerResponse): void {
    const { method, path } = call
    const { body } = (call.body ?? {}) as { body?: string }
    const [, issue] = new RegExp(`^${REPOSITORY}/issues/(\\d+)/comments$`).exec(path) ?? []
    const [, comment] = new RegExp(`^${REPOSITORY}/issues/comments/(\\d+)$`).exec(path) ?? []
    if (method === 'POST' && path === '/graphql')
      json(response, 200, { data: { viewer: { login: this.login } } })
    else if (method === 'GET' && path === `${REPOSITORY}/pulls`) json(response, 200, this.#pullsOf(call))
    else if (method === 'GET' && issue !== undefined) this.#list(call, response, this.of(Number(issue)))
    else if (method === 'POST' && issue !== undefined)
      json(response, 201, this.addComment(Number(issue), body ?? ''))
    else if (method === 'GET' && comment !== undefined) this.#show(response, Number(comment))
    else if (method === 'DELETE' && comment !== undefined) this.#delete(response, Number(comment))
    else if (method === 'PATCH' && comment !== undefined) this.#update(response, Number(comment), body ?? '')
    else if (!this.more(call, response)) json(response, 404, { message: 'Not Found' })
  }

  #pullsOf({ query }: ApiCall): ApiPull[] {
    const [owner, ref] = (query.get('head') ?? '').split(/:(.*)/s)
    return this.pulls.filter(
      ({ state, head }) =>
        state === (query.get('state') ?? 'open') &&
        head.ref === ref &&
        head.repo?.full_name.split('/')[0] === owner
    )
  }

  #list({ path, query }: ApiCall, response: ServerResponse, comments: readonly ApiComment[]): void {
    const size = Math.min(LARGEST_PAGE, Number(query.get('per_page') ?? PAGE))
    const page = Number(query.get('page') ?? 1)
    const next = `<${this.url}${path}?per_page=${size}&page=${page + 1}>; rel="next"`
    if (page * size < comments.length) response.setHeader('link', next)
    json(response, 200, this.shown(comments).slice((page - 1) * size, page * size))
  }

  #find(id: number): ApiComment | undefined {
    return [...this.comments.values()].flat().find((one) => one.id === id)
  }

  #show(response: ServerResponse, id: number): void {
    const comment = this.#find(id)
    json(response, comment === undefined ? 404 : 200, comment ?? { message: 'Not Found' })
  }

  #delete(response: ServerResponse, id: number): void {
    for (const [issue, comments] of this.comments)
      this.comments.set(
        issue,
        comments.filter((one) => one.id !== id)
      )
    response.writeHead(204).end()
  }

  #update(response: ServerResponse, id: number, body: string): void {
    const comment = this.#find(id)
    if (comment === undefined) {
      json(response, 404, { message: 'Not Found' })
      return
    }
    comment.body = body
    json(response, 200, comment)
  }
}

/** An answer in place of the API's own. */
export function answer(status: number, message: string, headers: Record<string, string> = {}): ApiFault {
  return (_call, response) => {
    response
      .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
      .end(JSON.stringify({ message }))
    return true
  }
}

/** The connection breaks, and nothing has happened. */
export const reset: ApiFault = (_call, response) => {
  response.destroy()
  return true
}
