// Do real runs without a stall look like runs with one? The demo's shop, real JMeter, 1 to 50 users, 8 s each: the figures over time must
// not be above those by samples. `--runs 5` does fewer. A busy machine stands still by itself: such runs are listed with their stalls.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { reportFigure } from './figure.mjs'
import { startShop } from '../src/service/demo-shop.ts'
import { startNode } from './step.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CLI = path.join(ROOT, 'dist/cli/index.js')
const USERS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 20, 24, 28, 32, 36, 40, 44, 47, 50]
const FIGURES = ['median', 'p90', 'p95', 'p99']

const { values } = parseArgs({ options: { runs: { type: 'string', default: String(USERS.length) } } })
const runs = Number(values.runs)
if (!Number.isInteger(runs) || runs < 1) throw new Error(`--runs takes a whole number, found ${values.runs}`)

const folder = await mkdtemp(path.join(tmpdir(), 'loadgate-bench-'))
let alarms = 0
try {
  console.log('## Real runs without a stall\n')
  console.log('| users | samples | p99 by samples | p99 over time | stalls | longest | alarm |')
  console.log('|---:|---:|---:|---:|---:|---:|---|')
  for (let index = 0; index < runs; index++) await tryOnce(USERS[index % USERS.length], index)
} finally {
  await rm(folder, { recursive: true, force: true })
}
reportFigure({ name: `alarms in ${runs} runs`, value: alarms, unit: 'runs', atMost: 0 })

async function tryOnce(users, index) {
  const shop = await startShop({ slow: false, slowerBy: 0 })
  const output = path.join(folder, String(index))
  try {
    const { ended } = startNode(
      [
        ...[CLI, 'run', '--config', 'examples/shop/loadgate.yml', '--output', output],
        ...['--threads', String(users), '--rampup', '2s', '--duration', '8s'],
        ...['--override-parameters', `-Jport=${shop.port}`, '--thresholds', 'warn: p99 < 1ms']
      ],
      { cwd: ROOT, env: process.env }
    )
    const { code, text } = await ended
    const document = await readFile(path.join(output, 'verdict.json'), 'utf8').catch(() => undefined)
    if (document === undefined) throw new Error(`the run ended with ${code}:\n${text}`)
    print(users, JSON.parse(document))
  } finally {
    await shop.close()
  }
}

function print(users, { metrics: { overall }, stalls }) {
  const { over_time: overTime, ...bySamples } = overall
  const isAlarm = FIGURES.some((name) => overTime[name] > bySamples[name])
  if (isAlarm) alarms++
  const longestMs = Math.max(0, ...stalls.longest.map(({ ms }) => ms))
  const cells = [users, bySamples.samples, `${bySamples.p99} ms`, `${overTime.p99} ms`, stalls.count]
  console.log(`| ${[...cells, `${longestMs} ms`, isAlarm ? 'alarm' : ''].join(' | ')} |`)
}
