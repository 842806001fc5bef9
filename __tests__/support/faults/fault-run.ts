import type { ChildProcess } from 'node:child_process'
import { checkInvariants } from './fault-check.js'
import type { Leave } from './fault-check.js'
import { FAULTS } from './fault-kinds.js'
import { arrange, nameOf } from './fault-matrix.js'
import type { FaultCase } from './fault-matrix.js'
import { FaultTestbed } from './fault-testbed.js'
import type { StepResult } from '../step/step.js'

export interface CaseResult {
  readonly name: string
  readonly group: string
  readonly verdict: string
  readonly problems: readonly string[]
  readonly tookMs: number
  readonly log: string
}

/** One scenario on a testbed of its own: set up, run, cleaned up, and checked. */
export interface Scenario {
  readonly name: string
  readonly group: string
  readonly leave: Leave
  arrange(testbed: FaultTestbed, main: () => ChildProcess): Promise<void>
  /** What must have come of it, beside what holds always; the problems in words. */
  judge(testbed: FaultTestbed, results: { main: StepResult; post: StepResult }): Promise<string[]> | string[]
}

const TOKENS = [20, 21, 22].map((length) => 'tk7Qx'.repeat(5).slice(0, length))

/** Runs main and post of a scenario and checks everything; the token's length goes round. */
async function runScenario(scenario: Scenario, index = 0): Promise<CaseResult> {
  const startedMs = performance.now()
  const testbed = await FaultTestbed.open(TOKENS[index % TOKENS.length] ?? '')
  let main: ChildProcess | undefined
  try {
    await scenario.arrange(testbed, () => main!)
    main = testbed.step.start('main')
    const ended = await testbed.step.result(main)
    const cleaned = await testbed.step.post()
    const results = { main: ended, post: cleaned }
    const problems = [
      ...(await checkInvariants(testbed, { ...results, leave: scenario.leave })),
      ...(await scenario.judge(testbed, results))
    ]
    return {
      name: scenario.name,
      group: scenario.group,
      verdict: ended.outputs.verdict ?? 'none',
      problems,
      tookMs: performance.now() - startedMs,
      log: `${ended.log}\n--- post ---\n${cleaned.log}`
    }
  } finally {
    await testbed.close()
  }
}

/** A case of the matrix as a scenario. */
export function scenarioOf(faultCase: FaultCase): Scenario {
  const { operation, fault, flow, verdict, leave } = faultCase
  return {
    name: nameOf(faultCase),
    group: operation,
    leave,
    arrange: async (testbed, main) => {
      await arrange(testbed, faultCase)
      if (flow === 'cancel') signalOnce(testbed, main)
    },
    judge: async (testbed, { main }) => {
      const isGridLost = operation === 'create grid' && verdict === 'error'
      const problems: (string | false)[] = [
        main.outputs.verdict !== verdict &&
          `the verdict is ${main.outputs.verdict ?? 'none'}, not ${verdict}`,
        !testbed.proxy.hasStruck(FAULTS[fault]) && 'the fault never struck',
        testbed.proxy.count('repeat') > 1 && 'repeat was sent twice',
        flow === 'timeout' &&
          !(await hasPartialResults(testbed, main)) &&
          'the partial results are not there',
        isGridLost && !main.log.includes('A grid may have been created') && 'a lost grid is not reported'
      ]
      return problems.filter((problem) => problem !== false)
    }
  }
}

async function hasPartialResults(testbed: FaultTestbed, main: StepResult): Promise<boolean> {
  const csvs = await testbed.csvs(main.outputs['run-id'] ?? '')
  const artifact = testbed.artifactOf(main)
  return csvs.size > 0 && [...csvs].every(([name, text]) => artifact.get(name)?.toString() === text)
}

/** As the runner does on cancel, once the run is seen running. */
function signalOnce(testbed: FaultTestbed, main: () => ChildProcess): void {
  testbed.proxy.strikes.push({
    operation: 'show run',
    moment: ({ index }) => index === 1,
    fault: async (exchange) => {
      exchange.answer(await exchange.commit())
      main().kill('SIGINT')
    }
  })
}

/** Runs many at once; most of their time is waiting. */
export async function runAll(
  scenarios: readonly Scenario[],
  options: { parallel: number; onResult?: (result: CaseResult) => void }
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let index = next++; index < scenarios.length; index = next++) {
      const result = await runScenario(scenarios[index]!, index)
      results.push(result)
      options.onResult?.(result)
    }
  }
  await Promise.all(Array.from({ length: options.parallel }, work))
  return results
}
