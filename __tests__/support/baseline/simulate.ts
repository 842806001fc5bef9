import type {
  ComparedRun,
  ComparisonRules,
  ComparisonEvidence
} from '../../../src/analysis/baseline/judge/sides.js'
import { judgeBaselineLines } from '../../../src/analysis/baseline/judge-lines.js'
import type { BaselineThreshold } from '../../../src/analysis/thresholds/grammar/threshold.js'
import { makeComparedRun, makeLine, makePlainLine, selectLabel } from './make-run.js'
import type { Random } from './random.js'

const RULES: ComparisonRules = { noise: 0.05, onMissing: 'warn', onUnsure: 'warn' }
const TYPICAL_MS = 400

/** Something that happens on a branch and in a pull request, drawn again for each pair. */
export interface Scenario {
  readonly name: string
  readonly line: BaselineThreshold
  /** `change` is how much worse the head really is: 0.15 for 15 %. */
  readonly draw: (random: Random, change: number) => ComparisonEvidence
}

/** The share of pairs in which the line breaks. */
export function shareBroken(
  { line, draw }: Scenario,
  { random, change, pairs }: { random: Random; change: number; pairs: number }
): number {
  let broken = 0
  for (let pair = 0; pair < pairs; pair++) {
    const [judgement] = judgeBaselineLines([line], draw(random, change), RULES)
    if (judgement?.comparison?.outcome === 'broken') broken++
  }
  return broken / pairs
}

/** The same for the plain rule: more than 10 % above the last run. */
export function shareOverLastRun(
  { draw }: Scenario,
  { random, change, pairs }: { random: Random; change: number; pairs: number }
): number {
  let alarms = 0
  for (let pair = 0; pair < pairs; pair++) {
    const evidence = draw(random, change)
    if (evidence.kind !== 'recorded') throw new Error('The plain rule compares with recorded runs')
    const [last, head] = [evidence.base.at(-1), evidence.head[0]].map(p95Of)
    if (head! > last! * 1.1) alarms++
  }
  return alarms / pairs
}

export function p95Of(run: ComparedRun | undefined): number {
  return run?.figures({})?.percentileMs(95) ?? NaN
}

const runWith = (y: number) => makeComparedRun({ overall: { percentileMs: TYPICAL_MS * Math.exp(y) } })

/** N recorded runs with a normal spread of ln p95, and a head; `shift` adds what else happened to run `index` (the head is N). */
export function recordedRuns(
  name: string,
  {
    runs,
    spread,
    shift = () => 0
  }: {
    runs: number
    spread: number
    shift?: (index: number, random: Random) => number
  }
): Scenario {
  return {
    name,
    line: makeLine(),
    draw(random, change) {
      const ys = Array.from(
        { length: runs + 1 },
        (_, index) => spread * random.normal() + shift(index, random)
      )
      const head = ys.pop()! + Math.log(1 + change)
      return { kind: 'recorded', base: ys.map(runWith), head: [runWith(head)] }
    }
  }
}

/** The run before the head, and the head, are slower than all before. */
export function steppedBranch(runs: number): (index: number) => number {
  return (index) => (index >= runs - 1 ? Math.log(1.15) : 0)
}

export function oneRunIn15IsOff(_: number, random: Random): number {
  return random.uniform() < 1 / 15 ? Math.log(1.15) : 0
}

/** Rounds of segments, with a limit of 5 %. */
export function sideBySide(rounds: number, spread: number): Scenario {
  return {
    name: `side by side, ${rounds} rounds, segments ${spread * 100} %, limit 5 %`,
    line: makeLine({ text: 'p95 <= baseline + 5%', allowance: { ratio: 0.05 } }),
    draw: (random, change) => ({
      kind: 'side-by-side',
      pairs: Array.from({ length: rounds }, () => ({
        base: runWith(spread * random.normal()),
        head: runWith(spread * random.normal() + Math.log(1 + change))
      }))
    })
  }
}

/** Failures of 5,000 requests: 0.1 %, and `change` more in the head. */
export function errorRates(runs: number): Scenario {
  const samples = 5000
  const usual = 0.001
  const run = (random: Random, rate: number) =>
    makeComparedRun({ overall: { samples, failures: random.binomial(samples, rate) } })
  return {
    name: 'error_rate 0.1 % → 2 %, N = 10, n = 5,000, limit 0.5pp',
    line: makePlainLine('error_rate', 'baseline + 0.5pp', { amount: 0.005 }),
    draw: (random, change) => ({
      kind: 'recorded',
      base: Array.from({ length: runs }, () => run(random, usual)),
      head: [run(random, usual + change)]
    })
  }
}

/** Labels with few requests each, of which 1 in 1,000 fails on both sides; one line matches them all. */
export function rareFailures(labels: number, { runs, samples }: { runs: number; samples: number }): Scenario {
  const names = Array.from({ length: labels }, (_, i) => `label ${i}`)
  const run = (random: Random, rate: number) =>
    makeComparedRun({
      labels: Object.fromEntries(
        names.map((name) => [name, { samples, failures: random.binomial(samples, rate) }])
      )
    })
  return {
    name: `error_rate 0.1 %, ${labels} labels, N = ${runs}, n = ${samples}, limit 0.5pp`,
    line: {
      ...makePlainLine('error_rate', 'baseline + 0.5pp', { amount: 0.005 }),
      selector: selectLabel('*')
    },
    draw: (random, change) => ({
      kind: 'recorded',
      base: Array.from({ length: runs }, () => run(random, 0.001)),
      head: [run(random, 0.001 + change)]
    })
  }
}

/** Every label varies by itself, and one line matches them all. */
export function manyLabels(labels: number, { runs, spread }: { runs: number; spread: number }): Scenario {
  const names = Array.from({ length: labels }, (_, i) => `label ${i}`)
  const run = (random: Random, y: number) =>
    makeComparedRun({
      labels: Object.fromEntries(
        names.map((name) => [name, { percentileMs: TYPICAL_MS * Math.exp(spread * random.normal() + y) }])
      )
    })
  return {
    name: `${labels} labels, N = ${runs}, ${spread * 100} %`,
    line: makeLine({ text: 'p95{label="*"} <= baseline + 10%', selector: selectLabel('*') }),
    draw: (random, change) => ({
      kind: 'recorded',
      base: Array.from({ length: runs }, () => run(random, 0)),
      head: [run(random, Math.log(1 + change))]
    })
  }
}
