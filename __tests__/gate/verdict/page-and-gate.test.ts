import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { runGate } from '../../../src/gate/run-gate.js'
import '../../../src/gate/after-run.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { judgeRun } from '../../../src/service/judging/judge-run.js'
import { readThresholds } from '../../../src/service/judging/read-thresholds.js'
import { Store } from '../../../src/service/store/store.js'
import type { RunRecord } from '../../../src/contract/records.js'
import { readAddress } from '../../../src/client/http/address.js'
import { createFolders, createServices, finishRun, runForm } from '../../service/support.js'
import type { OnStall } from '../../../src/analysis/thresholds/judge/judgement.js'
import { makeRandom } from '../../support/data/seeded-random.js'
import { makePorts, makeSettings } from '../../support/gate/gate-ports.js'
import { slice } from '../../support/slice.js'

const services = createServices()
const folders = createFolders()
afterAll(async () => {
  await services.closeAll()
  folders.remove()
})

let service: Awaited<ReturnType<typeof services.start>>
let store: Store
let run: RunRecord
let ended: RunRecord
let csv: { readonly path: string; readonly lines: readonly string[] }

beforeAll(async () => {
  const dataDir = folders.create()
  store = new Store(dataDir)
  service = await services.start({ dataDir, store })
  const { json } = await finishRun(service, runForm({ threads: '3', duration: '10' }))
  run = store.run(json.uuid)!
  ended = { ...run }
  const path = store.folder.resultFile(run.id, store.gridsOf(run)[0]!.id)
  csv = { path, lines: readFileSync(path, 'utf8').trimEnd().split('\n') }
})

const LINES = [
  'apdex >= 0.5',
  'apdex >= 0.999',
  'p95 < 9s',
  'p95 < 20ms',
  'error_rate <= 5%',
  'error_rate == 0%',
  'throughput > 1/s',
  'throughput > 1000/s',
  'samples > 3',
  'samples > 100000',
  'mean{label="home"} < 5s',
  'max{label="nowhere"} < 5s',
  'p99{label="*"} < 100ms',
  'warn: median < 1ms',
  'warn: p95{label="nowhere"} < 1s'
]
const ERRORS = ['something odd was said', 'load lost: node 1 of grid 1 has died', 'a\nload lost: b']
const KINDS = [
  'none',
  'errors',
  'errors',
  'cut',
  'failing',
  'torn',
  'gone',
  'problem',
  'errors',
  'apdex',
  'early',
  'threads',
  'stalled',
  'stalled',
  'silent',
  'foreign'
] as const

interface Case {
  readonly thresholds: string
  readonly warmUpSec: number
  readonly onStall: OnStall
  /** Each has words of its own for results that are not there, or not whole. */
  readonly hasOwnWords: boolean
}

/** Rows of an earlier run. */
function moveBack(rows: readonly string[]): string[] {
  return rows.map((row) => row.replace(/^\d+/, (ms) => String(Number(ms) - 7_200_000)))
}

/** Changes the run and its results in the ways that a verdict depends on. */
function makeCase(seed: number): Case {
  const random = makeRandom(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  // Mostly one at a time: the first gap hides the others.
  const kinds = new Set(random() < 0.8 ? [pick(KINDS)] : [pick(KINDS), pick(KINDS)])
  const [header = '', ...rows] = csv.lines
  const kept = kinds.has('cut') ? rows.slice(0, Math.floor(rows.length * random())) : rows
  const failing = kinds.has('failing') ? random() : 0
  const [heldMs, laterMs] = [kinds.has('stalled') ? 3000 : 0, kinds.has('silent') ? 30_000 : 0]
  const changed = hold(kept, { heldMs, laterMs }).map((row) =>
    random() < failing ? row.replace(',200,OK,', ',500,Error,').replace(',true,', ',false,') : row
  )
  const before = kinds.has('foreign') ? moveBack(changed.slice(0, 3)) : []
  const text = `${[header, ...before, ...changed].join('\n')}\n`
  writeFileSync(csv.path, kinds.has('torn') ? text.slice(0, Math.floor(text.length * 0.9)) : text)
  if (kinds.has('gone')) rmSync(csv.path)
  Object.assign(run, {
    status: kinds.has('problem') ? 'problem' : 'finished',
    remoteErrors: kinds.has('errors') ? pick(ERRORS) : null,
    apdex: kinds.has('apdex') ? pick([null, '0.42 [500]']) : ended.apdex,
    // Only the service knows how many there were.
    samples: null,
    stoppedMs: ended.startedMs! + (kinds.has('early') ? 7000 : 10_200),
    request: {
      ...ended.request,
      durationSec: kinds.has('early') ? pick([10, 30, null]) : 10,
      threads: kinds.has('threads') ? pick([8, null]) : 3
    }
  })
  const lines = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(LINES))
  return {
    thresholds: [...new Set(lines)].join('\n'),
    warmUpSec: pick([0, 0, 1, 3, 60]),
    onStall: pick(['fail', 'fail', 'warn', 'ignore']),
    hasOwnWords: kinds.has('gone') || kinds.has('torn')
  }
}

/** Answers in the middle of the run come late, and what is asked after it is asked later. */
function hold(rows: readonly string[], { heldMs, laterMs }: { heldMs: number; laterMs: number }): string[] {
  const cells = rows.map((row) => row.split(','))
  const middleMs = Number(cells[Math.floor(cells.length / 2)]?.[0] ?? 0)
  return cells.map(([start = '', elapsed = '', ...others]) => {
    const isAfter = Number(start) > middleMs
    const isHeld = !isAfter && Number(start) + Number(elapsed) > middleMs
    const startMs = Number(start) + (isAfter ? heldMs + laterMs : 0)
    return [startMs, Number(elapsed) + (isHeld ? heldMs : 0), ...others].join(',')
  })
}

async function askGate({ thresholds, warmUpSec, onStall }: Case): Promise<Outcome> {
  const ports = await makePorts()
  const settings = makeSettings({
    target: { kind: 'remote', address: readAddress(service.url), token: service.token },
    origin: { kind: 'existing', runId: run.id },
    thresholdLines: thresholds,
    warmUpMs: warmUpSec * 1000,
    onStall
  })
  return ports.clock.run(runGate(ports, settings))
}

test('whatever became of a run, its page and a gate have the same verdict', async () => {
  const seen = new Map<string, number>()
  for (let seed = 1; seed <= slice(12, 400); seed++) {
    const made = makeCase(seed)
    const read = readThresholds({
      ...{ thresholds: made.thresholds, warm_up: made.warmUpSec, on_stall: made.onStall }
    })
    const given = 'thresholds' in read ? read.thresholds : undefined
    const judged = await judgeRun(run, given!, store)
    const outcome = await askGate(made)
    expect([seed, made, judged.verdict]).toEqual([seed, made, outcome.verdict])
    const reasonOf = ({ reason }: { readonly reason: string }): string => (made.hasOwnWords ? '' : reason)
    expect([seed, reasonOf(judged)]).toEqual([seed, reasonOf(outcome)])
    const verdictsOf = ({ judgements }: Pick<Outcome, 'judgements'>): unknown =>
      judgements.map(({ threshold, verdict, overTime, warning }) => [
        ...[threshold.text, verdict, overTime, warning]
      ])
    expect([seed, verdictsOf(judged)]).toEqual([seed, verdictsOf(outcome)])
    seen.set(judged.verdict, (seen.get(judged.verdict) ?? 0) + 1)
  }
  // A generator that has nothing but gaps shows nothing.
  for (const verdict of ['passed', 'failed', 'inconclusive'])
    expect([verdict, (seen.get(verdict) ?? 0) >= 3]).toEqual([verdict, true])
}, 300_000)
