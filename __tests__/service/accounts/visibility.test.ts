import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { matchesPattern } from '../../../src/service/accounts/name-patterns.js'
import { ProjectAccess } from '../../../src/service/accounts/project-access.js'
import type { User } from '../../../src/service/accounts/users.js'
import { openStore } from '../../../src/service/serve.js'
import { SeenRuns } from '../../../src/service/store/seen-runs.js'
import type { SqliteStore } from '../../../src/service/store/sqlite-store.js'
import { type RunFilter, Store } from '../../../src/service/store/store.js'
import { slice } from '../../support/slice.js'
import { makeRun } from '../store/records.js'
import { createFolders } from '../support.js'
import { makeWorld, maySee, type World } from './visibility-world.js'

const folders = createFolders()
afterAll(() => folders.remove())

const WORLDS = slice(250, 1000)
const FILTERS: readonly RunFilter[] = [
  ...[{}, { project: 'shop' }, { project: 'unlisted' }, { tag: 'slow' }, { user: 'ann' }, { name: 'z1' }],
  ...[{ status: 'problem' as const }, { project: 'acme/shop', tag: 'nightly', status: 'finished' as const }]
]
const ALL = { offset: 0, limit: 100 }

/** Everything that a user can find. */
function look(store: Store, { users, projects, runs, grids }: World, user: User): unknown {
  const access = new ProjectAccess(projects)
  const seen = new SeenRuns(store, access.visibilityOf(user))
  const ids = (found: readonly { readonly id: string }[]): string[] => found.map(({ id }) => id)
  expect(users).toContain(user)
  return {
    runs: ids(runs.filter(({ id }) => seen.run(id) !== undefined)),
    rule: ids(runs.filter((run) => access.canSee(user, run))),
    grids: ids(grids.filter(({ id }) => seen.grid(id) !== undefined)),
    gridList: { ids: ids(seen.listGrids(ALL).grids), total: seen.listGrids({ offset: 0, limit: 1 }).total },
    lists: FILTERS.map((filter) => {
      const { runs: page, total } = seen.listRuns({ filter, ...ALL })
      const second = seen.listRuns({ filter, offset: 1, limit: 2 })
      return { ids: ids(page), total, second: ids(second.runs), same: second.total }
    }),
    projects: seen.listProjects(ALL),
    like: runs.map((run) => ids(seen.runsLike(run, { limit: 5, upTo: run.sequence })))
  }
}

/** The same by the rule alone. */
function expectedOf(world: World, user: User): unknown {
  const runs = world.runs.filter((run) => maySee(world, user, run))
  const newest = runs.toReversed()
  const grids = world.grids.filter((grid) => maySee(world, user, grid)).map(({ id }) => id)
  const matches = (
    run: (typeof runs)[number],
    { name, project, tag, user: owner, status }: RunFilter
  ): boolean =>
    (name === undefined || run.request.name!.includes(name)) &&
    (project === undefined || run.request.project === project) &&
    (tag === undefined || run.request.tags.includes(tag)) &&
    (owner === undefined || run.user?.name === owner) &&
    (status === undefined || run.status === status)
  const counts = new Map<string, number>()
  for (const { request } of runs)
    if (request.project !== null) counts.set(request.project, (counts.get(request.project) ?? 0) + 1)
  const ids = runs.map(({ id }) => id)
  return {
    ...{ runs: ids, rule: ids, grids, gridList: { ids: grids.toReversed(), total: grids.length } },
    lists: FILTERS.map((filter) => {
      const found = newest.filter((run) => matches(run, filter)).map(({ id }) => id)
      return { ids: found, total: found.length, second: found.slice(1, 3), same: found.length }
    }),
    projects: {
      projects: [...counts]
        .map(([name, count]) => ({ name, runs: count }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
      total: counts.size
    },
    like: world.runs.map((run) =>
      newest
        .filter(
          ({ request, sequence }) => request.project === run.request.project && sequence <= run.sequence
        )
        .slice(0, 5)
        .map(({ id }) => id)
    )
  }
}

describe('nobody finds what the rule forbids, and everybody what it allows', () => {
  let sqlite: SqliteStore
  beforeAll(() => {
    sqlite = openStore(folders.create(), { log: () => undefined })
    // What is written here does not have to survive a power failure.
    sqlite.database.exec('PRAGMA synchronous = OFF')
  })
  afterAll(() => sqlite.close())

  test(`in ${WORLDS} worlds, in memory and in the database`, () => {
    const folder = folders.create()
    let [seen, hidden] = [0, 0]
    for (let seed = 1; seed <= WORLDS; seed++) {
      const world = makeWorld(seed)
      const memory = new Store(folder)
      sqlite.database.exec('BEGIN; DELETE FROM runs; DELETE FROM grids; COMMIT')
      for (const [at, grid] of world.grids.entries()) {
        const run = world.runs[at]
        for (const store of [memory, sqlite]) store.create({ grids: [grid], ...(run && { run }) })
      }
      // All of them in turn: one per world is enough for each of them to meet many worlds.
      const user = world.users[seed % world.users.length]!
      const expected = expectedOf(world, user)
      for (const store of [memory, sqlite])
        expect({ seed, ...(look(store, world, user) as object) }).toEqual({ seed, ...(expected as object) })
      const { length } = (expected as { runs: string[] }).runs
      seen += length
      hidden += world.runs.length - length
    }
    // The worlds have enough of both.
    expect(Math.min(seen, hidden)).toBeGreaterThan(WORLDS * 3)
  }, 60_000)
})

test.each<[string, string, boolean]>([
  ['acme/shop', 'acme/*', true],
  ['acme/shop/evil', 'acme/*', false],
  ['acme-evil/shop', 'acme/*', false],
  ['acme', 'acme/*', false],
  ['acme/', 'acme/*', true],
  ['ann', '*', true],
  ['a/b', '*', false],
  ['abcabc', 'a*c', true],
  ['aba', 'ab*ba', false],
  ['axbyc', 'a*b*c', true],
  ['acb', 'a*b*c', false],
  ['', '*', true],
  ['a.b', 'a?b', false]
])('%j by %j: %j', (text, pattern, expected) => {
  expect(matchesPattern(text, pattern)).toBe(expected)
})

test('a pattern with many stars is decided at once', () => {
  const startMs = performance.now()
  expect(matchesPattern('a'.repeat(5000), `${'a*'.repeat(500)}b`)).toBe(false)
  expect(performance.now() - startMs).toBeLessThan(1000)
})

describe('a run beside another one', () => {
  const ann = { id: 1, name: 'ann' }
  const shop = { project: 'shop', privacy: 'private' as const }
  const run = makeRun({ user: ann, request: shop })
  test.each<[string, Parameters<typeof makeRun>[0], boolean]>([
    ['the same user and project', { user: ann, request: shop }, true],
    ['a public one', { request: { project: 'other', privacy: 'public' } }, true],
    ['another user', { user: { id: 2, name: 'bob' }, request: shop }, false],
    ['another project', { user: ann, request: { project: null } }, false]
  ])('%s', (_, other, isNamed) => {
    expect(new ProjectAccess(new Map()).isSeenAlike(run, makeRun(other))).toBe(isNamed)
    expect(new ProjectAccess(undefined).isSeenAlike(run, makeRun(other))).toBe(true)
  })

  test('that is public does not name a private one of the same user', () => {
    const shown = makeRun({ user: ann, request: { ...shop, privacy: 'public' } })
    expect(new ProjectAccess(new Map()).isSeenAlike(shown, run)).toBe(false)
  })
})
