import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { decodeBaseline } from '../../../../src/analysis/baseline/document/baseline-document.js'
import type { BaselineRequest, BaselineStore, FoundBaseline } from '../../../../src/gate/ports.js'
import { createBaselineStore } from '../../../../src/gate/github/baseline/store.js'
import { readCheckedOut } from '../../../../src/gate/github/baseline/trigger.js'
import { makeDocument, shaOf, zipDocument } from '../../../support/baseline/make-document.js'
import { LogBook } from '../../../support/gate/gate-ports.js'
import { JumpingClock } from '../../../support/manual-clock.js'
import { BranchHistory } from '../../../support/step/branch-history.js'
import { GitHubApi, answer, reset } from '../../../support/step/github-api.js'
import { makeZip } from '../../../support/step/make-zip.js'

const TOKEN = 'ghs_x'
const MERGE = shaOf('e')
const HEAD = shaOf('d')
const MIB = 1024 * 1024

let api: GitHubApi
let history: BranchHistory
let log: LogBook
let clock: JumpingClock
let folder: string
let env: NodeJS.ProcessEnv

beforeEach(async () => {
  api = await new GitHubApi().start()
  history = new BranchHistory(api)
  log = new LogBook()
  clock = new JumpingClock(Date.now())
  folder = await mkdtemp(join(tmpdir(), 'baseline-store-'))
  env = {
    GITHUB_API_URL: api.url,
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: 'octo/shop',
    GITHUB_WORKFLOW_REF: 'octo/shop/.github/workflows/performance.yml@refs/pull/7/merge',
    GITHUB_JOB: 'gate',
    GITHUB_WORKSPACE: folder
  }
  history.addCommits(shaOf('1'), shaOf('2'), shaOf('3'))
  history.parents.set(MERGE, [shaOf('2'), HEAD])
  await startBy('pull_request', {
    ref: 'refs/pull/7/merge',
    sha: MERGE,
    payload: { pull_request: { head: { sha: HEAD }, base: { sha: shaOf('3'), ref: 'main' } } }
  })
})

afterEach(async () => {
  await api.stop()
  await rm(folder, { recursive: true })
})

async function startBy(
  event: string,
  { ref, sha, payload = {} }: { ref: string; sha: string; payload?: object }
): Promise<void> {
  const path = join(folder, 'event.json')
  await writeFile(path, JSON.stringify({ repository: { default_branch: 'main' }, ...payload }))
  Object.assign(env, {
    GITHUB_EVENT_NAME: event,
    GITHUB_EVENT_PATH: path,
    GITHUB_REF: ref,
    GITHUB_SHA: sha
  })
}

const openStore = (): BaselineStore => createBaselineStore(env, log, clock)
const nameOf = (branch = 'main', matrix = 'null', name?: string): string =>
  openStore().artifactName({ branch, matrix, name })

function makeRequest(changes: Partial<BaselineRequest> = {}): BaselineRequest {
  return {
    branch: 'main',
    token: TOKEN,
    matrix: 'null',
    name: undefined,
    signal: new AbortController().signal,
    untilMs: clock.now() + 60_000,
    decode: decodeBaseline,
    ...changes
  }
}

const find = (changes: Partial<BaselineRequest> = {}): Promise<FoundBaseline> =>
  openStore().find(makeRequest(changes))

/** A document of one run, recorded by a workflow run of that id. */
function record(runId: number, changes: Partial<Parameters<BranchHistory['add']>[0]> = {}): number {
  const zip = zipDocument(makeDocument([{ runId: `run${runId}` }]))
  return history.add({ name: nameOf(), zip, runId, ...changes })
}

const reasonOf = (found: FoundBaseline): string => ('reason' in found ? found.reason : 'none')
const runIdsOf = (found: FoundBaseline): string[] =>
  'document' in found ? found.document.runs.map(({ runId }) => runId) : []

describe('a pull request', () => {
  test('a few calls find the newest documents and the commits they may be compared with', async () => {
    record(1)
    record(2)
    const found = await find()
    expect(runIdsOf(found)).toEqual(['run1', 'run2'])
    expect(found).toMatchObject({ baseCommit: shaOf('2'), ancestors: [shaOf('2'), shaOf('1')] })
    expect(api.calls.map(({ path }) => path.replace(/^\/repos\/octo\/shop/, ''))).toEqual([
      '/actions/artifacts',
      '/actions/workflows/performance.yml/runs',
      '/git/ref/heads%2Fmain',
      '/commits',
      `/git/commits/${MERGE}`,
      '/actions/artifacts/101/zip',
      '/storage/101',
      '/actions/artifacts/100/zip',
      '/storage/100',
      '/commits'
    ])
    expect(log.lines).toEqual([])
  })

  const commitOf = (i: number): string => `a${String(i).padStart(39, '0')}`
  /** The base commit is the newest. */
  const addCommits = (count: number): void =>
    history.addCommits(shaOf('1'), ...Array.from({ length: count - 1 }, (_, i) => commitOf(i)), shaOf('2'))

  test.each([
    [98, 1, 99],
    [101, 2, 102],
    [450, 5, 451]
  ])('%i commits after the recorded one: %i pages of commits are read', async (count, pages, known) => {
    addCommits(count)
    record(1)
    const found = await find()
    expect(found).toMatchObject({ baseCommit: shaOf('2'), isHistoryCut: false })
    expect('ancestors' in found && found.ancestors).toHaveLength(known)
    expect(api.made('GET', /shop\/commits$/)).toHaveLength(pages)
  })

  test('they are not read for ever, nor after a recorded commit was found', async () => {
    addCommits(700)
    record(1)
    expect(await find()).toMatchObject({ isHistoryCut: true })
    expect(api.made('GET', /shop\/commits$/)).toHaveLength(5)
    record(2, { zip: zipDocument(makeDocument([{ commit: shaOf('2') }])) })
    expect(await find()).toMatchObject({ isHistoryCut: true })
    expect(api.made('GET', /shop\/commits$/)).toHaveLength(6)
  })

  test('the token is not sent to the storage', async () => {
    record(1)
    await find()
    const tokens = api.calls.map(({ path, authorization }) => [path.startsWith('/storage/'), authorization])
    expect(tokens.filter(([isStorage]) => isStorage)).toEqual([[true, undefined]])
    expect(tokens.filter(([isStorage]) => !isStorage).every(([, token]) => token === `token ${TOKEN}`)).toBe(
      true
    )
  })

  test.each([
    ['detached', async () => writeFile(join(folder, '.git', 'HEAD'), `${HEAD}\n`)],
    [
      'on its branch',
      async () => {
        await mkdir(join(folder, '.git', 'refs', 'heads'), { recursive: true })
        await writeFile(join(folder, '.git', 'HEAD'), 'ref: refs/heads/feature\n')
        await writeFile(join(folder, '.git', 'refs', 'heads', 'feature'), `${HEAD}\n`)
      }
    ]
  ])('if the head itself was checked out, %s, the base is the merge base', async (_, checkOut) => {
    await mkdir(join(folder, '.git'))
    await checkOut()
    history.mergeBases.set(`${shaOf('3')}...${HEAD}`, shaOf('1'))
    record(1)
    expect(await find()).toMatchObject({ baseCommit: shaOf('1'), ancestors: [shaOf('1')] })
  })

  test.each(['fix#12', 'user@topic', 'a+b', 'größe', 'feature/x'])(
    'the head may be checked out as any branch: %s',
    async (branch) => {
      const path = join(folder, '.git', 'refs', 'heads', branch)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(join(folder, '.git', 'HEAD'), `ref: refs/heads/${branch}\n`)
      await writeFile(path, `${HEAD}\n`)
      expect(await readCheckedOut(env)).toBe(HEAD)
      await rm(path)
      expect(await readCheckedOut(env)).toBeUndefined()
      const others = `# pack-refs with: peeled\n${shaOf('4')} refs/heads/x/refs/heads/${branch}\n`
      const packed = `${HEAD} refs/heads/${branch}\n^${shaOf('5')}\n`
      await writeFile(join(folder, '.git', 'packed-refs'), others + packed)
      expect(await readCheckedOut(env)).toBe(HEAD)
    }
  )

  test.each(['../../secret', '/etc/passwd', 'a b'])('what is no branch is not read: %s', async (branch) => {
    await mkdir(join(folder, '.git'))
    await writeFile(join(folder, '.git', 'HEAD'), `ref: refs/heads/${branch}\n`)
    await writeFile(join(folder, 'secret'), `${HEAD}\n`)
    expect(await readCheckedOut(env)).toBeUndefined()
  })

  test('a commit that is no merge has a merge base', async () => {
    history.parents.set(MERGE, [shaOf('2')])
    history.mergeBases.set(`${shaOf('3')}...${MERGE}`, shaOf('2'))
    record(1)
    expect(await find()).toMatchObject({ baseCommit: shaOf('2') })
  })

  test('a baseline-branch other than its base has a merge base too', async () => {
    history.tips.set('release', shaOf('2'))
    history.mergeBases.set(`${shaOf('2')}...${MERGE}`, shaOf('1'))
    const zip = zipDocument(makeDocument([{}], 'release'))
    record(1, { name: nameOf('release'), zip, branch: 'release' })
    expect(await find({ branch: 'release' })).toMatchObject({ baseCommit: shaOf('1') })
    expect(await openStore().locate('release')).toEqual({ branch: 'release', recordedUnder: undefined })
  })
})

describe('other events', () => {
  test('a merge group says what it is based on', async () => {
    const payload = { merge_group: { base_sha: shaOf('3'), base_ref: 'refs/heads/main' } }
    await startBy('merge_group', { ref: 'refs/heads/gh-readonly-queue/main/pr-7', sha: MERGE, payload })
    record(1)
    expect(await find()).toMatchObject({ baseCommit: shaOf('3') })
    expect(await openStore().locate(undefined)).toEqual({ branch: 'main', recordedUnder: undefined })
    expect(api.made('GET', /git\/commits|compare/)).toEqual([])
  })

  test.each(['push', 'schedule', 'workflow_dispatch'])(
    '%s on the branch itself: earlier runs of it, and it is recorded',
    async (event) => {
      await startBy(event, { ref: 'refs/heads/main', sha: shaOf('3') })
      record(1)
      expect(await find()).toMatchObject({
        baseCommit: undefined,
        ancestors: [shaOf('3'), shaOf('2'), shaOf('1')]
      })
      expect(await openStore().locate(undefined)).toEqual({ branch: 'main', recordedUnder: 'main' })
    }
  )

  test('a schedule whose payload names no repository is one of the default branch', async () => {
    const payload = { repository: undefined, schedule: '0 5 * * 1' }
    await startBy('schedule', { ref: 'refs/heads/trunk', sha: shaOf('3'), payload })
    expect(await openStore().locate(undefined)).toEqual({ branch: 'trunk', recordedUnder: 'trunk' })
  })

  test('a push to another branch is recorded under its own, and compared from the merge base on', async () => {
    await startBy('push', { ref: 'refs/heads/feature/x', sha: HEAD })
    history.mergeBases.set(`${shaOf('3')}...${HEAD}`, shaOf('2'))
    record(1)
    expect(await find()).toMatchObject({ baseCommit: shaOf('2') })
    expect(await openStore().locate(undefined)).toEqual({ branch: 'main', recordedUnder: 'feature/x' })
  })

  test.each([
    ['a tag', 'push', 'refs/tags/main'],
    ['pull_request_target', 'pull_request_target', 'refs/heads/main'],
    ['workflow_run', 'workflow_run', 'refs/heads/main'],
    ['issue_comment', 'issue_comment', 'refs/heads/main']
  ])('%s is not recorded', async (_, event, ref) => {
    await startBy(event, { ref, sha: shaOf('3') })
    expect((await openStore().locate(undefined)).recordedUnder).toBeUndefined()
  })
})

describe('artifacts that do not count', () => {
  test.each([
    ['a fork with a branch of that name', { headRepositoryId: 666 }, '1 of a fork'],
    ['a fork that was deleted', { headRepositoryId: null }, '1 of a fork'],
    ['another branch', { branch: 'other' }, '1 of another branch'],
    ['an expired one', { expired: true }, '1 expired'],
    ['pull_request_target', { event: 'pull_request_target' }, '1 uploaded by another workflow or event'],
    ['workflow_run', { event: 'workflow_run' }, '1 uploaded by another workflow or event']
  ])('%s', async (_, changes, words) => {
    record(2, changes)
    expect(reasonOf(await find())).toBe(
      `no run of main is recorded for this job yet: the artifacts of that name do not count (${words})`
    )
    record(1)
    expect(runIdsOf(await find())).toEqual(['run1'])
    expect(api.made('GET', /storage/)).toHaveLength(1)
  })

  test('one of another workflow of the branch', async () => {
    record(1)
    history.runs.length = 0
    expect(reasonOf(await find())).toContain('1 uploaded by another workflow or event')
  })

  test('none at all: the first push records one', async () => {
    expect(reasonOf(await find())).toBe(
      'no run of main is recorded for this job yet; the next push to main that runs this gate records one'
    )
    expect(api.calls).toHaveLength(1)
  })

  test('none at all, on the branch itself: this run is the first', async () => {
    await startBy('push', { ref: 'refs/heads/main', sha: shaOf('3') })
    expect(reasonOf(await find())).toBe(
      'no run of main is recorded for this job yet; this one is recorded as the first'
    )
  })

  test('a workflow that GitHub does not know is named as the cause', async () => {
    record(1)
    api.refuse(/performance\.yml\/runs|actions\/runs$/, 404, 'Not Found')
    expect(reasonOf(await find())).toContain(
      'GitHub knows no workflow performance.yml in this repository (404)'
    )
  })
})

describe('many artifacts of the name, by others,', () => {
  const flood = (count: number, changes: Parameters<typeof record>[1]): void => {
    for (let i = 0; i < count; i++) record(5000 + i, { zip: Buffer.from('x'), ...changes })
  }

  test('do not hide the document: the runs of the branch are asked for theirs', async () => {
    for (const runId of [1, 2, 3, 4]) record(runId)
    // Runs that recorded nothing.
    for (const runId of [10, 11, 12]) history.addRun({ runId })
    flood(520, { headRepositoryId: 666 })
    expect(runIdsOf(await find())).toEqual(['run2', 'run3', 'run4'])
    expect(api.made('GET', /runs\/\d+\/artifacts$/)).toHaveLength(6)
    expect(await openStore().readNewest(makeRequest())).toMatchObject(
      ['run4', 'run3', 'run2'].map((runId) => ({ runs: [{ runId }] }))
    )
  })

  test('nor those of the branch itself that came in between', async () => {
    for (const runId of [1, 2]) record(runId)
    flood(99, { headRepositoryId: 666 })
    expect(runIdsOf(await find())).toEqual(['run1', 'run2'])
  })

  test('nor do those of other events, which take up the list of runs too', async () => {
    record(1)
    flood(100, { event: 'pull_request_target' })
    expect(runIdsOf(await find())).toEqual(['run1'])
  })

  test('are not read for ever; and as an older one may be sound, nothing is recorded', async () => {
    record(1)
    for (let runId = 10; runId < 40; runId++) history.addRun({ runId })
    flood(100, { headRepositoryId: 666 })
    const reason =
      'none of the newest 100 artifacts of that name counts as a recorded run of main (100 of a fork), none of its newest runs has one, and no more are looked at; delete them, or give the gate another name'
    expect(await find()).toEqual({ reason })
    expect(api.calls).toHaveLength(24)
    expect(await openStore().readNewest(makeRequest())).toMatchObject({ reason })
  })

  test('do not matter where the branch has recorded nothing yet', async () => {
    flood(100, { headRepositoryId: 666 })
    expect(reasonOf(await find())).toContain('no run of main is recorded for this job yet')
    expect(await openStore().readNewest(makeRequest())).toEqual([])
  })
})

describe('commits that are not on the branch', () => {
  const TAGGED = shaOf('9')
  beforeEach(() => void history.parents.set(TAGGED, [shaOf('1')]))

  test('a tag called main does not make its run one of main', async () => {
    record(1, { commit: shaOf('2') })
    record(2, { commit: TAGGED, zip: zipDocument(makeDocument([{ runId: 'tagged', commit: TAGGED }])) })
    expect(runIdsOf(await find())).toEqual(['run1'])
    expect(await openStore().readNewest(makeRequest())).toMatchObject([{ runs: [{ runId: 'run1' }] }])
    expect(log.of('info')[0]).toContain(
      "A recorded run is not used: by the repository's history, what was measured (9999999) is not on the branch main."
    )
    expect(api.made('GET', /artifacts\/101\/zip/)).toEqual([])
  })

  test('if there are no others, there is no baseline, and the next push records a new one', async () => {
    record(2, { commit: TAGGED, event: 'workflow_dispatch' })
    expect(reasonOf(await find())).toContain('is not on the branch (was it force-pushed, or is there a tag')
    expect(await openStore().readNewest(makeRequest())).toEqual([])
  })

  test('those before the newest hundred are compared with the tip, and not many', async () => {
    const line = Array.from({ length: 150 }, (_, i) => `a${String(i).padStart(39, '0')}`)
    history.addCommits(shaOf('1'), ...line, shaOf('2'))
    record(1, { commit: line[10]! })
    for (let runId = 2; runId < 6; runId++) record(runId, { commit: `9${String(runId).padStart(39, '0')}` })
    expect(runIdsOf(await find())).toEqual(['run1'])
    const compared = api.made('GET', /compare/).map(({ path }) => path.split('...')[1])
    expect(compared).toHaveLength(5)
    record(6, { commit: TAGGED })
    expect(reasonOf(await find())).toContain('is not on the branch')
    expect(api.made('GET', /compare/)).toHaveLength(10)
  })

  test('one that the branch has grown by since the pull request was opened is on it', async () => {
    record(1, { commit: shaOf('1') })
    record(2, { commit: shaOf('3') })
    expect(runIdsOf(await find())).toEqual(['run1', 'run2'])
    expect(api.made('GET', /compare/)).toEqual([])
  })

  test('a branch that is gone is named', async () => {
    record(1)
    history.tips.delete('main')
    expect(reasonOf(await find())).toContain('GitHub knows no branch main (404)')
  })
})

describe('two pushes that raced', () => {
  test('a pull request is compared with the runs of both', async () => {
    const before = { runId: 'before', commit: shaOf('1'), atMs: 1 }
    const racing = [2, 3].map((digit) => ({ runId: `raced${digit}`, commit: shaOf(`${digit}`), atMs: digit }))
    record(1, { zip: zipDocument(makeDocument([before])) })
    for (const [at, run] of racing.entries())
      record(at + 2, { commit: run.commit, zip: zipDocument(makeDocument([before, run])) })
    expect(runIdsOf(await find())).toEqual(['before', 'raced2', 'raced3'])
  })
})

describe('runs from the future', () => {
  const YEAR_2099 = Date.UTC(2099, 0, 1)
  const future = { runId: 'future', commit: shaOf('2'), atMs: YEAR_2099 }

  test('are left out and named, once', async () => {
    record(1, { zip: zipDocument(makeDocument([{ runId: 'sound' }, future])) })
    const store = openStore()
    expect(runIdsOf(await store.find(makeRequest()))).toEqual(['sound'])
    expect(await store.readNewest(makeRequest())).toMatchObject([{ runs: [{ runId: 'sound' }] }])
    expect(log.of('warning')).toEqual([
      expect.stringMatching(
        /a recorded run is from the future \(after 20.+\) and left out: future of 2222222, 2099-01-01 00:00:00$/
      )
    ])
  })

  test("by GitHub's own time of the upload, not by the runner's clock; and a clock may be ahead by an hour", async () => {
    const createdMs = Date.UTC(2026, 3, 1)
    const at = (hours: number) => ({ runId: `after${hours}h`, atMs: createdMs + hours * 3_600_000 })
    record(1, { createdMs, zip: zipDocument(makeDocument([at(0), at(1), at(2)])) })
    clock = new JumpingClock(YEAR_2099)
    expect(runIdsOf(await find())).toEqual(['after0h', 'after1h'])
  })
})

describe('documents that cannot be used are skipped with a warning', () => {
  const gzipped = (document: unknown): Buffer =>
    makeZip({ 'baseline.json.gz': gzipSync(JSON.stringify(document)) })
  test.each([
    ['not a zip', { zip: Buffer.from('<html>') }, ''],
    ['a zip of something else', { zip: makeZip({ '../../baseline.json.gz': Buffer.from('x') }) }, ''],
    [
      'a zip of many files',
      { zip: makeZip(Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`${i}`, Buffer.from('')]))) },
      'its zip has 11 files, not one'
    ],
    ['too large by the list', { bytes: 2 * MIB + 1 }, 'it is larger than 2097152 bytes'],
    ['too large in truth', { zip: Buffer.alloc(2 * MIB + 1), bytes: 7 }, 'it is larger than 2097152 bytes'],
    [
      'a zip bomb',
      { zip: makeZip({ 'baseline.json.gz': Buffer.alloc(50 * MIB) }) },
      'its baseline.json.gz is larger than 1048576 bytes'
    ],
    [
      'a zip bomb that claims to be small',
      { zip: makeZip({ 'baseline.json.gz': Buffer.alloc(50 * MIB) }, { claimedBytes: 9 }) },
      ''
    ],
    ['not gzip', { zip: makeZip({ 'baseline.json.gz': Buffer.from('{}') }) }, 'is not a complete gzip file'],
    ['another schema', { zip: gzipped({ schema: 99, branch: 'main', runs: [] }) }, 'schema 99'],
    ['poisoned', { zip: gzipped({ schema: 1, branch: 'main', runs: [{ commit: '::error::x' }] }) }, ''],
    [
      'of another branch',
      { zip: zipDocument(makeDocument([{}], 'mine')) },
      'it is the document of another branch'
    ]
  ])('%s', async (_, changes, words) => {
    record(1)
    const id = record(2, changes)
    expect(runIdsOf(await find())).toEqual(['run1'])
    expect(log.lines).toHaveLength(1)
    expect(log.of('warning')[0]).toContain(
      `The artifact ${nameOf()} (${id}) is not a usable baseline and was ignored: `
    )
    expect(log.of('warning')[0]).toContain(words)
  })

  test('if there is no other, there is no baseline', async () => {
    record(1, { zip: Buffer.from('x') })
    expect(reasonOf(await find())).toBe(
      'none of the recorded runs of main could be read (End of central directory record signature not found. Either not a zip file, or file is truncated.)'
    )
  })

  test.each([404, 410])('one that expired meanwhile (%i) is only mentioned', async (status) => {
    record(1)
    const id = record(2)
    api.failOnce(new RegExp(`/artifacts/${id}/zip`), answer(status, 'Gone'))
    expect(runIdsOf(await find())).toEqual(['run1'])
    expect(log.of('info')[0]).toContain('has expired or was deleted meanwhile: an older one is used.')
  })

  test('if all have expired meanwhile, the words say so', async () => {
    record(1)
    api.refuse(/zip$/, 410, 'Artifact has expired')
    expect(reasonOf(await find())).toContain('the recorded runs of main have expired or were deleted; ')
    expect(await openStore().readNewest(makeRequest())).toEqual([])
    expect(log.of('warning')).toEqual([])
  })

  test('a storage that refuses has nothing to do with permissions', async () => {
    record(1)
    api.refuse(/storage/, 403, 'no')
    expect(reasonOf(await find())).not.toContain('permissions')
    expect(log.of('warning')[0]).toContain('the storage answered 403')
  })
})

/** Up to a quarter more or less, so that jobs do not retry in step. */
function expectSleeps(...wantedMs: number[]): void {
  expect(clock.sleeps).toHaveLength(wantedMs.length)
  for (const [index, ms] of wantedMs.entries())
    expect(Math.abs(clock.sleeps[index]! / ms - 1)).toBeLessThanOrEqual(0.25)
}

describe('faults', () => {
  const ARTIFACTS = /actions\/artifacts$/
  test.each([403, 404])('without actions: read (%i), the line to add', async (status) => {
    api.refuse(ARTIFACTS, status, 'Resource not accessible by integration')
    expect(reasonOf(await find())).toBe(
      `the gate could not list the artifacts of earlier runs (${status}: Resource not accessible by integration); add "permissions: { actions: read, contents: read }" to the job, beside the permissions that it has`
    )
    expect(api.calls).toHaveLength(1)
    expect(log.lines).toEqual([])
  })

  test('without contents: read, too', async () => {
    record(1)
    api.refuse(/git\/commits/, 403, 'Resource not accessible by integration')
    expect(reasonOf(await find())).toContain('could not read the merge commit')
    expect(reasonOf(await find())).toContain('permissions: { actions: read, contents: read }')
  })

  test.each([
    ['403 with Retry-After', answer(403, 'slow down', { 'retry-after': '7' }), 7000],
    ['429 with Retry-After', answer(429, 'slow down', { 'retry-after': '7' }), 7000],
    ['500', answer(500, 'oops'), 1000],
    ['a broken connection', reset, 1000]
  ])('%s is waited out', async (_, fault, waitMs) => {
    record(1)
    api.failOnce(ARTIFACTS, fault)
    expect(runIdsOf(await find())).toEqual(['run1'])
    expectSleeps(waitMs)
  })

  test.each([
    ['Retry-After', { 'retry-after': '3600' }],
    ['x-ratelimit-remaining', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '99999999999' }]
  ])('a rate limit that lasts too long is named: %s', async (_, headers) => {
    api.faults.push(answer(403, 'API rate limit exceeded', headers))
    expect(reasonOf(await find())).toMatch(
      /rate limit of this token is used up, and GitHub asks to wait \d+ s/
    )
    expect(clock.sleeps).toEqual([])
  })

  test('an outage is not waited out for ever', async () => {
    api.refuse(ARTIFACTS, 502, 'Bad gateway')
    expect(reasonOf(await find())).toContain('GitHub itself failed; see githubstatus.com')
    expectSleeps(1000, 2000, 4000)
  })

  test('the storage may break once, too', async () => {
    record(1)
    api.failOnce(/storage/, reset)
    expect(runIdsOf(await find())).toEqual(['run1'])
    expectSleeps(1000)
  })

  test('a page instead of JSON', async () => {
    api.faults.push((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
      return true
    })
    expect(reasonOf(await find())).toContain("GitHub's reply is not JSON")
  })

  test('control characters of others do not reach the log', async () => {
    api.refuse(ARTIFACTS, 403, 'no\n::error::\u001b[31mx')
    expect(reasonOf(await find())).toContain('(403: no ::error:: [31mx)')
  })

  test('a cancelled job does not wait', async () => {
    const cancellation = new AbortController()
    api.pause = async () => {
      cancellation.abort(new Error('cancelled by SIGINT'))
      await new Promise(() => undefined)
    }
    expect(reasonOf(await find({ signal: cancellation.signal }))).toBe('cancelled by SIGINT')
  })

  test('no token, no call', async () => {
    expect(reasonOf(await find({ token: '' }))).toContain('there is no github-token')
    expect(api.calls).toEqual([])
  })

  test('a server of one’s own: a path', async () => {
    env.GITHUB_SERVER_URL = 'https://git.example'
    expect(reasonOf(await find())).toContain('set "baseline" to the path of a document')
    expect(api.calls).toEqual([])
  })
})

describe('names', () => {
  test('differ by branch, workflow, job, leg and given name; not by run or ref', () => {
    const names = [nameOf(), nameOf('other'), nameOf('main', '{"os":"a"}'), nameOf('main', '{"os":"b"}')]
    names.push(nameOf('main', 'null', 'checkout'))
    const before = nameOf()
    Object.assign(env, { GITHUB_RUN_ID: '9', GITHUB_RUN_ATTEMPT: '2', GITHUB_REF: 'refs/heads/main' })
    env.GITHUB_WORKFLOW_REF = env.GITHUB_WORKFLOW_REF!.replace(/@.*/, '@refs/heads/main')
    expect(nameOf()).toBe(before)
    env.GITHUB_JOB = 'other'
    names.push(nameOf())
    expect(new Set(names).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^loadgate-baseline-[0-9a-f]{32}$/)
  })

  test('differ between two calls of a reusable workflow and two steps of a job', () => {
    const nameIn = (position: string, step: string): string => {
      Object.assign(env, { ACTIONS_ORCHESTRATION_ID: position, GITHUB_ACTION: step })
      return nameOf()
    }
    const first = nameIn('5b1f-1.eu.gate.__default', '__loadgate')
    expect(nameIn('5b1f-1.us.gate.__default', '__loadgate')).not.toBe(first)
    expect(nameIn('5b1f-1.eu.gate.__default', '__loadgate_2')).not.toBe(first)
    expect(nameIn('77aa-2.eu.gate.__default', '__loadgate')).toBe(first)
  })
})

describe('to record', () => {
  test('the newest three are read; those of the search are not downloaded again', async () => {
    for (const runId of [1, 2, 3, 4]) record(runId)
    const store = openStore()
    await store.find(makeRequest())
    const newest = await store.readNewest(makeRequest())
    expect('reason' in newest ? [] : newest.flatMap(({ runs }) => runs.map(({ runId }) => runId))).toEqual([
      'run4',
      'run3',
      'run2'
    ])
    expect(api.made('GET', /storage/)).toHaveLength(3)
  })

  test('none yet', async () => {
    expect(await openStore().readNewest(makeRequest())).toEqual([])
  })

  test('a storage that refuses hides sound documents: nothing may be recorded without them', async () => {
    record(1)
    record(2, { zip: Buffer.from('not a zip') })
    api.refuse(/storage\/100/, 403, 'AuthenticationFailed')
    expect(await openStore().readNewest(makeRequest())).toEqual({
      reason: expect.stringContaining('a document without them would hide them'),
      isOutage: true
    })
    expect(log.of('warning').at(-1)).toContain('the storage answered 403')
  })

  test('one that refuses one of them does not matter: the next recorder reads it', async () => {
    record(1)
    const id = record(2)
    api.refuse(new RegExp(`storage/${id}`), 403, 'AuthenticationFailed')
    expect(await openStore().readNewest(makeRequest())).toMatchObject([{ runs: [{ runId: 'run1' }] }])
  })

  test.each([
    ['GitHub', /zip$/, 404],
    ['GitHub', /zip$/, 503],
    ['the storage', /storage/, 404],
    ['the storage', /storage/, 500]
  ])('%s answers %s with %i: what is listed and cannot be read is not replaced', async (_, path, status) => {
    for (const runId of [1, 2, 3]) record(runId)
    api.refuse(path, status, 'no')
    expect(await openStore().readNewest(makeRequest())).toEqual({
      reason: expect.stringContaining(String(status)),
      isOutage: true
    })
  })

  test('nor is the one that this workflow run has uploaded before, if only that cannot be read', async () => {
    record(1)
    const id = record(2)
    api.refuse(new RegExp(`artifacts/${id}/zip`), 404, 'no')
    expect(await openStore().readNewest(makeRequest())).toMatchObject([{ runs: [{ runId: 'run1' }] }])
    env.GITHUB_RUN_ID = '2'
    expect(await openStore().readNewest(makeRequest())).toMatchObject({ isOutage: true })
  })

  test('documents that are none are replaced', async () => {
    record(1, { zip: Buffer.from('not a zip') })
    expect(await openStore().readNewest(makeRequest())).toEqual([])
  })

  test('why they cannot be read', async () => {
    api.refuse(/artifacts$/, 403, 'Resource not accessible by integration')
    expect(await openStore().readNewest(makeRequest())).toEqual({
      reason: expect.stringContaining('permissions: { actions: read, contents: read }'),
      isOutage: false
    })
  })
})
