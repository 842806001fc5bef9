import { describe, expect, test } from '@jest/globals'
import { PULL, setCommentStage } from '../../support/step/comment-stage.js'
import type { GateOnPull } from '../../support/step/comment-stage.js'
import { answer, reset } from '../../support/step/github-api.js'
import type { ApiFault } from '../../support/step/github-api.js'

const stage = setCommentStage()

const FAILED = '❌ Load gate: failed · performance / gate'
const PASSED = '✅ Load gate: passed · performance / gate'
const JOB = { orchestration: 'aaaa.gate.__default' }
const FIRST: GateOnPull = { verdict: 'passed', ...JOB }
const SECOND: GateOnPull = { verdict: 'failed', run: 101, commit: '2', ...JOB }
const NOT_JSON: ApiFault = (_call, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in to the proxy</html>')
  return true
}
const HALF: ApiFault = (_call, response) => {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end('[{"id": 1001, "bo')
  return true
}
const SECONDARY = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'

const messageOf = (work: Promise<void>): Promise<string> =>
  work.then(
    () => 'it was written',
    (thrown: unknown) => (thrown as Error).message
  )

const PASSING: [name: string, fault: ApiFault][] = [
  ['500', answer(500, 'Server Error')],
  ['502', answer(502, 'Bad Gateway')],
  ['503', answer(503, 'Unavailable')],
  ['504', answer(504, 'Timeout')],
  ['429', answer(429, 'slow down')],
  ['429 with a time', answer(429, 'slow down', { 'retry-after': '7' })],
  ['a secondary rate limit by its words', answer(403, SECONDARY)],
  ['a secondary rate limit by its header', answer(403, 'Forbidden', { 'retry-after': '7' })],
  ['a used-up rate limit', answer(403, 'Forbidden', { 'x-ratelimit-remaining': '0' })],
  ['a connection that breaks', reset]
]

describe.each(PASSING)('%s, once', (_name, fault) => {
  test.each([
    ['asking for the login', /^POST .*graphql/],
    ['listing', /^GET .*comments$/],
    ['updating', /^PATCH /]
  ])('while %s: the comment shows the new verdict', async (_what, call) => {
    await stage.comment(FIRST)
    stage.api.failOnce(call, fault)
    await stage.comment(SECOND)
    expect(stage.headlines()).toEqual([FAILED])
  })

  test('while creating: one comment', async () => {
    stage.api.failOnce(/^POST .*comments$/, fault)
    await stage.comment(SECOND)
    expect(stage.headlines()).toEqual([FAILED])
  })
})

describe('a reply that is not a list of comments must not lead to a second one', () => {
  test.each([
    ['a page', NOT_JSON],
    ['half a document', HALF],
    ['an object', answer(200, 'odd')]
  ])('%s', async (_name, fault) => {
    await stage.comment(FIRST)
    stage.api.failOnce(/^GET .*comments$/, fault)
    await stage.comment(SECOND)
    expect(stage.headlines()).toEqual([FAILED])
  })

  test.each([
    ['a page', NOT_JSON],
    ['an error of GraphQL that is no refusal', answer(200, 'x')]
  ])('nor is the login guessed: %s', async (_name, fault) => {
    stage.api.login = 'release-robot'
    await stage.comment(FIRST)
    stage.api.failOnce(/graphql/, fault)
    await stage.comment(SECOND)
    expect(stage.headlines()).toEqual([FAILED])
  })

  test('nor after a rate limit of GraphQL', async () => {
    stage.api.login = 'release-robot'
    await stage.comment(FIRST)
    stage.api.failOnce(/graphql/, (_call, response) => {
      const errors = [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }]
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ data: null, errors }))
      return true
    })
    await stage.comment(SECOND)
    expect(stage.headlines()).toEqual([FAILED])
  })

  test('a list without an end is abandoned', async () => {
    await stage.comment(FIRST)
    stage.api.faults.push(({ method, path }, response) => {
      if (method === 'GET' && path.endsWith('/comments'))
        response.setHeader('link', `<${stage.api.url}${path}?page=1&per_page=100>; rel="next"`)
      return false
    })
    stage.api.of(PULL).unshift(
      ...stage.api
        .of(PULL)
        .splice(0)
        .map((one) => ({ ...one, body: 'talk' }))
    )
    await stage.comment(SECOND)
    expect(stage.api.made('GET', /comments$/).length).toBeLessThan(10)
  })
})

describe('odd entries of the list do not break the search', () => {
  test.each([
    ['a body of null', { id: 1, body: null, user: { login: 'github-actions[bot]', type: 'Bot' } }],
    ['no body', { id: 1, user: { login: 'github-actions[bot]', type: 'Bot' } }],
    ['no user', { id: 1, body: 'x' }],
    ['a user of null', { id: 1, body: 'x', user: null }],
    ['null', null]
  ])('%s', async (_name, entry) => {
    await stage.comment(FIRST)
    stage.api.shown = (comments) => [entry, ...comments]
    await stage.comment(SECOND)
    expect(stage.headlines()).toEqual([FAILED])
  })
})

describe('a lost reply', () => {
  test('to a creation: it is found, and no second comment is created', async () => {
    stage.api.failOnce(/^POST .*comments$/, stage.api.loseReply)
    await stage.comment(SECOND)
    expect(stage.headlines()).toEqual([FAILED])
    expect(stage.api.made('POST', /comments$/)).toHaveLength(1)
  })

  test('to a creation, and the list lags: the second comment is removed again', async () => {
    stage.api.failOnce(/^POST .*comments$/, stage.api.loseReply)
    stage.api.shown = (comments) => (stage.api.made('POST', /comments$/).length < 2 ? [] : comments)
    await stage.comment(SECOND)
    expect(stage.api.made('POST', /comments$/)).toHaveLength(2)
    expect(stage.headlines()).toEqual([FAILED])
  })

  test('to the creation of one that replaces an older one: the older one is still removed', async () => {
    await stage.comment({ verdict: 'passed' })
    stage.api.failOnce(/^POST .*comments$/, stage.api.loseReply)
    await stage.comment({ verdict: 'failed', run: 101 })
    expect(stage.headlines()).toEqual([FAILED])
  })

  test('to an update: it is written once more, to the same comment', async () => {
    await stage.comment(FIRST)
    stage.api.failOnce(/^PATCH /, stage.api.loseReply)
    await stage.comment(SECOND)
    expect(stage.headlines()).toEqual([FAILED])
  })
})

describe('a comment that was deleted', () => {
  test('between reading and writing is created again', async () => {
    await stage.comment(FIRST)
    stage.api.failOnce(/^PATCH /, () => {
      stage.api.of(PULL).splice(0)
      return false
    })
    await stage.comment(SECOND)
    expect(stage.headlines()).toEqual([FAILED])
  })

  test('right after writing is created again', async () => {
    await stage.comment(FIRST)
    let isDeleted = false
    stage.api.shown = (comments) => {
      if (isDeleted || stage.api.made('PATCH', /./).length === 0) return comments
      isDeleted = true
      stage.api.of(PULL).splice(0)
      return []
    }
    await stage.comment(SECOND)
    expect(isDeleted).toBe(true)
    expect(stage.headlines()).toEqual([FAILED])
  })

  test('a 404 that means "you may not" ends with that advice, not in a loop', async () => {
    await stage.comment(FIRST)
    stage.api.refuse(/comments/, 404, 'Not Found', /PATCH|POST/)
    expect(await messageOf(stage.comment(SECOND))).toMatch(
      /^404: Not Found\. Give the job "permissions: pull-/
    )
    expect(stage.api.made('PATCH', /./)).toHaveLength(1)
  })
})

describe('how long GitHub asks to wait', () => {
  test.each([
    ['seconds', () => '7'],
    ['a date', () => new Date(Math.ceil(stage.clock.now() / 1000) * 1000 + 7000).toUTCString()]
  ])('is respected, in %s', async (_name, header) => {
    stage.api.failOnce(/^POST .*comments$/, answer(429, 'slow down', { 'retry-after': header() }))
    await stage.comment(FIRST)
    expect(stage.headlines()).toEqual([PASSED])
    expect(stage.clock.sleeps[0]).toBeGreaterThanOrEqual(7000)
    expect(stage.clock.sleeps[0]).toBeLessThanOrEqual(8000)
  })

  test.each<[string, () => Record<string, string>]>([
    ['by Retry-After', () => ({ 'retry-after': '60' })],
    [
      'by the time of the reset',
      () => ({
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(Math.floor(stage.clock.now() / 1000) + 60)
      })
    ]
  ])('more than is left, %s: given up at once, with a message', async (_name, headers) => {
    await stage.comment(FIRST)
    stage.api.failOnce(/^PATCH /, answer(403, SECONDARY, headers()))
    const sleepsBefore = stage.clock.sleeps.length
    expect(await messageOf(stage.comment(SECOND))).toMatch(
      /^403: You have exceeded a secondary rate limit\. .* This is a rate limit: GitHub asks to wait (59|60) s, and a comment may only take 30 s\. Run the job again later, .* The existing comment still shows the older verdict \(passed\)\. The job summary has everything$/
    )
    expect(stage.clock.sleeps).toHaveLength(sleepsBefore)
  })

  test('no wait at all is still not hammered', async () => {
    stage.api.refuse(/comments$/, 429, 'slow down')
    stage.api.faults.unshift((_call, response) => {
      response.setHeader('retry-after', '0')
      return false
    })
    await messageOf(stage.comment(FIRST))
    expect(stage.clock.sleeps.length).toBeGreaterThan(3)
    expect(Math.min(...stage.clock.sleeps)).toBeGreaterThanOrEqual(1000)
  })
})

describe('what is said when it cannot be written', () => {
  const OLDER =
    'The existing comment still shows the older verdict \\(passed\\)\\. The job summary has everything$'

  test.each([
    [
      502,
      'Bad Gateway',
      '^502: Bad Gateway\\. GitHub itself failed, \\d+ times; see githubstatus\\.com, and run the job again'
    ],
    [429, 'slow down', '^429: slow down\\. This is a rate limit: .*its own github-token'],
    [401, 'Bad credentials', '^401: Bad credentials\\. The github-token is not valid'],
    [403, 'Resource not accessible by integration', 'Give the job "permissions: pull-requests: write"'],
    [
      403,
      'Unable to create comment because issue is locked.',
      '^403: Unable .* is locked\\. The conversation is locked: unlock it, or set "comment: off"'
    ],
    [403, 'Repository was archived so is read-only.', 'The repository is archived .*: set "comment: off"'],
    [422, 'Validation Failed', '^422: Validation Failed\\. The existing comment']
  ])('%i %s: advice by cause, and what the pull request shows', async (status, message, words) => {
    await stage.comment(FIRST)
    stage.api.refuse(/comments/, status, message, /PATCH|POST/)
    const said = await messageOf(stage.comment(SECOND))
    expect(said).toMatch(new RegExp(words))
    expect(said).toMatch(new RegExp(OLDER))
    expect(stage.headlines()).toEqual([PASSED])
  })

  test('a network that stays down', async () => {
    await stage.comment(FIRST)
    stage.api.faults.push(reset)
    expect(await messageOf(stage.comment(SECOND))).toMatch(
      /\. GitHub could not be reached\. If there is a comment from an earlier run, it still shows the older verdict\./
    )
  })

  test('does not mention an older verdict if there is none', async () => {
    stage.api.refuse(/comments/, 403, 'Resource not accessible by integration', /POST/)
    expect(await messageOf(stage.comment(FIRST))).toMatch(
      /pull-requests: write"\. The job summary has everything$/
    )
  })

  test('the attempts end before the time does', async () => {
    stage.api.refuse(/./, 503, 'Unavailable')
    const startMs = stage.clock.now()
    await messageOf(stage.comment(FIRST))
    expect(stage.clock.now() - startMs).toBeLessThanOrEqual(30_000)
    expect(stage.clock.now() - startMs).toBeGreaterThan(10_000)
  })
})
