// The cost of the embedded service: the example plan's samples per second through `loadgate run` compared with the same plan in
// JMeter alone, in turns; and the service's memory while it serves a big CSV. Both use loadgate's copy of JMeter.
// Memory is read from /proc, so that half needs Linux.
import { spawn } from 'node:child_process'
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, readdir, rm, truncate } from 'node:fs/promises'
import { request } from 'node:http'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { reportFigure } from './figure.mjs'
import { compare } from './in-turns.mjs'
import { startNode } from './step.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CLI = path.join(ROOT, 'dist/cli/index.js')
const DURATION_S = Number(process.env.LOADGATE_BENCH_DURATION ?? 10)
const CSV_MB = Number(process.env.LOADGATE_BENCH_CSV_MB ?? 2048)
const MB = 1024 * 1024
const PROPERTIES = ['-Jthreads=5', '-Jrampup=0', `-Jduration=${DURATION_S}`]

const folder = await mkdtemp(path.join(tmpdir(), 'loadgate-bench-'))
try {
  await cp(path.join(ROOT, 'examples/shop'), folder, { recursive: true })
  console.log('## Embedded service\n')
  await compare({
    what: 'examples/shop',
    alone: 'JMeter alone',
    subjects: { alone: runAlone, embedded: runEmbedded },
    durationS: DURATION_S
  })
  await measureMemory()
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function runEmbedded(port, name) {
  const output = path.join(folder, name)
  const args = [CLI, 'run', '--files', 'plan.jmx', '--files', 'users.csv', '--output', output]
  const settings = ['--threads', '5', '--rampup', '0', '--duration', `${DURATION_S}s`]
  const { ended } = startNode([...args, ...settings, '--override-parameters', parametersOf(port)], {
    cwd: folder,
    env: process.env
  })
  const { code, text } = await ended
  if (code !== 0) throw new Error(`loadgate run exited with ${code}:\n${text}`)
  const results = path.join(output, 'results')
  return rateOf(path.join(results, (await readdir(results))[0]))
}

async function runAlone(port, name) {
  const csv = path.join(folder, `${name}.csv`)
  const home = findJMeter()
  const heap = ['-Xms1g', '-Xmx1g', '-XX:MaxMetaspaceSize=256m', '-XX:+UseG1GC']
  const args = [...heap, '-jar', path.join(home, 'bin/ApacheJMeter.jar'), '-n', '-t', 'plan.jmx', '-l', csv]
  const child = spawn('java', [...args, ...PROPERTIES, ...parametersOf(port).split(' ')], {
    cwd: folder,
    stdio: 'ignore'
  })
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw new Error(`JMeter alone exited with ${code}`)
  return rateOf(csv)
}

/** No think time: this measures how fast samples can go. */
function parametersOf(port) {
  return `-Jport=${port} -Jthink=0`
}

function findJMeter() {
  const cache = process.env.RUNNER_TOOL_CACHE ?? process.env.XDG_CACHE_HOME ?? defaultCache()
  const copies = path.join(cache, 'loadgate-jmeter')
  const copy = process.env.JMETER_HOME ?? path.join(copies, completeCopy(copies))
  return copy
}

function defaultCache() {
  return path.join(homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache')
}

function completeCopy(copies) {
  const name = readdirSync(copies).find((each) => existsSync(path.join(copies, each, 'complete')))
  if (name === undefined) throw new Error(`there is no JMeter in ${copies}`)
  return name
}

/** Samples over the time from the first start to the last end. */
async function rateOf(csv) {
  let count = 0
  let first = Infinity
  let last = 0
  for await (const line of createInterface({ input: createReadStream(csv) })) {
    const [start, elapsed] = line.split(',', 2).map(Number)
    if (Number.isNaN(start)) continue
    count++
    first = Math.min(first, start)
    last = Math.max(last, start + elapsed)
  }
  return count / ((last - first) / 1000)
}

async function measureMemory() {
  if (process.platform !== 'linux') {
    console.log('Memory was not measured: it is read from /proc, which only Linux has.\n')
    return
  }
  const dataDir = path.join(folder, 'data')
  const token = 'bench-token'
  const env = { ...process.env, LOADGATE_TOKEN: token }
  const { url, child } = await serve(dataDir, env)
  try {
    const csv = await makeBigResult(dataDir, url, env)
    const beforeMb = memoryOf(child.pid)
    const { bytes, seconds, samples } = await download(csv, token, child.pid)
    printMemory({ beforeMb, bytes, seconds, samples })
  } finally {
    child.kill()
  }
}

async function serve(dataDir, env) {
  const args = [CLI, 'serve', '--rehearse', '--json', '--data', dataDir]
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: child.stdout }))
    return { child, url: JSON.parse(line).url }
  throw new Error('the service did not start')
}

/** A finished run whose CSV is then enlarged: sparse, because its content does not matter for serving it. */
async function makeBigResult(dataDir, url, env) {
  const grids =
    '[{ region: r, instance_quantity: 1, instance_type: t, infrastructure: demand, stop_after: 9 }]'
  const args = [
    'run',
    '--base-url',
    url,
    '--files',
    'plan.jmx',
    '--grids',
    grids,
    '--json',
    '--output',
    'first'
  ]
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore']
  })
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  const { 'run-id': runId, grids: made } = JSON.parse(text)
  const gridId = made[0].gridId
  await truncate(path.join(dataDir, 'runs', runId, 'results', `${gridId}.csv`), CSV_MB * MB)
  return `${url}/api/runs/${runId}/result.csv?grid_id=${gridId}`
}

function download(url, token, pid) {
  const headers = { authorization: `Basic ${Buffer.from(`${token}:`).toString('base64')}` }
  const start = performance.now()
  return new Promise((resolve, reject) => {
    request(url, { headers }, (reply) => {
      let bytes = 0
      let nextMark = 0
      const samples = []
      reply.on('data', (chunk) => {
        bytes += chunk.length
        if (bytes < nextMark) return
        nextMark += (CSV_MB * MB) / 20
        samples.push(memoryOf(pid))
      })
      reply.on('end', () => resolve({ bytes, samples, seconds: (performance.now() - start) / 1000 }))
    })
      .on('error', reject)
      .end()
  })
}

function printMemory({ beforeMb, bytes, seconds, samples }) {
  const firstHalf = Math.max(...samples.slice(0, samples.length / 2))
  const secondHalf = Math.max(...samples.slice(samples.length / 2))
  const row = [beforeMb, firstHalf, secondHalf].map((mb) => `${mb.toFixed(0)} MB`)
  const speed = (bytes / MB / seconds).toFixed(0)
  console.log(
    `The service's memory while it serves a CSV of ${(bytes / MB).toFixed(0)} MB, at ${speed} MB/s.\n`
  )
  console.log('| before | highest in the first half | highest in the second half |\n|---:|---:|---:|')
  console.log(`| ${row.join(' | ')} |`)
  if (bytes !== CSV_MB * MB) throw new Error(`${bytes} bytes arrived`)
  const served = `memory while a CSV of ${CSV_MB} MB is served`
  const value = secondHalf / firstHalf
  reportFigure({ name: `${served}; second half to first`, value, unit: 'ratio', atMost: 1.1 })
  reportFigure({ name: `${served}; more than before`, value: secondHalf - beforeMb, unit: 'MB', atMost: 100 })
  console.log()
}

function memoryOf(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
}
