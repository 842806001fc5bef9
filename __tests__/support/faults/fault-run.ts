import type { ChildProcess } from 'node:child_process'
import { checkWorld } from './fault-check.js'
import type { Leave } from './fault-check.js'
import { FAULTS } from './fault-kinds.js'
import { arrange, nameOf } from './fault-matrix.js'
import type { FaultCase } from './fault-matrix.js'
import { FaultWorld } from './fault-world.js'
import type { StepResult } from '../step/step.js'

export interface CaseResult {
  readonly name: string
  readonly group: string
  readonly verdict: string
  readonly problems: readonly string[]
  readonly tookMs: number
  readonly log: string
}

/** One story in a world of its own: arranged, run, cleaned up after, and looked at. */
export interface Story {
  readonly name: string
  readonly group: string
  readonly leave: Leave
  arrange(world: FaultWorld, main: () => ChildProcess): Promise<void>
  /** What must have come of it, beside what holds always; the problems in words. */
  judge(world: FaultWorld, results: { main: StepResult; post: StepResult }): Promise<string[]> | string[]
}

const TOKENS = [20, 21, 22].map((length) => 'tk7Qx'.repeat(5).slice(0, length))

/** Runs main and post of a story and checks everything; the token's length goes round. */
async function runStory(story: Story, index = 0): Promise<CaseResult> {
  const startedMs = performance.now()
  const world = await FaultWorld.open(TOKENS[index % TOKENS.length] ?? '')
  let main: ChildProcess | undefined
  try {
    await story.arrange(world, () => main!)
    main = world.step.start('main')
    const ended = await world.step.result(main)
    const cleaned = await world.step.post()
    const results = { main: ended, post: cleaned }
    const problems = [
      ...(await checkWorld(world, { ...results, leave: story.leave })),
      ...(await story.judge(world, results))
    ]
    return {
      name: story.name,
      group: story.group,
      verdict: ended.outputs.verdict ?? 'none',
      problems,
      tookMs: performance.now() - startedMs,
      log: `${ended.log}\n--- post ---\n${cleaned.log}`
    }
  } finally {
    await world.close()
  }
}

/** A case of the matrix as a story. */
export function storyOf(faultCase: FaultCase): Story {
  const { operation, fault, flow, verdict, leave } = faultCase
  return {
    name: nameOf(faultCase),
    group: operation,
    leave,
    arrange: async (world, main) => {
      await arrange(world, faultCase)
      if (flow === 'cancel') signalOnce(world, main)
    },
    judge: async (world, { main }) => {
      const isGridLost = operation === 'create grid' && verdict === 'error'
      const problems: (string | false)[] = [
        main.outputs.verdict !== verdict &&
          `the verdict is ${main.outputs.verdict ?? 'none'}, not ${verdict}`,
        !world.proxy.hasStruck(FAULTS[fault]) && 'the fault never struck',
        world.proxy.count('repeat') > 1 && 'repeat was sent twice',
        flow === 'timeout' && !(await hasPartialResults(world, main)) && 'the partial results are not there',
        isGridLost && !main.log.includes('A grid may have been created') && 'a lost grid is not told of'
      ]
      return problems.filter((problem) => problem !== false)
    }
  }
}

async function hasPartialResults(world: FaultWorld, main: StepResult): Promise<boolean> {
  const csvs = await world.csvs(main.outputs['run-id'] ?? '')
  const artifact = world.artifactOf(main)
  return csvs.size > 0 && [...csvs].every(([name, text]) => artifact.get(name)?.toString() === text)
}

/** As the runner does on cancel, once the run is seen running. */
function signalOnce(world: FaultWorld, main: () => ChildProcess): void {
  world.proxy.strikes.push({
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
  stories: readonly Story[],
  options: { parallel: number; onResult?: (result: CaseResult) => void }
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let index = next++; index < stories.length; index = next++) {
      const result = await runStory(stories[index]!, index)
      results.push(result)
      options.onResult?.(result)
    }
  }
  await Promise.all(Array.from({ length: options.parallel }, work))
  return results
}
