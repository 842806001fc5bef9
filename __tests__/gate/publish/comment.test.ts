import { beforeEach, expect, test } from '@jest/globals'
import { commentOnPullRequest, publish } from '../../../src/gate/publish/publish.js'
import { conclude } from '../../../src/gate/verdict/conclude.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import type { CommentRequest } from '../../../src/gate/ports.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'
import { makePorts, makeRun, makeSettings, type TestPorts } from '../../support/gate/gate-ports.js'
import { makeOutcome } from '../../support/data/make-outcome.js'

let requests: CommentRequest[]
let ports: TestPorts

beforeEach(async () => {
  requests = []
  ports = await makePorts({
    occasion: {
      repository: 'octo/shop',
      ref: 'main',
      commit: '0123456789abcdef',
      url: 'https://git.example/1'
    },
    comment: async (request) => void requests.push(request)
  })
})

async function comment(changes: Partial<Settings> = {}, outcome: Outcome = makeOutcome()): Promise<void> {
  const settings = makeSettings({ githubToken: 'ghs_x', matrix: '{"a":1}', ...changes })
  const links = { artifactUrl: 'https://git.example/artifacts/77', artifactProblem: undefined }
  await ports.clock.run(commentOnPullRequest(ports, { settings, outcome, links }))
}

test('hands on token, matrix and name, and renders with all links', async () => {
  await comment({ name: 'checkout' })
  expect(requests).toMatchObject([{ token: 'ghs_x', matrix: '{"a":1}', name: 'checkout' }])
  const place = {
    key: 'k',
    title: 't',
    commit: '1'.repeat(40),
    repositoryUrl: undefined,
    previous: undefined
  }
  const text = requests[0]!.render(place)
  expect(text).toContain('## ✅ Load gate: passed · t')
  expect(text).toContain('(https://git.example/artifacts/77)')
  expect(text).toContain('[Job summary with charts](https://git.example/1)')
})

test('a name that nobody gave is none: it would change with every commit', async () => {
  await comment({ name: 'octo/shop main 0123456' })
  expect(requests[0]?.name).toBeUndefined()
})

test.each([
  ['comment is off', { comment: 'off' }, 'passed', []],
  [
    'there is no token',
    { githubToken: '' },
    'passed',
    ['No github-token, so no comment on the pull request.']
  ],
  ['the job was cancelled', {}, 'cancelled', []],
  ['the run was left to itself', {}, 'detached', []]
] as const)('says nothing on the pull request when %s', async (_name, changes, verdict, said) => {
  await comment(changes, makeOutcome({ verdict }))
  expect(requests).toEqual([])
  expect(ports.log.lines).toEqual(said.map((line) => `info: ${line}`))
})

test.each(['failed', 'inconclusive', 'timed-out', 'error'] as const)('tells of %s', async (verdict) => {
  await comment({}, makeOutcome({ verdict }))
  expect(requests).toHaveLength(1)
})

test('where there is no place for comments nothing is said', async () => {
  ports = await makePorts()
  await comment()
  expect(ports.log.lines).toEqual([])
})

test('a failure is one warning', async () => {
  Object.assign(ports, { comment: () => Promise.reject(new Error('403: no')) })
  await comment()
  expect(ports.log.lines).toEqual(['warning: The comment on the pull request could not be written: 403: no'])
})

test('a server that does not answer is given up after half a minute', async () => {
  Object.assign(ports, {
    comment: ({ signal }: CommentRequest) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      })
  })
  await comment()
  expect(ports.clock.elapsedMs).toBe(30_000)
  expect(ports.log.of('warning')).toEqual([
    'The comment on the pull request could not be written: GitHub took too long to respond'
  ])
})

test('comes last, when summary and annotations are out', async () => {
  const { thresholds } = parseThresholds('apdex >= 0.95')
  const settings = makeSettings({ githubToken: 'ghs_x', matrix: '{"region":"eu"}', thresholds })
  Object.assign(ports, { comment: async () => void ports.events.push('comment') })
  const collection = {
    report: undefined,
    reportProblem: 'no',
    resultsDir: '',
    run: makeRun(),
    grids: [],
    missingGrids: [],
    spansMs: new Map<string, number>(),
    measurements: undefined
  }
  const outcome = conclude(settings, { run: makeRun(), collection })
  await ports.clock.run(publish(ports, { settings, outcome, collection }))
  expect(ports.events.slice(-3)).toEqual(['summary', 'annotation', 'comment'])
  expect(ports.annotations).toEqual([
    { level: 'error', message: 'apdex is 0.93, must be >= 0.95: 2.1 % short [eu]' }
  ])
})
