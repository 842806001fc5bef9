import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FLOWS } from './fault-matrix.js'
import type { Flow } from './fault-matrix.js'
import type { Exchange, Operation } from './fault-proxy.js'
import type { Scenario } from './fault-run.js'
import type { FaultTestbed } from './fault-testbed.js'
import { makeRandom } from '../data/seeded-random.js'

type Main = () => ChildProcess

/** Where in a call main dies; "late": the service does what it was asked after that. */
const STAGES = {
  'before it is done': (kill) => () => kill(),
  'before it is done, late': (kill) => async (exchange) => {
    kill()
    await sleep(2_500)
    await exchange.commit()
  },
  'between the effect and the reply': (kill) => async (exchange) => {
    await exchange.commit()
    kill()
  },
  'after the reply': (kill) => async (exchange) => {
    exchange.answer(await exchange.commit())
    await sleep(30)
    kill()
  },
  'in the middle of the reply': (kill) => async (exchange) => {
    const answer = await exchange.commit()
    exchange.begin(answer, Math.floor(answer.body.length / 2), true)
    await sleep(30)
    kill()
  }
} as const satisfies Record<string, (kill: () => void) => (exchange: Exchange) => Promise<void> | void>

type Stage = keyof typeof STAGES

const ALL = Object.keys(STAGES) as Stage[]
const CALLS: readonly (readonly [Operation, number, Flow, readonly Stage[]])[] = [
  ['create run', 0, 'watch', ALL],
  ['show run', 0, 'watch', ALL],
  ['show run', 1, 'watch', ALL],
  ['report', 0, 'gate', ALL],
  ['result', 0, 'gate', ALL],
  ['result', 1, 'gate', ALL],
  ['create grid', 0, 'grids', ALL],
  ['create grid', 1, 'grids', ALL],
  ['show grid', 0, 'grids', ALL],
  ['create run', 0, 'grids', ALL],
  ['terminate grid', 0, 'grids', ALL],
  ['list', 0, 'adoption', ALL],
  ['repeat', 0, 'long repeat', ALL],
  ['stop', 0, 'timeout', ALL]
]

const AT_THE_END: readonly Operation[] = ['report', 'result', 'terminate grid', 'repeat']

/** Main is killed at each step of the flow, at moments by chance, and by the runner's own sequence; then post runs. */
export function makeKills(seed: number): Scenario[] {
  return [
    ...CALLS.flatMap(([operation, index, flow, stages]) =>
      stages.map((stage) => killAtCall({ operation, index, flow, stage }))
    ),
    killWhenMarked(),
    ...Object.keys(PUBLISHING).map(killWhilePublishing),
    ...killsByChance(makeRandom(seed), 24),
    ...runnerSequences()
  ]
}

function killAtCall(call: { operation: Operation; index: number; flow: Flow; stage: Stage }): Scenario {
  const { operation, index, flow, stage } = call
  const isLostGrid = operation === 'create grid' && stage !== 'before it is done'
  return {
    name: `SIGKILL at ${operation} ${index + 1} ${stage} (${flow})`,
    group: 'SIGKILL of main, by step',
    leave: { lostGrids: isLostGrid ? 1 : 0 },
    arrange: async (testbed, main) => {
      await FLOWS[flow](testbed)
      // What is not about a run that has ended is about one that would go on if nobody ended it.
      if (!AT_THE_END.includes(operation)) testbed.runInRealTime(60)
      if (operation === 'stop') testbed.step.inputs.timeout = '3s'
      testbed.proxy.strikes.push({
        operation,
        moment: (each) => each.index === index,
        fault: STAGES[stage](() => main().kill('SIGKILL'))
      })
    },
    judge: (_testbed, { main }) => (main.signal === 'SIGKILL' ? [] : ['main was not killed'])
  }
}

/** The state is written, and nothing was sent: the very moment before the POST. */
function killWhenMarked(): Scenario {
  return {
    name: 'SIGKILL as soon as the marker is saved',
    group: 'SIGKILL of main, by step',
    leave: {},
    arrange: (testbed, main) => {
      testbed.runInRealTime(60)
      const state = join(testbed.step.folder, 'state')
      killWhen(main, () => readFileSync(state, 'utf8').includes('"marker":"loadgate-'))
      return Promise.resolve()
    },
    judge: (_testbed, { main }) => (main.signal === 'SIGKILL' ? [] : ['main was not killed'])
  }
}

const PUBLISHING: Readonly<Record<string, (testbed: FaultTestbed) => boolean>> = {
  'when the artifact is begun': ({ artifacts }) => artifacts.attempts > 0,
  'when the artifact is there': ({ artifacts }) => artifacts.artifacts.size > 0,
  'when verdict.json is written': ({ step }) => step.everythingWritten().includes('"verdict": "passed"')
}

function killWhilePublishing(moment: string): Scenario {
  return {
    name: `SIGKILL while publishing, ${moment}`,
    group: 'SIGKILL of main, by step',
    leave: {},
    arrange: (testbed, main) => {
      killWhen(main, () => PUBLISHING[moment]?.(testbed) ?? false)
      return Promise.resolve()
    },
    judge: () => []
  }
}

function killsByChance(random: () => number, count: number): Scenario[] {
  return Array.from({ length: count }, (_, index) => {
    const afterMs = Math.round(random() * 3_000)
    const flow: Flow = index % 3 === 0 ? 'grids' : 'watch'
    return {
      name: `SIGKILL after ${afterMs} ms (${flow})`,
      group: 'SIGKILL of main, by chance',
      // A grid whose creation was under way cannot be looked up.
      leave: { lostGrids: flow === 'grids' ? 1 : 0 },
      arrange: async (testbed, main) => {
        await FLOWS[flow](testbed)
        testbed.runInRealTime(60)
        setTimeout(() => main().kill('SIGKILL'), afterMs)
      },
      judge: () => []
    }
  })
}

/** SIGINT, SIGTERM after 7.5 s, SIGKILL after 2.5 s more: what the runner does to a step of a cancelled job. */
async function cancelAsRunner(main: ChildProcess): Promise<void> {
  main.kill('SIGINT')
  await Promise.race([sleep(7_500), exitOf(main)])
  main.kill('SIGTERM')
  await Promise.race([sleep(2_500), exitOf(main)])
  main.kill('SIGKILL')
}

function exitOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    else child.once('exit', () => resolve())
  })
}

interface Cancellation {
  readonly name: string
  readonly at: { operation: Operation; index: number; stage: Stage }
  readonly stopTakesMs?: number
  readonly isLeft?: boolean
  readonly inputs?: Record<string, string>
  readonly flow?: Flow
}

function runnerSequences(): Scenario[] {
  const watching = { operation: 'show run', index: 1, stage: 'after the reply' } as const
  const creating = { operation: 'create run', index: 0 } as const
  const cancellations: Cancellation[] = [
    { name: 'while watching', at: watching },
    { name: 'while watching, on grids that the step made', at: watching, flow: 'grids' },
    {
      name: 'while its grids start',
      at: { operation: 'show grid', index: 0, stage: 'before it is done' },
      flow: 'grids'
    },
    { name: 'while watching, /stop takes 4 s', at: watching, stopTakesMs: 4_000 },
    { name: 'while watching, /stop takes 9 s', at: watching, stopTakesMs: 9_000 },
    { name: 'while watching, /stop takes 20 s', at: watching, stopTakesMs: 20_000 },
    { name: 'before the run is made', at: { ...creating, stage: 'before it is done' } },
    { name: 'before the run is made late', at: { ...creating, stage: 'before it is done, late' } },
    { name: 'between run and reply', at: { ...creating, stage: 'between the effect and the reply' } },
    {
      name: 'between run and reply, /stop takes 9 s',
      at: { ...creating, stage: 'between the effect and the reply' },
      stopTakesMs: 9_000
    },
    { name: 'with stop-on-cancel: false', at: watching, isLeft: true, inputs: { 'stop-on-cancel': 'false' } }
  ]
  return cancellations.map(cancellationScenario)
}

function cancellationScenario(cancellation: Cancellation): Scenario {
  const { name, at, stopTakesMs = 0, isLeft = false, inputs = {}, flow = 'watch' } = cancellation
  let signalledMs = 0
  return {
    name: `The runner cancels ${name}`,
    group: 'The runner’s own SIGINT, SIGTERM, SIGKILL',
    leave: { mayRun: isLeft },
    arrange: async (testbed, main) => {
      await FLOWS[flow](testbed)
      testbed.runInRealTime(60)
      Object.assign(testbed.step.inputs, inputs)
      testbed.proxy.strikes.push(
        {
          operation: at.operation,
          moment: ({ index }) => index === at.index,
          fault: STAGES[at.stage](() => {
            signalledMs = performance.now()
            void cancelAsRunner(main())
          })
        },
        {
          operation: 'stop',
          moment: () => true,
          fault: async (exchange) => {
            await sleep(stopTakesMs)
            exchange.answer(await exchange.commit())
          }
        }
      )
    },
    judge: (testbed, { main }) => {
      const stop = testbed.proxy.seen.find(({ operation }) => operation === 'stop')
      const isLate = stop !== undefined && stop.atMs - signalledMs > 5_000
      const problems: (string | false)[] = [
        isLeft && stop !== undefined && 'stop was sent',
        // A run whose creation is under way may come into being later; then it is the post step's.
        at.operation === 'show run' && isLate && 'stop was not sent within 5 s',
        main.signal === 'SIGKILL' && 'main had to be killed'
      ]
      return problems.filter((problem) => problem !== false)
    }
  }
}

/** Looks every millisecond from now on; the scenario may end before. */
function killWhen(main: Main, holds: () => boolean): void {
  const timer = setInterval(() => {
    try {
      if (!holds()) return
      main().kill('SIGKILL')
    } catch {
      // The step's folder has gone: so has main.
    }
    clearInterval(timer)
  }, 1)
}
