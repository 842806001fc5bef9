import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CommentRequest } from '../../../src/gate/ports.js'
import { createCommenter } from '../../../src/gate/github/comment.js'
import { writeMarker } from '../../../src/report/markdown/comment-marker.js'
import type { CommentPlace } from '../../../src/report/markdown/comment.js'
import { LogBook } from '../../support/gate/gate-ports.js'
import { GitHubApi } from '../../support/step/github-api.js'
import { JumpingClock } from '../../support/manual-clock.js'

const HEAD = '1'.repeat(40)
const MERGE = '9'.repeat(40)

let api: GitHubApi
let log: LogBook
let folder: string
let env: NodeJS.ProcessEnv
let places: CommentPlace[]
let clock: JumpingClock
let runs = 100

beforeEach(async () => {
  clock = new JumpingClock()
  api = await new GitHubApi().start()
  log = new LogBook()
  places = []
  folder = await mkdtemp(join(tmpdir(), 'comment-test-'))
  env = {
    GITHUB_API_URL: api.url,
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: 'octo/shop',
    GITHUB_WORKFLOW: 'performance',
    GITHUB_WORKFLOW_REF: 'octo/shop/.github/workflows/performance.yml@refs/pull/7/merge',
    GITHUB_JOB: 'gate',
    GITHUB_SHA: MERGE,
    GITHUB_EVENT_PATH: join(folder, 'event.json')
  }
  await givePullRequest()
})

afterEach(async () => {
  await api.stop()
  await rm(folder, { recursive: true })
})

async function giveEvent(name: string, event: unknown, ref: string): Promise<void> {
  Object.assign(env, { GITHUB_EVENT_NAME: name, GITHUB_REF: ref })
  await writeFile(join(folder, 'event.json'), JSON.stringify(event))
}

const givePullRequest = (head: object = { sha: HEAD, repo: { full_name: 'octo/shop' } }): Promise<void> =>
  giveEvent('pull_request', { pull_request: { number: 7, head } }, 'refs/pull/7/merge')

const giveBranch = (event: string, ref = 'refs/heads/feature/x'): Promise<void> =>
  giveEvent(event, { ref }, ref)

async function comment(changes: Partial<CommentRequest> = {}): Promise<void> {
  if (env.GITHUB_RUN_ID !== '') env.GITHUB_RUN_ID = String(++runs)
  await createCommenter(
    env,
    log,
    clock
  )({
    token: 'ghs_x',
    matrix: 'null',
    name: undefined,
    signal: new AbortController().signal,
    untilMs: clock.now() + 30_000,
    render: (place) => {
      places.push(place)
      return `${writeMarker(place.key, place.writer)}\nnumber ${places.length}`
    },
    ...changes
  })
}

describe('one comment', () => {
  test('is written, and then updated in place', async () => {
    await comment()
    await comment()
    expect(api.of(7)).toHaveLength(1)
    expect(api.of(7)[0]?.body).toMatch(/number 2$/)
    expect(log.of('info')).toEqual([
      'Comment on pull request #7 written.',
      'Comment on pull request #7 updated.'
    ])
    expect(api.calls.map(({ authorization }) => authorization)).toEqual(api.calls.map(() => 'token ghs_x'))
  })

  test('gets its context: key, title, head commit, repository, and the existing comment', async () => {
    await comment({ matrix: '{"region":"eu"}', name: 'checkout' })
    const written = api.of(7)[0]?.body
    await comment({ matrix: '{"region":"eu"}', name: 'checkout' })
    expect(places).toEqual([
      {
        key: expect.stringMatching(/^[0-9a-f]{32}$/),
        writer: expect.objectContaining({ attempt: 1, ordinal: 1 }),
        title: 'performance / gate (eu) / checkout',
        commit: HEAD,
        repositoryUrl: 'https://github.com/octo/shop',
        previous: undefined
      },
      { ...places[0], writer: expect.objectContaining({ attempt: 1, ordinal: 1 }), previous: written }
    ])
  })

  test('is updated in place where the workflow run has no id', async () => {
    env.GITHUB_RUN_ID = ''
    await comment()
    await new Promise((resolve) => setTimeout(resolve, 2))
    await comment()
    expect(api.of(7)).toHaveLength(1)
  })

  test('is found behind hundreds of others', async () => {
    for (let index = 0; index < 230; index++) api.addComment(7, `comment ${index}`, 'ada')
    await comment()
    for (let index = 0; index < 230; index++) api.addComment(7, `comment ${index}`, 'ada')
    await comment()
    expect(api.of(7)).toHaveLength(461)
    expect(api.of(7)[230]?.body).toMatch(/number 2$/)
  })

  test('works on a GitHub Enterprise server', async () => {
    env.GITHUB_API_URL = `${api.url}/api/v3`
    await comment()
    await comment()
    expect(api.of(7)).toHaveLength(1)
    expect(api.made('POST', /^\/graphql$/)).toHaveLength(2)
  })

  test('is another one for each workflow, job, leg and name', async () => {
    await comment()
    await comment({ matrix: '{"region":"eu"}' })
    await comment({ matrix: '{"region":"us"}' })
    await comment({ name: 'checkout' })
    env.GITHUB_JOB = 'other'
    await comment()
    env.GITHUB_WORKFLOW_REF = 'octo/shop/.github/workflows/other.yml@refs/pull/7/merge'
    await comment()
    expect(new Set(places.map(({ key }) => key)).size).toBe(6)
    expect(api.of(7)).toHaveLength(6)
  })

  test('is the same one from another ref, and with the keys of the matrix in another order', async () => {
    await comment({ matrix: '{"a":1,"b":2}' })
    env.GITHUB_WORKFLOW_REF = 'octo/shop/.github/workflows/performance.yml@refs/heads/feature/x'
    await comment({ matrix: '{"b":2,"a":1}' })
    expect(api.of(7)).toHaveLength(1)
  })
})

describe('a marker alone proves nothing', () => {
  test.each([
    ['a person', 'mallory'],
    ['another app', 'other[bot]']
  ])('a forged one of %s is left alone', async (_name, login) => {
    await comment()
    const [own] = api.of(7).splice(0)
    const forged = api.addComment(7, own!.body, login)
    await comment()
    expect(forged.body).toBe(own!.body)
    expect(api.of(7).map(({ user }) => user.login)).toEqual([login, 'github-actions[bot]'])
  })

  test('a marker that is quoted further down is left alone', async () => {
    await comment()
    const [own] = api.of(7).splice(0)
    api.addComment(7, `> ${own!.body}`)
    await comment()
    expect(api.of(7)).toHaveLength(2)
  })

  test("the token's own login is requested", async () => {
    api.login = 'release-robot'
    await comment()
    await comment()
    expect(api.of(7)).toHaveLength(1)
    expect(api.made('POST', /graphql/)).toHaveLength(2)
  })

  test('an app is known by its login with or without the ending', async () => {
    api.login = 'gatekeeper[bot]'
    await comment()
    api.login = 'gatekeeper'
    await comment()
    expect(api.of(7)).toHaveLength(1)
  })

  test('a person of an app’s name is not the app', async () => {
    await comment()
    const [own] = api.of(7).splice(0)
    api.of(7).push({ ...own!, user: { login: 'github-actions[bot]', type: 'User' } })
    api.login = 'github-actions'
    await comment()
    expect(api.of(7)).toHaveLength(2)
  })

  test.each([
    ['by the server', () => api.refuse(/graphql/, 403, 'Resource not accessible by integration')],
    [
      'by GraphQL',
      () =>
        api.faults.push(({ path }, response) => {
          if (path !== '/graphql') return false
          const errors = [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }]
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ data: null, errors }))
          return true
        })
    ]
  ])('where that is refused %s, it is the job’s own', async (_name, refuse) => {
    refuse()
    await comment()
    await comment()
    expect(api.of(7)).toHaveLength(1)
  })

  test('where it fails, nothing is written: a second comment would be left behind', async () => {
    api.refuse(/graphql/, 502, 'Bad Gateway')
    await expect(comment()).rejects.toThrow('Bad Gateway')
    expect(api.of(7)).toEqual([])
  })
})

describe('which pull request', () => {
  const addPull = (number: number, changes: object = {}): void => {
    const head = { ref: 'feature/x', sha: 'a'.repeat(40), repo: { full_name: 'octo/shop' }, ...changes }
    api.pulls.push({ number, state: 'open', head })
  }

  test.each(['push', 'workflow_dispatch'])('%s on a branch that has an open one', async (event) => {
    addPull(12)
    await giveBranch(event)
    await comment()
    expect(api.of(12)).toHaveLength(1)
    expect(places[0]?.commit).toBe(MERGE)
    expect(api.made('GET', /pulls$/)[0]?.query.get('head')).toBe('octo:feature/x')
  })

  test('of two of a branch, the one that is at this commit', async () => {
    addPull(12)
    addPull(11, { sha: MERGE })
    await giveBranch('push')
    await comment()
    expect([...api.comments.keys()]).toEqual([11])
  })

  test.each([
    ['a branch without one', 'push', 'refs/heads/other'],
    ['a tag', 'push', 'refs/tags/v1'],
    ['a schedule', 'schedule', 'refs/heads/feature/x']
  ])('none for %s, which is said', async (_name, event, ref) => {
    addPull(12)
    await giveBranch(event, ref)
    await comment()
    expect(places).toEqual([])
    expect(log.lines).toEqual(['info: This workflow run has no open pull request: no comment.'])
  })

  test('none when a server ignores the filter and gives those of others', async () => {
    api.faults.push(({ path }, response) => {
      if (!path.endsWith('/pulls')) return false
      const pulls = [
        { number: 1, head: { ref: 'other', sha: MERGE, repo: { full_name: 'octo/shop' } } },
        { number: 2, head: { ref: 'feature/x', sha: MERGE, repo: { full_name: 'mallory/shop' } } },
        { number: 3, head: { ref: 'feature/x', sha: MERGE, repo: null } }
      ]
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(pulls))
      return true
    })
    await giveBranch('push')
    await comment()
    expect(places).toEqual([])
  })

  test.each([
    [
      'a folder',
      () => folder,
      /^EISDIR: .*\(GITHUB_EVENT_PATH\) is a folder, not a file; do not set the variable/
    ],
    [
      'not there',
      () => join(folder, 'gone'),
      /^ENOENT: .*gone \(GITHUB_EVENT_PATH\) does not exist; check for a step/
    ],
    [
      'no JSON',
      () => join(folder, 'odd.json'),
      /odd\.json \(GITHUB_EVENT_PATH\) is not valid JSON; check for a step/
    ]
  ])('an event that is %s: what to do', async (_, path, words) => {
    await writeFile(join(folder, 'odd.json'), '{"half')
    env.GITHUB_EVENT_PATH = path()
    await expect(comment()).rejects.toThrow(words)
    expect(places).toEqual([])
  })

  test('none without an event', async () => {
    delete env.GITHUB_EVENT_PATH
    await comment()
    expect(places).toEqual([])
  })
})

describe('a refusal', () => {
  const REFUSED = 'Resource not accessible by integration'

  test.each([
    [403, REFUSED],
    [404, 'Not Found']
  ])('of %i names the permission to add', async (status, message) => {
    api.refuse(/comments/, status, message, /POST/)
    await expect(comment()).rejects.toThrow(
      new RegExp(
        `^${status}: ${message}.* Give the job "permissions: pull-requests: write"\\. The job summary has`
      )
    )
  })

  test.each([
    ['a fork', { sha: HEAD, repo: { full_name: 'mallory/shop' } }],
    ['a fork that is gone', { sha: HEAD, repo: null }]
  ])('on a pull request from %s names that', async (_name, head) => {
    await givePullRequest(head)
    api.refuse(/comments/, 403, REFUSED)
    await expect(comment()).rejects.toThrow(/A pull request from a fork gets a read-only token/)
  })

  test('of a token that is not valid says so', async () => {
    api.refuse(/./, 401, 'Bad credentials')
    await expect(comment()).rejects.toThrow(/^401: Bad credentials.* The github-token is not valid\./)
  })

  test('to list the pull requests of a branch is reported the same way', async () => {
    await giveBranch('push')
    api.refuse(/pulls/, 403, REFUSED)
    await expect(comment()).rejects.toThrow(/pull-requests: write/)
  })

  test('of another kind quotes the server’s message, shortened', async () => {
    api.refuse(/comments/, 422, 'x'.repeat(5000))
    const error = await comment().catch((thrown: unknown) => thrown as Error)
    expect(error).toMatchObject({
      name: 'CommentError',
      message: expect.stringMatching(/^422: x{300}\. .* The job summary has everything$/)
    })
  })
})

test('what takes too long ends with the signal', async () => {
  const ending = new AbortController()
  api.faults.push(({ path }) => {
    if (!path.endsWith('/comments')) return false
    ending.abort(new Error('GitHub took too long to respond'))
    return true
  })
  await expect(comment({ signal: ending.signal })).rejects.toThrow('GitHub took too long to respond')
})
