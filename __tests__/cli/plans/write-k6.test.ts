import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { readHar } from '../../../src/cli/plans/har/har-requests.js'
import { readOpenApi } from '../../../src/cli/plans/openapi/openapi-requests.js'
import {
  DEFAULT_TARGET,
  encodePath,
  type PlanRequest,
  type RequestSet
} from '../../../src/cli/plans/request.js'
import { readUrls } from '../../../src/cli/plans/url-requests.js'
import { nameVariables, writeK6 } from '../../../src/cli/plans/write-k6.js'
import type { Load } from '../../../src/cli/plans/write-plan.js'
import { makeRandom } from '../../support/data/seeded-random.js'

const FIXTURES = '__tests__/fixtures/init'
const read = (name: string): string => readFileSync(`${FIXTURES}/${name}`, 'utf8')
const CLOSED: Load = { kind: 'closed', threads: 5 }

function scriptOf(set: Pick<RequestSet, 'target' | 'requests'>, load: Load = CLOSED): string {
  const { requests } = nameVariables({ ...set, notes: [], correlations: [], credentials: [] })
  const target = set.target ?? DEFAULT_TARGET
  return writeK6({ name: 'Load test', target, requests, load, rampupSeconds: 6, durationSeconds: 60 })
}

interface Sent {
  readonly method: string
  readonly url: string
  readonly body: string | null
  readonly name: string
  readonly headers?: Record<string, string>
  readonly redirects?: number
  readonly expected?: unknown
}

interface Tried {
  readonly checks: readonly string[]
  readonly sent: readonly Sent[]
  readonly options: Record<string, unknown>
  readonly sleptSeconds: number
}

/** What the script does in one iteration, with k6's modules replaced; anything else in it would fail as an unknown name. */
function iterate(script: string, env: Record<string, string> = {}): Tried {
  const code = script
    .replace(/^import \{ (?:check, )?sleep \} from 'k6'\n/m, '')
    .replace("import http from 'k6/http'\n", '')
    .replace('export const options', 'const options')
    .replace('export default function ()', 'function iteration()')
  const sent: Sent[] = []
  const checks: string[] = []
  let sleptSeconds = 0
  const http = {
    expectedStatuses: (range: unknown): unknown => range,
    request: (method: string, url: string, body: string | null, params: Record<string, unknown>) => {
      const { tags, headers, redirects, responseCallback } = params as {
        tags: { name: string }
        headers?: Record<string, string>
        redirects?: number
        responseCallback?: unknown
      }
      sent.push({
        ...{ method, url, body, name: tags.name },
        ...(headers && { headers }),
        ...(redirects !== undefined && { redirects }),
        ...(responseCallback !== undefined && { expected: responseCallback })
      })
      return { headers: { location: 'http://staging.test/products/all' } }
    }
  }
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- what is tried is code
  const run = new Function('__ENV', 'http', 'check', 'sleep', `${code}\niteration()\nreturn options`) as (
    ...ports: unknown[]
  ) => Record<string, unknown>
  const check = (_: unknown, tests: Record<string, () => boolean>): unknown =>
    Object.entries(tests).map(([name, holds]) => checks.push(`${name}: ${String(holds())}`))
  const options = run(env, http, check, (seconds: number) => (sleptSeconds += seconds))
  return { sent, options, checks, sleptSeconds }
}

describe('the script of each way in', () => {
  test('an address: redirects are followed, and the settings are options', () => {
    const { sent, options, sleptSeconds } = iterate(
      scriptOf(readUrls(['http://127.0.0.1:8080/search?q=a|b']))
    )
    expect(sent).toEqual([
      { method: 'GET', url: 'http://127.0.0.1:8080/search?q=a%7Cb', body: null, name: 'GET /search' }
    ])
    expect(options).toEqual({ vus: 5, duration: '60s', noCookiesReset: true })
    expect(sleptSeconds).toBeCloseTo(0.2)
  })

  test('a recording: what was secret comes from variables, and another status than the recorded one fails', () => {
    const set = readHar(read('shop.har'), { allMethods: true, thinkTimes: true })
    const script = scriptOf(set)
    const { sent, checks, options, sleptSeconds } = iterate(script, {
      ...{ VALUE_ACCESS_TOKEN: 'A', VALUE_AUTHORIZATION: 'B', VALUE_X_TENANT: 'C', VALUE_PASSWORD: 'D' },
      // A field of a recording may be called like anything in the environment.
      ...{ ACCESS_TOKEN: 'no', AUTHORIZATION: 'no', PASSWORD: 'no', BASE_URL: 'http://staging.test' }
    })
    expect(sent.map(({ method, url }) => `${method} ${url.replace('http://staging.test', '')}`)).toEqual([
      'GET /',
      'GET /products',
      'GET /products/all',
      'GET /search?q=tea%20pot&access_token=A',
      'POST /login'
    ])
    expect(sent.map(({ expected }) => expected)).toEqual([
      { min: 200, max: 299 },
      { min: 300, max: 399 },
      ...Array<unknown>(3).fill({ min: 200, max: 299 })
    ])
    expect(sent.every(({ redirects }) => redirects === 0)).toBe(true)
    expect(JSON.stringify(sent)).not.toContain('"no"')
    expect(JSON.parse(sent[4]?.body ?? '')).toMatchObject({ user: 'ada', password: 'D' })
    expect(checks).toEqual(['GET /products redirects as recorded: true'])
    expect(options).toMatchObject({ thresholds: { checks: ['rate>0.99'] } })
    expect(sleptSeconds).toBeGreaterThan(1.5)
  })

  test('what may change data is a comment with its reason, and is not sent', () => {
    const script = scriptOf(readOpenApi(read('shop-api.yaml'), { allMethods: false }))
    expect(iterate(script).sent.every(({ method }) => ['GET', 'HEAD'].includes(method))).toBe(true)
    expect(script).toMatch(
      /^ {2}\/\/ .*--all-methods.*\n {2}\/\/ pause\(0\)\n {2}\/\/ http\.request\("POST"/m
    )
  })
})

describe('users at a rate', () => {
  const open = (arrivals: number, per: 's' | 'min' | 'h', env: Record<string, string> = {}): unknown =>
    iterate(scriptOf(readUrls(['http://a.test/']), { kind: 'open', rate: { arrivals, per } }), env).options

  test('arrive in numbers that k6 can count, by the duration of the run', () => {
    expect(open(20, 's', { RAMPUP: '0s', DURATION: '9s' })).toEqual({
      scenarios: {
        users: {
          ...{ executor: 'constant-arrival-rate', rate: 20, timeUnit: '1s', duration: '9s' },
          ...{ preAllocatedVUs: 40, maxVUs: 800 }
        }
      },
      noVUConnectionReuse: true
    })
    expect(open(7.5, 's', { RAMPUP: '0s' })).toMatchObject({
      scenarios: { users: { rate: 7500, timeUnit: '1000s' } }
    })
    expect(open(90, 'min', { RAMPUP: '0', RATE: '30' })).toMatchObject({
      scenarios: { users: { rate: 30, timeUnit: '1m', preAllocatedVUs: 1 } }
    })
  })

  test('the duration contains the ramp-up', () => {
    expect(open(20, 's')).toMatchObject({
      scenarios: {
        users: {
          ...{ executor: 'ramping-arrival-rate', startRate: 0, timeUnit: '1s' },
          stages: [
            { target: 20, duration: '6s' },
            { target: 20, duration: '54s' }
          ]
        }
      }
    })
  })

  test('a time that is not in seconds is refused instead of misread', () => {
    expect(() => open(20, 's', { DURATION: '5m' })).toThrow('"5m" is not a number of seconds such as 60s')
  })
})

describe('hostile text', () => {
  const PIECES = [
    ...['${__ENV.HOME}', '`', '"', "'", '\\', '\\u0022', '*/', '//', '\n', '\r', '\u2028', '\u2029', '\0'],
    ...['throw 1', ');', '</script>', '\ud800', '\u202e', '🫖', '\u{e0001}', 'é', ' ', '%', '#']
  ]
  const random = makeRandom(27)
  const text = (): string =>
    Array.from({ length: 8 }, () => PIECES[Math.floor(random() * PIECES.length)] ?? '').join('')

  test('nothing of it becomes code, in calls or in comments: it is sent as it is', () => {
    for (let round = 0; round < 200; round++) {
      const [value, body, note] = [text(), text(), text()]
      const path = `/${encodePath(text())}`
      const request = { method: 'POST', headers: [{ name: 'x-h', value: [value, { property: 's' }] }] }
      const requests: PlanRequest[] = [
        { ...request, name: text(), path: [path], body: [body], isEnabled: true, note },
        { ...request, name: text(), path: [path], body: [body], isEnabled: false, note }
      ]
      const script = scriptOf({ target: undefined, requests })
      const { sent } = iterate(script, { VALUE_S: 'S' })
      expect(sent).toMatchObject([
        { url: `http://localhost:8080${path}`, body, headers: { 'x-h': `${value}S` } }
      ])
      // Nothing in the file turns the direction of what people read, or ends a line unseen.
      expect(script).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u2028\u2029\0\r]/)
    }
  })
})

test('names of variables never collide, and notes name the parameters to give', () => {
  const named = nameVariables({
    ...{ target: undefined, correlations: [], credentials: ['x_tenant'] },
    notes: ['Give them: -Jx-tenant=…, -Jx_tenant=…, and 3 more, each ${__P(name,)} in the plan'],
    requests: [
      {
        ...{ name: 'a', method: 'GET', headers: [], isEnabled: true },
        path: ['/', { property: 'x-tenant' }, '/', { property: 'x_tenant' }, '/', { property: 'x-tenant' }]
      }
    ]
  })
  const [first, second] = [{ property: 'value_x_tenant' }, { property: 'value_x_tenant_2' }]
  expect(named.requests[0]?.path).toEqual(['/', first, '/', second, '/', first])
  expect(named.credentials).toEqual([second.property])
  expect(named.notes).toEqual([
    'Give them: -Jvalue_x_tenant=…, -Jvalue_x_tenant_2=…, and 3 more, each __ENV.NAME in the plan'
  ])
})
