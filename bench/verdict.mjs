// From the service's `finished` to the end of the step, with a CSV of 413 MB, beside a bare download of the same file from the same server
// to the same disk, in turns. The service is a process of its own on this machine, so the link is as fast as it can be; it shares the
// cores with the step.
//   npm run bench -- verdict [--rows 3500000] [--labels 40] [--profile FOLDER]
//   --profile writes a CPU profile of the step of each round
import { fork } from 'node:child_process'
import { mkdir, readFile, stat } from 'node:fs/promises'
import { loadavg } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { reportFigure } from './figure.mjs'
import { prepareFile } from './generate.mjs'
import { MAIN, makeWorkspace, startNode, stepEnvironment } from './step.mjs'

const ROUNDS = Number(process.env.LOADGATE_BENCH_ROUNDS ?? 5)
const GOAL_MS = 1000
const THRESHOLDS = [
  ...['p95 < 5s', 'p99 < 20s', 'mean < 2s', 'error_rate < 5%', 'throughput > 10/s'],
  ...['p95{label="GET /api/p/1"} < 5s', 'apdex >= 0.85']
].join('\n')
const DOWNLOAD = `
  const { createWriteStream } = require('node:fs')
  require('node:http').get(process.argv[1], (reply) => reply.pipe(createWriteStream(process.argv[2])))`

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '3500000' },
    labels: { type: 'string', default: '40' },
    profile: { type: 'string' }
  }
})

const [rows, labels] = [Number(options.rows), Number(options.labels)]
const csv = prepareFile(`samples-${rows}-${labels}.jtl`, { rows, labels })
const { size } = await stat(csv)
const service = await startService()
try {
  const rounds = []
  for (let round = 0; round < ROUNDS; round++) {
    const subjects = [measureDownload, measureStep]
    const times = {}
    for (const measure of round % 2 === 0 ? subjects : subjects.toReversed())
      Object.assign(times, await measure())
    rounds.push({ ...times, beyondMs: times.stepMs - times.downloadMs })
  }
  print(rounds)
} finally {
  service.child.kill()
}

/** The process alone takes some of it, too: it is what any step needs after the end of a run. */
async function measureDownload() {
  const { folder, remove } = await makeWorkspace()
  try {
    const target = path.join(folder, 'samples.csv')
    const url = `${service.url}/api/runs/run00000001/result.csv?grid_id=grid0000001`
    const { ended } = startNode(['-e', DOWNLOAD, url, target])
    const seen = service.listen()
    const { code, text } = await ended
    const endMs = Date.now()
    if (code !== 0 || (await stat(target)).size !== size) throw new Error(`The download failed:\n${text}`)
    return { downloadMs: endMs - seen.requested }
  } finally {
    await remove()
  }
}

async function measureStep() {
  const workspace = await makeWorkspace()
  try {
    const inputs = { 'base-url': service.url, files: 'plan.jmx', thresholds: THRESHOLDS }
    const env = stepEnvironment(workspace, { ...inputs, 'poll-interval': '1s' })
    const seen = service.listen()
    const { ended } = startNode([...(await profilerFlags()), MAIN], { cwd: workspace.workspace, env })
    const { code, text } = await ended
    const endMs = Date.now()
    const results = readOutput(await readFile(env.GITHUB_OUTPUT, 'utf8'), 'results-dir')
    if (code !== 0 || results === undefined) throw new Error(`The step exited with ${code}:\n${text}`)
    const [verdictMs, reportMs] = await Promise.all(
      ['verdict.json', 'report.html'].map(async (name) => {
        return (await stat(path.join(path.dirname(results), name))).mtimeMs
      })
    )
    return {
      stepMs: endMs - seen.finished,
      stages: [
        ['the CSV is requested', seen.requested - seen.finished],
        ['it is sent', seen.sent - seen.requested],
        ['it is read completely, and compared with its size', seen.compared - seen.sent],
        ['`verdict.json`: counted, judged, read once more for the report', verdictMs - seen.compared],
        ['`report.html`', reportMs - verdictMs],
        ['outputs, summary, exit', endMs - reportMs]
      ]
    }
  } finally {
    await workspace.remove()
  }
}

async function profilerFlags() {
  if (options.profile === undefined) return []
  await mkdir(options.profile, { recursive: true })
  return ['--cpu-prof', '--cpu-prof-dir', path.resolve(options.profile)]
}

/** One line, or several after a delimiter. */
function readOutput(text, name) {
  const [, inline, , value] = new RegExp(`^${name}(?:=(.*)|<<(.*)\\n(.*))$`, 'm').exec(text) ?? []
  return inline ?? value
}

async function startService() {
  const child = fork(path.join(import.meta.dirname, 'verdict-service.mjs'), [csv, String(rows)])
  const { url } = await new Promise((resolve, reject) =>
    child.once('message', resolve).once('exit', () => reject(new Error('the service did not start')))
  )
  const listen = () => {
    const seen = {}
    child.removeAllListeners('message')
    child.on('message', ({ what, atMs }) => (seen[what] = atMs))
    return seen
  }
  return { child, url, listen }
}

function print(rounds) {
  const megabytes = (size / 1e6).toFixed(0)
  console.log(`## From \`finished\` to the verdict\n`)
  console.log(
    `A CSV of ${megabytes} MB with ${labels} labels; median of ${ROUNDS} rounds, load average ${loadavg()[0].toFixed(1)}, Node ${process.version}.\n`
  )
  console.log('| | median | lowest | highest |\n|---|---:|---:|---:|')
  const row = (name, times) => {
    const cells = [median(times), Math.min(...times), Math.max(...times)]
    console.log(`| ${[name, ...cells.map((ms) => `${ms.toFixed(0)} ms`)].join(' | ')} |`)
  }
  const column = (key) => rounds.map((times) => times[key])
  row('bare download to a file, from the request to its end', column('downloadMs'))
  row('step, from `finished` to its end', column('stepMs'))
  row('the step beyond the download, per round', column('beyondMs'))
  for (const [index, [name]] of rounds[0].stages.entries())
    row(
      `&nbsp; until ${name}`,
      rounds.map(({ stages }) => stages[index][1])
    )
  const name = `step after the end of the run, beyond the download of ${megabytes} MB`
  reportFigure({ name, value: median(column('beyondMs')), unit: 'ms', atMost: GOAL_MS })
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1)
  return middle.reduce((sum, number) => sum + number, 0) / middle.length
}
