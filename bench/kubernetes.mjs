// How many pods one service can follow: twenty pods of a real cluster, the one of KUBECONFIG, with a small generator; then a stand-in
// API server with hundreds of pods, until the service cannot keep up. Flags: --pods 500 --rate 2000 (rows/s of each) --seconds 10.
import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { reportFigure } from './figure.mjs'
import { runOnCluster } from './kubernetes/real-cluster.mjs'
import { runOnStandIn } from './kubernetes/run-on-stand-in.mjs'

const MB = 1e6
const REAL = { pods: 20, rate: 200, seconds: 10 }
/** Later than that, and figures are not live any more. */
const KEEPS_UP_MS = 1000
const STEPS = [0.5, 1, 1.5, 2]
const GOAL_MB = 400

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '500' },
    rate: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '10' }
  }
})
const [pods, rate, seconds] = [values.pods, values.rate, values.seconds].map(Number)

console.log(`## Pods\n\n${availableParallelism()} cores, load average ${loadavg()[0].toFixed(1)}\n`)
if (process.env.KUBECONFIG === undefined)
  console.log('No real cluster: KUBECONFIG is not set, so that part is left out.\n')
else await measureCluster()
await measureStandIn()

async function measureCluster() {
  const run = await runOnCluster(REAL)
  check(run.arrived === run.written, `${run.arrived} of ${run.written} rows arrived`)
  check(run.failed === 0, `${run.failed} pods failed`)
  printTable(
    `${REAL.pods} pods of a real cluster × ${REAL.rate} rows/s`,
    ['', ''],
    [
      ['rows written, rows arrived', `${run.written}, ${run.arrived}`],
      ['rows per message', (run.arrived / run.messages).toFixed(0)],
      ['until all pods ran, until they were ready', `${sec(run.ready.openMs)}, ${sec(run.ready.readyMs)}`],
      ['starts apart', `${run.spreadMs} ms`],
      ['lag of a row, median and p99', `${ms(run.lag.p50)}, ${ms(run.lag.p99)}`],
      ["the service's CPU and peak memory", `${run.cores.toFixed(3)} cores, ${mb(run.maxRss)}`]
    ]
  )
}

async function measureStandIn() {
  const runs = []
  for (const step of STEPS) {
    const run = await measure({ pods: Math.round(pods * step), rate, seconds })
    runs.push(run)
    if (!run.keepsUp) break
  }
  const peer = await measure({ pods, rate, seconds, subject: 'peer.mjs' })
  printTable(
    `A stand-in with pods × ${rate} rows/s`,
    ['', 'rows/s', 'MB/s', 'CPU', 'CPU per 100 MB', 'lag p50, p99', 'idle, peak memory', 'stand-in'],
    [...runs, { ...peer, name: `${pods} pods, bare ws` }].map((run) => [
      run.name,
      Math.round(run.rows / seconds),
      run.rateMb.toFixed(0),
      `${run.cores.toFixed(2)} cores`,
      `${run.costSec.toFixed(2)} s`,
      `${ms(run.lag.p50)}, ${ms(run.lag.p99)}${run.keepsUp ? '' : ' (grows)'}`,
      `${mb(run.idleRss)}, ${mb(run.maxRss)}`,
      `${run.standInCores.toFixed(2)} cores`
    ])
  )
  const [half, whole] = runs
  console.log(
    `The service's CPU to that of a bare ws client with ${pods} pods: ${(whole.costSec / peer.costSec).toFixed(2)}`
  )
  console.log(
    `A pod without rows: ${((whole.idleCores / pods) * 1e6).toFixed(0)} µs of CPU per second, ` +
      `${((whole.idleRss - half.idleRss) / (whole.pods - half.pods) / 1000).toFixed(0)} KB`
  )
  const last = runs.filter(({ keepsUp }) => keepsUp).at(-1)
  console.log(
    last === runs.at(-1)
      ? `It kept up with everything that was tried: ${last.name}.`
      : `It kept up with ${last?.name ?? 'none'}, and not with ${runs.at(-1).name}.`
  )
  const load = `with ${pods} pods × ${rate} rows/s`
  reportFigure({ name: `peak memory ${load}`, value: whole.maxRss / MB, unit: 'MB', atMost: GOAL_MB })
  reportFigure({ name: `lag at the end ${load}`, value: whole.lag.late, unit: 'ms', atMost: KEEPS_UP_MS })
}

async function measure(options) {
  const run = await runOnStandIn(options)
  check(run.arrived === run.bytes, `${run.arrived} of ${run.bytes} bytes arrived`)
  check(run.failed === 0, `${run.failed} pods failed`)
  const rateMb = run.bytes / MB / options.seconds
  return {
    ...run,
    ...{ name: `${options.pods} pods`, pods: options.pods, rateMb },
    costSec: run.cpuSecPerMb * 100,
    keepsUp: run.lag.late < KEEPS_UP_MS && run.resumed === 0
  }
}

function check(isTrue, otherwise) {
  if (isTrue) return
  console.log(`FAILED: ${otherwise}`)
  process.exitCode = 1
}

function printTable(title, head, rows) {
  const lines = [head, head.map(() => '---'), ...rows]
  console.log(`${title}\n\n${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`)
}

function ms(value) {
  return value < 10_000 ? `${Math.round(value)} ms` : sec(value)
}

function sec(valueMs) {
  return `${(valueMs / 1000).toFixed(1)} s`
}

function mb(bytes) {
  return `${Math.round(bytes / MB)} MB`
}
