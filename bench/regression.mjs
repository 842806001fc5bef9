// How often a change is found and how often there is a false alarm, by simulation: see "Comparing with a baseline" in README.md.
import { reportFigure } from './figure.mjs'
import { PUBLISHED_TABLE, POWER_TOLERANCE } from '../__tests__/support/baseline/published-table.ts'
import { Random } from '../__tests__/support/baseline/random.ts'
import { recordedRuns, shareBroken, shareOverLastRun } from '../__tests__/support/baseline/simulate.ts'

const PAIRS = Number(process.env.LOADGATE_BENCH_PAIRS ?? 2000)
const RATIO_NOISES = [
  [0.04, 0.045],
  [0.08, 0.2]
]

const misses = []
console.log(`${PAIRS} pairs per cell; in brackets what is promised.\n`)
printRow(['', 'false alarms', '+15 %', '+20 %', '+30 %', 'plain ratio: false alarms', '+15 %'])
printRow(['---', ...Array(6).fill('--:')])
for (const [i, { scenario, mostFalseAlarms, powers }] of PUBLISHED_TABLE.entries()) {
  const measure = (change, share = shareBroken) =>
    share(scenario, { random: new Random(1000 * (i + 1) + 1000 * change), change, pairs: PAIRS })
  const alarms = measure(0)
  if (alarms > mostFalseAlarms) misses.push(`${scenario.name}: ${alarms} false alarms`)
  const found = powers.map(({ change, power, isAtLeast }) => {
    const share = measure(change)
    const isGood = isAtLeast ? share >= power : Math.abs(share - power) <= POWER_TOLERANCE
    if (!isGood) misses.push(`${scenario.name}: +${change * 100} % found in ${share}`)
    return `${share.toFixed(3)} (${isAtLeast ? '≥ ' : ''}${power})`
  })
  const isPlain = scenario.line.percentile === 95 && scenario.draw(new Random(1), 0).kind === 'recorded'
  const ratio =
    isPlain && Object.keys(scenario.line.selector).length === 0
      ? [percent(measure(0, shareOverLastRun)), measure(0.15, shareOverLastRun).toFixed(3)]
      : ['', '']
  printRow([
    scenario.name,
    `${percent(alarms)} (≤ ${percent(mostFalseAlarms)})`,
    ...Array.from({ length: 3 }, (_, column) => found[column] ?? ''),
    ...ratio
  ])
}
console.log('\nThe plain ratio to the last run, limit 10 %, without a change:')
for (const [spread, expected] of RATIO_NOISES) {
  const scenario = recordedRuns('', { runs: 1, spread })
  const options = { random: new Random(77), change: 0, pairs: PAIRS }
  const ratio = shareOverLastRun(scenario, options)
  const ours = shareBroken(recordedRuns('', { runs: 10, spread }), { ...options, random: new Random(78) })
  console.log(
    `- noise ${spread * 100} %: ${percent(ratio)} false alarms (known: ${percent(expected)}); this method with 10 runs: ${percent(ours)}`
  )
}
if (misses.length > 0) console.log(`\nMissed:\n${misses.map((miss) => `- ${miss}`).join('\n')}`)
reportFigure({ name: 'promises that are missed', value: misses.length, unit: 'cells', atMost: 0 })

function percent(share) {
  return `${(share * 100).toFixed(2)} %`
}

function printRow(cells) {
  console.log(`| ${cells.join(' | ')} |`)
}
