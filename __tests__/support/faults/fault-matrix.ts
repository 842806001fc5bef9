import { FAULTS, MOMENTS, comesBefore, nudge } from './fault-kinds.js'
import type { FaultName, MomentName } from './fault-kinds.js'
import type { Leave } from './fault-check.js'
import type { Operation } from './fault-proxy.js'
import { OTHER_SPEC, SPEC } from './fault-testbed.js'
import type { FaultTestbed } from './fault-testbed.js'
import { makeRandom } from '../data/seeded-random.js'

/** The ways through the action, each of which calls some of the operations. */
export type Flow = 'gate' | 'adoption' | 'grids' | 'watch' | 'timeout' | 'cancel' | 'repeat' | 'long repeat'

export interface FaultCase {
  readonly operation: Operation
  readonly fault: FaultName
  readonly moment: MomentName
  readonly flow: Flow
  readonly verdict: string
  readonly leave: Leave
}

const NAMES = Object.keys(FAULTS) as FaultName[]
const isStall = (fault: FaultName): boolean => fault.startsWith('stalled')
const BRIEF = NAMES.filter((fault) => !isStall(fault))
const STALLS = NAMES.filter(isStall)

/** Which faults strike an operation when; what would be the same case twice is left out. */
const PLAN: readonly (readonly [Operation, Flow, readonly FaultName[], readonly MomentName[]])[] = [
  ['create run', 'gate', NAMES, ['first call', 'later call']],
  ['create run', 'gate', ['429 with seconds', '429 with a date'], ['every call for 3 s']],
  ['create grid', 'grids', NAMES, ['first call', 'later call']],
  ['show grid', 'grids', BRIEF, ['first call', 'later call', 'every call for 3 s']],
  ['show grid', 'grids', ['stalled before'], ['first call']],
  ['show run', 'watch', BRIEF, ['first call', 'later call', 'every call for 3 s']],
  ['show run', 'watch', STALLS, ['later call']],
  ['show run', 'watch', ['503 before', 'reset before'], ['every call for 125 s']],
  ['list', 'adoption', BRIEF, ['first call', 'later call', 'every call for 3 s']],
  ['list', 'adoption', ['503 before', 'reset before'], ['every call for 12 s']],
  ['list', 'adoption', STALLS, ['first call']],
  ['report', 'gate', BRIEF, ['first call', 'later call', 'every call for 3 s']],
  ['report', 'gate', STALLS, ['first call']],
  ['report', 'gate', ['503 before', 'page before', 'stalled halfway'], ['every call']],
  ['result', 'gate', BRIEF, ['first call', 'later call', 'every call for 3 s']],
  ['result', 'gate', STALLS, ['first call']],
  ['result', 'gate', ['truncated', 'JSON error before', 'stalled halfway'], ['every call']],
  ['stop', 'timeout', BRIEF, ['first call', 'later call', 'every call for 3 s']],
  ['stop', 'timeout', STALLS, ['first call']],
  ['stop', 'cancel', BRIEF, ['first call', 'every call for 3 s']],
  ['stop', 'cancel', STALLS, ['first call']],
  ['repeat', 'repeat', NAMES, ['first call']],
  ['terminate grid', 'grids', BRIEF, ['first call', 'later call', 'every call for 3 s']],
  ['terminate grid', 'grids', ['503 before'], ['every call for 12 s']]
]

/** Every case of the matrix, in an order that depends on the seed alone. */
export function makeMatrix(seed: number): FaultCase[] {
  const cases = PLAN.flatMap(([operation, flow, faults, moments]) =>
    faults.flatMap((fault) =>
      moments.map((moment) => {
        const key = { operation, fault, moment, flow }
        return { ...key, verdict: verdictOf(key), leave: leaveOf(key) }
      })
    )
  )
  return shuffle(cases, makeRandom(seed))
}

export function nameOf({ operation, fault, moment, flow }: FaultCase): string {
  return `${operation}, ${fault}, ${moment} (${flow})`
}

type Key = Omit<FaultCase, 'verdict' | 'leave'>

/** What the action makes of it: what passes is lived through, what cannot be known is never green. */
function verdictOf({ operation, fault, moment, flow }: Key): string {
  if (flow === 'timeout') return 'timed-out'
  if (flow === 'cancel') return 'cancelled'
  if (['create run', 'create grid', 'repeat'].includes(operation)) {
    if (isStall(fault)) return 'timed-out'
    // A repeat is never sent again, not even when it certainly made nothing; a grid that may be there cannot be looked up.
    const isRefused = fault.startsWith('429') && operation !== 'repeat'
    const isFound = !comesBefore(fault) && operation !== 'create grid'
    return isRefused || isFound || fault === 'delayed' ? 'passed' : 'error'
  }
  // Two answers of one size without a length have to be believed; that the last row is broken is seen all the same.
  const isBelieved = fault === 'truncated without a length' && moment === 'every call for 3 s'
  return (operation === 'result' && isBelieved) || moment === 'every call' ? 'inconclusive' : 'passed'
}

function leaveOf({ operation, fault }: Key): Leave {
  return { lostGrids: operation === 'create grid' && !comesBefore(fault) ? 1 : 0 }
}

/** Prepares the testbed for a case, up to the step's start. */
export async function arrange(
  testbed: FaultTestbed,
  { operation, fault, moment, flow }: FaultCase
): Promise<void> {
  await FLOWS[flow](testbed)
  const { inputs } = testbed.step
  // Whoever waits for an answer that never comes is freed by the deadline; who may give up by itself is let to.
  if (isStall(fault))
    inputs.timeout = ['create run', 'create grid', 'repeat'].includes(operation) ? '5s' : '150s'
  if (flow === 'timeout') inputs.timeout = '3s'
  if (moment === 'every call') inputs.timeout = '6s'
  if (moment === 'every call for 125 s') inputs.timeout = '5m'
  const { strikes } = testbed.proxy
  if (moment === 'later call' && ['create run', 'list', 'report', 'stop'].includes(operation))
    strikes.push({
      operation,
      moment: MOMENTS['first call'],
      fault: nudge(operation === 'create run' ? 429 : 503)
    })
  strikes.push({ operation, moment: MOMENTS[moment], fault: FAULTS[fault] })
}

/** How each of the ways is taken. */
export const FLOWS: Readonly<Record<Flow, (testbed: FaultTestbed) => Promise<void> | void>> = {
  gate: () => undefined,
  adoption: ({ proxy }) => {
    proxy.strikes.push({
      operation: 'create run',
      moment: MOMENTS['first call'],
      fault: FAULTS['dropped after']
    })
  },
  grids: async (testbed) => {
    testbed.step.inputs.grids = `- ${await testbed.addOthersGrid()}\n${SPEC}\n${OTHER_SPEC}`
  },
  watch: (testbed) => testbed.runInRealTime(4),
  timeout: (testbed) => testbed.runInRealTime(60),
  cancel: (testbed) => testbed.runInRealTime(60),
  repeat: async (testbed) => {
    repeatRun(testbed, await testbed.addOthersRun({ name: 'nightly', duration: '10', threads: '2' }))
  },
  'long repeat': async (testbed) =>
    repeatRun(testbed, await testbed.addStoppedRun({ name: 'nightly', duration: '60' }))
}

function repeatRun({ step }: FaultTestbed, repeat: string): void {
  const { 'base-url': url = '', token = '', thresholds = '', timeout = '' } = step.inputs
  step.inputs = { 'base-url': url, token, thresholds, timeout, 'poll-interval': '1s', repeat }
}

function shuffle<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
