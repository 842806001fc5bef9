import { afterAll, describe, expect, test } from '@jest/globals'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { RunRecord } from '../../../src/contract/records.js'
import { buildProjectTrend, findRelated, listChoices } from '../../../src/service/pages/related-runs.js'
import { warnOfDifferences } from '../../../src/service/runs/run-differences.js'
import { Store } from '../../../src/service/store/store.js'
import { makeRun } from '../store/records.js'
import { createFolders } from '../support.js'

const folders = createFolders()
afterAll(() => folders.remove())

/** A store that is never written to disk, and counts how often it is asked for the runs of a project. */
class CountingStore extends Store {
  questions = 0

  override runsLike(...request: Parameters<Store['runsLike']>): readonly RunRecord[] {
    this.questions++
    return super.runsLike(...request)
  }
}

function fill(count: number): { store: CountingStore; runs: RunRecord[] } {
  const store = new CountingStore(folders.create())
  const runs = Array.from({ length: count }, (_, i) =>
    makeRun({ sequence: i + 1, status: 'finished', samples: 10, request: { project: 'shop' } })
  )
  for (const run of runs) store.create({ run, grids: [] })
  return { store, runs }
}

test('the runs of a project are loaded once, for the trend and for the choices', async () => {
  const { store, runs } = fill(300)
  const run = runs.at(-1)!
  const related = findRelated(run, store)
  expect((await buildProjectTrend(run, related, store))?.points).toHaveLength(31)
  expect(listChoices(run, related)[0]?.id).toBe(runs.at(-2)!.id)
  expect(store.questions).toBe(1)
})

test.each([130, 350])('a run with %i later ones still has those before it', async (later) => {
  const { store, runs } = fill(500)
  const index = 499 - later
  const run = runs[index]!
  const related = findRelated(run, store)
  expect(new Set(related).size).toBe(related.length)
  const ids = (await buildProjectTrend(run, related, store))?.points.map(({ runId }) => runId)
  expect(ids).toEqual(runs.slice(index - 30, index + 1).map(({ id }) => id))
  expect(listChoices(run, related)[0]?.id).toBe(runs[index - 1]!.id)
})

type Changes = NonNullable<Parameters<typeof makeRun>[0]>

/** A run after an earlier one of the same plan, and what a user sees of both. */
async function follow(
  changes: Changes,
  files: readonly (Record<string, string> | undefined)[] = [],
  earlier: Changes = {}
) {
  const store = new Store(folders.create())
  const report = {
    ...{ summary: '', mean_response_time: 1, mean_concurrency: 1, mean_throughput: 1, mean_error_rate: 0 },
    rehearsal: false
  }
  const [other, run] = [earlier, changes].map((own: Changes, index) => {
    const names = Object.keys({ ...files[0], ...files[1] }).filter((name) => name !== 'plan.jmx')
    const made = makeRun({
      ...{ sequence: index + 1, status: 'finished', samples: 10, report },
      files: [{ uuid: 'p', name: 'plan.jmx' }, ...names.map((name) => ({ uuid: name, name }))],
      ...own
    })
    mkdirSync(store.folder.uploadDir(made.id), { recursive: true })
    for (const [name, content] of Object.entries({ 'plan.jmx': 'a plan', ...files[index] }))
      writeFileSync(store.folder.uploadedFile(made.id, name), content)
    store.create({ run: made, grids: [] })
    return made
  }) as [RunRecord, RunRecord]
  const trend = await buildProjectTrend(run, findRelated(run, store), store)
  return { points: trend?.points, warnings: await warnOfDifferences(run, other, store) }
}

const NOT_SAME = 'These are not runs of the same test: they differ in'
const property = (name: string, value: string, isSecret = false) => ({
  ...{ kind: 'J' as const, name, value },
  ...(isSecret && { isSecret })
})

describe('what differs between two runs of a plan', () => {
  const properties = [property('users', '5')]

  test.each<[string, Changes, string, boolean]>([
    ['a parameter', { request: { properties } }, 'the parameter -Jusers (A: none, B: 5).', true],
    [
      'an address',
      { request: { properties: [property('host', 'b.example')] } },
      'the parameter -Jhost (A: none, B: b.example).',
      false
    ],
    [
      'a secret by its name',
      { request: { properties: [property('api-token', 'tok-123456')] } },
      'the parameter -Japi-token.',
      false
    ],
    [
      'a secret that is said to be one',
      { request: { properties: [property('mail', 'ann-123456', true)] } },
      'the parameter -Jmail.',
      false
    ],
    [
      'what is secret elsewhere',
      { request: { properties: [property('api-token', 'tok-123456'), property('q', 'a-tok-123456')] } },
      'the parameter -Japi-token and the parameter -Jq (A: none, B: a-***).',
      true
    ],
    [
      'hosts',
      { request: { hosts: [{ host: 'a.example', address: '10.0.0.1' }] } },
      'the addresses of hosts.',
      false
    ],
    ['the duration', { request: { durationSec: 5 } }, 'the duration.', true],
    ['the warm-up', { thresholds: { text: '', warmUpSec: 5 } }, 'the warm-up.', false]
  ])('%s is said, and may end the line of the trend', async (_, changes, words, isAfterChange) => {
    const { points, warnings } = await follow(changes)
    expect(warnings).toEqual([`${NOT_SAME} ${words}`])
    expect(points?.map((point) => point.isAfterChange)).toEqual([false, isAfterChange])
  })

  test('a file is compared by its content, if both runs still have it', async () => {
    const changed = await follow({}, [
      { 'data.csv': '1', 'more.csv': 'users=5' },
      { 'data.csv': '1', 'more.csv': 'users=7' }
    ])
    expect(changed.warnings).toEqual([`${NOT_SAME} the file more.csv.`])
    expect(changed.points?.map(({ isAfterChange }) => isAfterChange)).toEqual([false, true])
    const plan = await follow({}, [{}, { 'plan.jmx': 'b plan' }])
    expect(plan.warnings).toEqual([`${NOT_SAME} the plan.`])
    const deleted = await follow({}, [{ 'data.csv': '1' }, undefined])
    expect([deleted.warnings, deleted.points?.at(-1)?.isAfterChange]).toEqual([[], false])
  })

  test('large files are compared by their size', async () => {
    const large = (end: string): Record<string, string> => ({ 'data.csv': 'x'.repeat(1 << 20) + end })
    expect((await follow({}, [large('a'), large('b')])).warnings).toEqual([])
    expect((await follow({}, [large('a'), large('ab')])).warnings).toEqual([`${NOT_SAME} the file data.csv.`])
  })
})

/** A run with a secret, and one that somebody has made up to find out what it is: with the secret itself, and with something else. */
describe('a guess of a secret is not confirmed, neither by a comparison nor by the trend', () => {
  const SECRET = 'hunter2-abc'
  const given = (properties: readonly ReturnType<typeof property>[]): Changes => ({ request: { properties } })
  const base64 = (text: string): string => Buffer.from(`x:${text}`).toString('base64')

  test.each<[string, (guess: string) => [Changes, Changes], string[]]>([
    [
      'a secret by its name',
      (guess) => [given([property('password', SECRET)]), given([property('password', guess)])],
      []
    ],
    [
      'a secret that is said to be one',
      (guess) => [given([property('mail', SECRET, true)]), given([property('mail', guess, true)])],
      []
    ],
    [
      'a secret that the other run does not call one',
      (guess) => [given([property('mail', SECRET, true)]), given([property('mail', guess)])],
      ['the parameter -Jmail.']
    ],
    [
      'a parameter that has it among other things',
      (guess) => [
        given([property('password', SECRET), property('line', base64(SECRET))]),
        given([property('password', 'other-one'), property('line', base64(guess))])
      ],
      ['the parameter -Jline (A:']
    ],
    [
      'more of them than can be redacted',
      (guess) =>
        [SECRET, guess].map((value) =>
          given(
            Array.from({ length: 50 }, (_, at) => [
              property(`password${at}`, `${value}${at}`),
              property(`p${at}`, `${value}${at}`)
            ]).flat()
          )
        ) as [Changes, Changes],
      []
    ]
  ])('%s', async (_, runsOf, words) => {
    const results = []
    for (const guess of [SECRET, 'hunter2-xyz']) {
      const { warnings, points } = await follow(runsOf(guess)[1], [], runsOf(guess)[0])
      results.push([
        warnings.map((line) => line.replaceAll(base64(guess), 'GUESS')),
        points?.map(({ isAfterChange }) => isAfterChange)
      ])
      expect(warnings.map((line) => line.slice(0, `${NOT_SAME} ${words[0] ?? ''}`.length))).toEqual(
        words.map((each) => `${NOT_SAME} ${each}`)
      )
      expect(JSON.stringify(warnings)).not.toContain(SECRET)
    }
    expect(results[0]).toEqual(results[1])
  })

  test.each(['environment', 'user.properties', 'system.properties'])(
    'the values in %s, also those whose names say nothing; the names are compared',
    async (file) => {
      const by = (text: string) =>
        follow({}, [{ [file]: `PASSWORD=${SECRET}\nMAIL=${SECRET}\n` }, { [file]: text }])
      for (const guess of [SECRET, 'hunter2-xyz', 'longer-than-the-secret'])
        expect(await by(`PASSWORD=${guess}\nMAIL=${guess}\n`)).toMatchObject({
          warnings: [],
          points: [{ isAfterChange: false }, { isAfterChange: false }]
        })
      expect((await by('PASSWORD=1\nMAIL=1\nMORE=1\n')).warnings).toEqual([`${NOT_SAME} the file ${file}.`])
    }
  )
})

test.each<[string, Changes, string]>([
  [
    'lost load',
    { remoteErrors: 'load lost: stopped by a caller after 2 s' },
    ' (load lost: stopped by a caller after 2 s)'
  ],
  ['failed', { status: 'problem', remoteErrors: 'No such class\nmore' }, ' (No such class)'],
  ['has no samples', { samples: 0 }, '']
])('a run that %s is no point of a trend, and a comparison with it says so', async (_, changes, reason) => {
  const { points, warnings } = await follow(changes)
  expect(points?.map(({ isHead }) => isHead)).toEqual([false])
  expect(warnings).toEqual([
    `B is not a complete run${reason}: its figures cannot be compared with those of another one.`
  ])
})

test('a rehearsal is no point of the trend of what was measured', async () => {
  const summary = { summary: '', mean_response_time: 1, mean_concurrency: 1 }
  const report = { ...summary, mean_throughput: 1, mean_error_rate: 0, rehearsal: true }
  const { points, warnings } = await follow({ report })
  expect(points).toBeUndefined()
  expect(warnings).toEqual([`${NOT_SAME} the kind of run (one is a rehearsal).`])
})

test('a run that is compared with itself is said to be', async () => {
  const { store, runs } = fill(1)
  expect(await warnOfDifferences(runs[0]!, runs[0]!, store)).toEqual([
    'This is one run, compared with itself.'
  ])
})
