// How often a line that real users would have seen broken is missed, and how often one is broken for nothing, by simulation: see
// "Stalls" in README.md.
import { reportFigure } from './figure.mjs'
import { judgeRuns, PROMISED, tallyCells } from '../__tests__/support/stalls/judge-cells.ts'

const RUNS = Number(process.env.LOADGATE_BENCH_RUNS ?? 2000)
const SEED = 1

const cells = judgeRuns(SEED, RUNS)
const withUsers = (least, most) => (cell) => {
  const { users } = cell.scenario.plan
  return users >= least && users <= most
}
const ROWS = [
  ['all', () => true],
  ['1 user', withUsers(1, 1)],
  ['2 users: a warning', withUsers(2, 2)],
  ['3 to 5 users', withUsers(3, 5)],
  ['6 to 15 users', withUsers(6, 15)],
  ['16 to 50 users', withUsers(16, 50)],
  ['median', ({ percent }) => percent === 50],
  ['p90', ({ percent }) => percent === 90],
  ['p95', ({ percent }) => percent === 95],
  ['p99', ({ percent }) => percent === 99],
  ['with stalls', ({ scenario }) => scenario.server.stalls.length > 0],
  ['without a stall', ({ scenario }) => scenario.server.stalls.length === 0],
  ['ramp-down', ({ scenario }) => scenario.plan.rampDownMs > 0],
  ['heavy tails', ({ scenario }) => scenario.server.spread > 1],
  ['independent slow requests', ({ scenario }) => scenario.server.slowShare > 0],
  ['slow labels', ({ scenario }) => scenario.plan.kinds.some(({ label }) => label === 'report')],
  ['long polls', ({ scenario }) => scenario.plan.pollingUsers > 0],
  ['two grids', ({ scenario }) => scenario.plan.grids > 1]
]

const all = tallyCells(cells)
console.log(
  `${all.cells} cells of ${RUNS} runs; ${all.unsure} of them too close to the limit to tell, ${all.leftOut} broken by samples while the truth holds.\n`
)
printRow([
  '',
  'truth broken',
  'missed by samples alone',
  'missed by the worse of both',
  'holds',
  'false alarms'
])
printRow(['---', ...Array(5).fill('--:')])
for (const [name, isIn] of ROWS) {
  const tally = tallyCells(cells.filter(isIn))
  const { broken, missedBySamples, missed, holding, falseAlarms } = tally
  printRow([
    name,
    broken,
    share(missedBySamples, broken),
    share(missed, broken),
    holding,
    share(falseAlarms, holding)
  ])
}
console.log(
  `\nIn runs without a stall, the figure over time is not below that by samples in ${all.aboveSamples} of ${all.unstalled} cells, ${all.aboveSamplesAlone} of them without independent slow requests.`
)
for (const [name, part, whole, most] of [
  ['false alarms', all.falseAlarms, all.holding, PROMISED.falseAlarms],
  ['missed', all.missed, all.broken, PROMISED.missed],
  ['runs without a stall above samples', all.aboveSamplesAlone, all.unstalled, PROMISED.aboveSamples]
])
  reportFigure({ name, value: (100 * part) / whole, unit: '%', atMost: 100 * most })

function share(part, whole) {
  return whole === 0 ? '–' : `${part} (${((100 * part) / whole).toFixed(1)} %)`
}

function printRow(texts) {
  console.log(`| ${texts.join(' | ')} |`)
}
