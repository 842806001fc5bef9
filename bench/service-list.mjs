// A page of the list of a service with 10,000 runs, beside the same records in memory and in one JSON file each.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reportFigure } from './figure.mjs'
import { Store } from '../src/service/store/store.ts'
import { openStore } from '../src/service/serve.ts'

const at = process.argv.indexOf('--runs')
const RUNS = at < 0 ? 10_000 : Number(process.argv[at + 1])
const CALLS = 20
const LIMIT = 30
const GOAL_MS = 20
const GOAL_OPEN_MS = 2000

const FILTERS = [
  ...[{}, { status: 'finished' }, { status: 'problem' }, { status: 'running' }, { project: 'shop-3' }],
  ...[
    { user: 'team-5' },
    { tag: 'nightly' },
    { tag: 'loadgate-77' },
    { name: 'checkout' },
    { name: 'of 42 ' }
  ],
  ...[
    { name: 'nowhere' },
    { name: 'checkout', project: 'shop-3' },
    { status: 'finished', project: 'shop-3' }
  ],
  ...[
    { tag: 'nightly', project: 'shop-3' },
    { tag: 'nightly', project: 'shop-3', name: 'checkout' }
  ],
  ...[
    { tag: 'nightly', status: 'finished' },
    { user: 'team-5', status: 'finished' }
  ],
  { user: 'team-5', project: 'shop-3', name: 'checkout', status: 'finished' }
]

const folder = mkdtempSync(join(tmpdir(), 'loadgate-bench-'))
try {
  const records = Array.from({ length: RUNS }, (_, index) => makeRun(index + 1))
  const jsonDir = join(folder, 'json')
  writeJsonFiles(jsonDir, records)
  const readJson = best(3, () => readJsonFiles(jsonDir))
  const dataDir = join(folder, 'data')
  const open = () => openStore(dataDir, { log: console.error })
  const filled = open()
  for (const run of records) filled.create({ run, grids: [] })
  filled.close()
  const opened = best(5, () => open().close())
  const store = open()
  const memory = new Store(join(folder, 'memory'))
  for (const run of records) memory.create({ run, grids: [] })
  comparePages(store, memory)
  console.log(
    `\nOpening ${RUNS} runs: ${opened.toFixed(0)} ms; the peer, reading them from JSON files, ${readJson.toFixed(0)} ms,`
  )
  console.log(`so ${(opened / readJson).toFixed(2)} of its time.`)
  reportFigure({ name: `opening ${RUNS} runs`, value: opened, unit: 'ms', atMost: GOAL_OPEN_MS })
  store.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Both answer the same request in turns, first page and one in the middle; the answers are equal. */
function comparePages(store, memory) {
  console.log(
    `A page of ${LIMIT} runs of ${RUNS} and how many there are in all, median of ${CALLS} calls in turns:\n`
  )
  console.log('| filter | from run | matching | store | in memory | ratio |\n|---|---:|---:|---:|---:|---:|')
  const slowest = { ms: 0, filter: '' }
  for (const filter of FILTERS) {
    const { total } = memory.listRuns({ filter, offset: 0, limit: 1 })
    const offsets = total > 2 * LIMIT ? [0, Math.floor(total / 2)] : [0]
    for (const offset of offsets) {
      const request = { filter, offset, limit: LIMIT }
      const ids = ({ runs, total: count }) => JSON.stringify([count, runs.map(({ id }) => id)])
      if (ids(store.listRuns(request)) !== ids(memory.listRuns(request)))
        throw new Error(`the store's answer to ${JSON.stringify(request)} is wrong`)
      const [ours, peers] = inTurns(
        () => store.listRuns(request),
        () => memory.listRuns(request)
      )
      if (ours > slowest.ms) Object.assign(slowest, { ms: ours, filter: JSON.stringify(filter) })
      const row = [JSON.stringify(filter), offset, total, `${ours.toFixed(2)} ms`, `${peers.toFixed(2)} ms`]
      console.log(`| ${[...row, (ours / peers).toFixed(2)].join(' | ')} |`)
    }
  }
  console.log(`\nSlowest: ${slowest.ms.toFixed(2)} ms (${slowest.filter}).`)
  const name = `slowest page of ${LIMIT} runs of ${RUNS}`
  reportFigure({ name, value: slowest.ms, unit: 'ms', atMost: GOAL_MS })
}

/** The medians of the two. */
function inTurns(...subjects) {
  const times = subjects.map(() => [])
  for (let call = 0; call < CALLS; call++) subjects.forEach((act, index) => times[index].push(time(act)))
  return times.map((each) => each.toSorted((a, b) => a - b)[CALLS >> 1])
}

function best(rounds, act) {
  return Math.min(...Array.from({ length: rounds }, () => time(act)))
}

function time(act) {
  const start = performance.now()
  act()
  return performance.now() - start
}

function writeJsonFiles(dataDir, runs) {
  for (const run of runs) {
    mkdirSync(join(dataDir, 'runs', run.id), { recursive: true })
    writeFileSync(join(dataDir, 'runs', run.id, 'run.json'), JSON.stringify(run))
  }
}

function readJsonFiles(dataDir) {
  const runs = readdirSync(join(dataDir, 'runs')).map((id) =>
    JSON.parse(readFileSync(join(dataDir, 'runs', id, 'run.json'), 'utf8'))
  )
  return runs.sort((a, b) => b.sequence - a.sequence)
}

/** As large as that of a real run with two nodes: about 2 KB. */
function makeRun(sequence) {
  const id = sequence.toString(16).padStart(24, '0')
  const status = sequence % 97 === 0 ? 'problem' : 'finished'
  const node = {
    ...{
      grid: id,
      region: 'local',
      number: 1,
      threads: 10,
      place: 'this machine',
      startedMs: 1e12 + sequence
    },
    ...{ rows: 1000, firstSampleMs: 1e12, lastSampleMs: 1e12 + 60_000, cpuLimit: null, restarts: null },
    ...{ throttled: null, clockOffsetMs: 0, lost: null }
  }
  return {
    ...{
      id,
      batchId: id,
      gridIds: [],
      files: [{ uuid: id, name: 'plan.jmx' }],
      createdMs: 1e12 + sequence,
      sequence
    },
    user: { id: sequence % 8, name: `team-${sequence % 8}` },
    request: {
      ...{
        tool: 'jmeter',
        privacy: 'private',
        threads: 20,
        rampupSec: 10,
        durationSec: 60,
        hosts: [],
        properties: []
      },
      name: `acme/${sequence % 3 === 0 ? 'Checkout' : 'cart'} of ${sequence % 100} at ${id.slice(16)}`,
      notes:
        'Started by the workflow of the pull request; see the link in the summary for what changed. '.repeat(
          3
        ),
      project: `shop-${sequence % 12}`,
      tags: [sequence % 2 === 0 ? 'nightly' : 'pull-request', `loadgate-${sequence}`]
    },
    ...{ toolVersion: '5.6.3', status, apdex: '0.95 [0.5]', samples: 2000, remoteErrors: null },
    ...{
      startedMs: 1e12 + sequence,
      stoppedMs: 1e12 + sequence + 60_000,
      mark: id,
      goMs: 1e12,
      nodes: [node, { ...node, number: 2 }]
    },
    report: {
      summary: 'Requests 2000, failed 3.\n'.repeat(20),
      ...{
        mean_response_time: 120,
        mean_concurrency: 12,
        mean_throughput: 2000,
        mean_error_rate: 0.15,
        rehearsal: false
      }
    }
  }
}
