// A service for many repositories: 200 gates, each with a user and a run of its own, 20 at work and 180 waiting in the queue, all
// polling. Latency of a poll and of /healthz, beside a bare HTTP server that answers with the same bytes in the same run; memory
// and processor time of the service, which are read from /proc: Linux only. `--samples FILE` writes each request in JMeter's columns, for
// `loadgate run --results FILE`.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { reportFigure } from './figure.mjs'
import { TeamAccounts } from '../src/service/accounts/accounts.ts'
import { systemClock } from '../src/contract/clock.ts'
import { openDatabase } from '../src/service/store/database.ts'

const GATES = readFlag('--gates', 200)
const AT_WORK = readFlag('--at-work', 20)
const SECONDS = readFlag('--seconds', 60)
/** Gates poll at intervals that grow from one second to fifteen: this is what a waiting one has. */
const POLL_MS = readFlag('--poll-ms', 5000)
const samplesAt = process.argv.indexOf('--samples')
const SAMPLES = samplesAt < 0 ? undefined : process.argv[samplesAt + 1]
const GOAL_MS = { poll: 100, healthz: 50 }
const TICKS_PER_SECOND = 100

const folder = mkdtempSync(join(tmpdir(), 'loadgate-bench-'))
const agent = new Agent({ keepAlive: true, maxSockets: GATES })
let service
let peer
try {
  const data = join(folder, 'data')
  writeFileSync(
    join(folder, 'service.yml'),
    `listen: 127.0.0.1:0\ndata: ${data}\nmax-nodes: ${AT_WORK}\ndrain: 0\n`
  )
  service = await startService()
  const tokens = addUsers(data)
  const idle = figuresOf(service.child.pid)
  const created = await createRuns(service.url, tokens)
  const sample = await call(`${service.url}/runs/${created[0].id}`, tokens[0])
  peer = await startPeer(sample.body)
  await reaches(service.url, tokens[0], created)
  const before = figuresOf(service.child.pid)
  const lag = await pollAll(created, tokens)
  const after = figuresOf(service.child.pid)
  print({
    idle,
    before,
    after,
    lag,
    pollBytes: sample.body.length,
    disk: statSync(join(data, 'loadgate.sqlite'), { throwIfNoEntry: false })?.size
  })
} finally {
  agent.destroy()
  peer?.close()
  if (service) await stop(service.child)
  rmSync(folder, { recursive: true, force: true })
}

async function startService() {
  const cli = join(import.meta.dirname, '../dist/cli/index.js')
  const args = [cli, 'serve', '--config', join(folder, 'service.yml'), '--rehearse', '--json']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  let problems = ''
  child.stderr.on('data', (chunk) => (problems = (problems + chunk).slice(-4000)))
  for await (const chunk of child.stdout) {
    said += chunk
    if (said.includes('\n')) break
  }
  const line = said.split('\n')[0] ?? ''
  if (line === '') throw new Error(`the service did not start: ${problems}`)
  return { child, url: JSON.parse(line).url }
}

/** Ends it at once: its runs would go on for an hour. */
async function stop(child) {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  child.kill('SIGTERM')
  await Promise.race([ended, sleep(20_000).then(() => child.kill('SIGKILL'))])
}

function addUsers(data) {
  const database = openDatabase(data)
  const accounts = new TeamAccounts(database, systemClock)
  const tokens = Array.from(
    { length: GATES },
    (_, index) => accounts.add(`repository-${index}`, 'member').token
  )
  database.close()
  return tokens
}

/** As a gate does, one after the other: a plan, a duration, thresholds are the gate's own. */
async function createRuns(url, tokens) {
  const runs = []
  const plan = readFileSync(join(import.meta.dirname, '../examples/shop/plan.jmx'))
  for (const [index, token] of tokens.entries()) {
    const form = new globalThis.FormData()
    form.set('run[tool]', 'jmeter-5.6.3')
    form.set('run[name]', `gate ${index}`)
    form.set('run[project]', `acme/repository-${index}`)
    form.set('run[duration]', '3600')
    form.set('run[override_parameters]', '-Jrehearsal.realtime=true')
    form.set('run[grids][][instance_quantity]', '1')
    form.set('run_files[]', new globalThis.Blob([plan]), 'plan.jmx')
    const started = performance.now()
    const reply = await globalThis.fetch(`${url}/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: form
    })
    const text = await reply.text()
    if (reply.status !== 201) throw new Error(`a run was not created: ${reply.status} ${text.slice(0, 500)}`)
    runs.push({ id: JSON.parse(text).uuid, ms: performance.now() - started })
  }
  return runs
}

/** Until as many as may are at work. */
async function reaches(url, token, runs) {
  const deadline = performance.now() + 60_000
  while (performance.now() < deadline) {
    const { body } = await call(`${url}/runs/${runs[AT_WORK - 1].id}`, token)
    if (JSON.parse(body).status === 'running') return
    await sleep(200)
  }
  throw new Error(`not ${AT_WORK} runs are at work`)
}

async function pollAll(runs, tokens) {
  const lag = { poll: [], healthz: [], peer: [], created: runs.map(({ ms }) => ms), failed: 0 }
  const endMs = performance.now() + SECONDS * 1000
  const every = async (firstMs, eachMs, act) => {
    for (let dueMs = performance.now() + firstMs; dueMs < endMs; dueMs += eachMs) {
      await sleep(Math.max(0, dueMs - performance.now()))
      await act()
    }
  }
  const rows = ['timeStamp,elapsed,label,responseCode,success']
  const measure = async (kind, url, token) => {
    const [started, startedMs] = [performance.now(), Date.now()]
    const { status } = await call(url, token).catch(() => ({ status: 'no reply' }))
    const ms = performance.now() - started
    rows.push([startedMs, Math.round(ms), kind, status, status === 200].join(','))
    if (status === 200) lag[kind].push(ms)
    else lag.failed++
  }
  const peerUrl = `http://127.0.0.1:${peer.port}/`
  await Promise.all([
    ...runs.map(({ id }, index) =>
      every((index / GATES) * POLL_MS, POLL_MS, () =>
        measure('poll', `${service.url}/runs/${id}`, tokens[index])
      )
    ),
    every(0, 100, () => measure('healthz', `${service.url}/healthz`)),
    every(50, 1000 / (GATES / (POLL_MS / 1000)), () => measure('peer', peerUrl))
  ])
  if (SAMPLES !== undefined) writeFileSync(SAMPLES, `${rows.join('\n')}\n`)
  return lag
}

function call(url, token) {
  return new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const sent = request(url, { agent, headers }, (reply) => {
      const chunks = []
      reply.on('data', (chunk) => chunks.push(chunk))
      reply.on('error', reject)
      reply.on('end', () => resolve({ status: reply.statusCode, body: Buffer.concat(chunks).toString() }))
    })
    sent.on('error', reject)
    sent.end()
  })
}

/** In a process of its own, as the service is. */
async function startPeer(body) {
  const code = `require('node:http').createServer((_, reply) => reply.setHeader('content-type', 'application/json').end(process.env.BODY))
    .listen(0, '127.0.0.1', function () { console.log(this.address().port) })`
  const child = spawn(process.execPath, ['-e', code], {
    env: { ...process.env, BODY: body },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const port = await new Promise((resolve) =>
    child.stdout.once('data', (text) => resolve(Number(String(text))))
  )
  return { port, close: () => child.kill('SIGKILL') }
}

function figuresOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (key) => Number(new RegExp(`^${key}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return {
    ...{ rss: megabytes('VmRSS'), peak: megabytes('VmHWM') },
    cpuSeconds: (Number(stat[11]) + Number(stat[12])) / TICKS_PER_SECOND,
    atMs: performance.now()
  }
}

function print({ idle, before, after, lag, pollBytes, disk }) {
  const cores = (after.cpuSeconds - before.cpuSeconds) / ((after.atMs - before.atMs) / 1000)
  console.log(`## A service for ${GATES} repositories\n`)
  console.log(
    `${GATES} gates, ${AT_WORK} runs at work and ${GATES - AT_WORK} waiting, each polled every ${POLL_MS / 1000} s for ${SECONDS} s; a poll has ${pollBytes} bytes.\n`
  )
  console.log("| | p50 | p95 | p99 | longest | times the peer's p50 |\n|---|---:|---:|---:|---:|---:|")
  const bare = percentile(lag.peer, 50)
  for (const [name, times] of [
    ['poll of a run', lag.poll],
    ['`/healthz`', lag.healthz],
    ['bare HTTP server, the same bytes', lag.peer],
    ['creation of a run', lag.created]
  ]) {
    const row = [50, 95, 99, 100].map((each) => `${percentile(times, each).toFixed(1)} ms`)
    console.log(`| ${[name, ...row, (percentile(times, 50) / bare).toFixed(2)].join(' | ')} |`)
  }
  console.log(
    `\nMemory ${after.rss.toFixed(0)} MB (${idle.rss.toFixed(0)} MB without runs, peak ${after.peak.toFixed(0)} MB), ${cores.toFixed(2)} cores, ${lag.failed} failed requests${disk === undefined ? '' : `, database ${(disk / 1024 ** 2).toFixed(1)} MB`}.`
  )
  for (const [kind, limit] of Object.entries(GOAL_MS)) {
    const value = percentile(lag[kind], 95)
    reportFigure({ name: `p95 of ${kind} with ${GATES} gates`, value, unit: 'ms', atMost: limit })
  }
  if (lag.failed > 0) process.exitCode = 1
}

function percentile(values, per) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil((per / 100) * sorted.length) - 1)] ?? NaN
}

function readFlag(name, byDefault) {
  const at = process.argv.indexOf(name)
  return at < 0 ? byDefault : Number(process.argv[at + 1])
}
