// Writes a JMeter sample CSV as large as a real run's, the same bytes for the same seed; with --k6 what k6 writes for so many requests.
//   node bench/generate.mjs [--k6] [--rows 3500000] [--labels 40] [--seed 1] [--out bench/data/samples.jtl]
import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

export const DATA_DIR = join(import.meta.dirname, 'data')
const HEADER =
  'timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n'
const THREADS = 200
export const START_MS = 1_700_000_000_000

/** Mulberry32: small, seeded, and good enough for test data. */
function makeRandom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Every seventh label has a comma and so is quoted; every eleventh contains quotes. */
export function makeLabel(index) {
  if (index % 7 === 3) return `"cart, step ${index}"`
  if (index % 11 === 5) return `"open ""item"" ${index}"`
  return `GET /api/p/${index}`
}

/** Long-tailed times, with a different base per label. */
function makeElapsed(random, label) {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Math.min(30_000, Math.round((20 + (label % 17) * 12) * Math.exp(0.6 * normal)))
}

function makeRow(random, labels, row) {
  const label = Math.floor(random() * labels.length)
  const elapsed = makeElapsed(random, label)
  const thread = 1 + Math.floor(random() * THREADS)
  const startMs = START_MS + Math.floor(row / 5) + Math.floor(random() * 40)
  const latency = Math.max(0, elapsed - 2)
  const end = `${1000 + (row % 900)},120,${THREADS},${THREADS},http://shop.example/p/${label},${latency},0,1\n`
  if (random() >= 0.01) {
    return `${startMs},${elapsed},${labels[label]},200,OK,Thread Group 1-${thread},text,true,,${end}`
  }
  const message =
    random() < 0.5
      ? `"Test failed: text\nexpected to contain /ok, ""done""/"`
      : 'Test failed: code expected to equal 200'
  return `${startMs},${elapsed},${labels[label]},500,Server Error,Thread Group 1-${thread},text,false,${message},${end}`
}

const REQUESTS_A_VISIT = 3

/** Users that each visit the shop again and again: three requests and the row of their transaction controller, in the order of their ends. */
function makeVisits({ random, names, isServers }) {
  const users = Array.from({ length: THREADS }, (_, index) => ({
    ...{ name: `Thread Group 1-${index + 1}`, index, visits: 0 },
    ...{
      nowMs: START_MS + Math.floor(random() * 1000),
      steps: 0,
      startMs: 0,
      failing: 0,
      elapsed: 0,
      latency: 0
    }
  }))
  const words = isServers ? 'Amount' : 'Number'
  const begin = (user) => {
    user.label = Math.floor(random() * names.length)
    user.elapsed = makeElapsed(random, user.label)
    user.nextMs = user.nowMs + user.elapsed
    if (user.steps === 0) Object.assign(user, { startMs: user.nowMs, failing: 0, latency: 0, busyMs: 0 })
  }
  for (const user of users) begin(user)
  return () => {
    const user = users.reduce((first, one) => (one.nextMs < first.nextMs ? one : first))
    const { name, label, elapsed } = user
    if (user.steps < REQUESTS_A_VISIT) {
      const latency = Math.max(0, elapsed - 2)
      const isFailed = random() < 0.01
      const [code, message] = isFailed ? ['500', 'Server Error'] : ['200', 'OK']
      const row = `${user.nowMs},${elapsed},${names[label]},${code},${message},${name},text,${!isFailed},,1000,120,${THREADS},${THREADS},http://shop.example/p/${label},${latency},0,1\n`
      user.nowMs = user.nextMs
      user.latency += latency
      user.busyMs += elapsed
      user.failing += Number(isFailed)
      if (++user.steps < REQUESTS_A_VISIT) begin(user)
      return row
    }
    const passed = user.failing === 0
    const message = `"${words} of samples in transaction : ${REQUESTS_A_VISIT}, number of failing samples : ${user.failing}"`
    const visit = user.visits++ % 8
    const row = `${user.startMs},${user.busyMs},visit ${visit},${passed ? '200' : ''},${message},${name},,${passed},,3000,360,${THREADS},${THREADS},null,${user.latency},${user.nowMs - user.startMs - user.busyMs},3\n`
    user.steps = 0
    user.nowMs += Math.floor(random() * 200)
    begin(user)
    return row
  }
}

const K6_HEADER =
  'metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,service,status,subproto,tls_version,url,extra_tags,metadata\n'
const REQUESTS_PER_SECOND = 5000
const USERS = ',,,,,,,,,,,,,,,\n'
const MS = (value) => value.toFixed(6)

/** An iteration of one request, as k6 1.8 writes it: 16 rows, of which one has the time and one the wait for a connection; and the number of users each second. */
function makeK6Rows(random, labels, request) {
  const label = Math.floor(random() * labels.length)
  const vu = 1 + Math.floor(random() * THREADS)
  const endMs = START_MS + Math.floor(request / 5) + Math.floor(random() * 40)
  const duration = makeElapsed(random, label) + random()
  const failed = random() < 0.01
  const metadata = random() < 0.5 ? `vu=${vu}&iter=${request}` : `iter=${request}&vu=${vu}`
  const [error, code, status] = failed ? ['', '1500', 500] : ['', '', 200]
  const group = '::checkout'
  const tags = `,${error},${code},${!failed},${group},GET,${labels[label]},HTTP/1.1,default,,${status},,,${labels[label]},,${metadata}\n`
  const bare = (check) => `${check},,,,${group},,,,default,,,,,,,${metadata}\n`
  const iteration = `,,,,,,,,default,,,,,,,${metadata}\n`
  const sent = 0.02 + random() / 10
  const row = (metric, value, rest) => `${metric},${endMs},${MS(value)},${rest}`
  const times = {
    http_reqs: 1,
    http_req_duration: duration,
    http_req_blocked: 0.005 + random() / 100,
    http_req_connecting: 0,
    http_req_tls_handshaking: 0,
    http_req_sending: sent,
    http_req_waiting: Math.max(0, duration - 2 * sent),
    http_req_receiving: sent,
    http_req_failed: failed ? 1 : 0
  }
  return [
    ...Object.entries(times).map(([metric, value]) => row(metric, value, tags)),
    row('checks', failed ? 0 : 1, bare('status is 200')),
    row('checks', 1, bare('"body has ""ok"", and more"')),
    row('group_duration', duration + 0.1, bare('')),
    row('data_sent', 120, iteration),
    row('data_received', 1000 + (request % 900), iteration),
    row('iteration_duration', duration + 0.2, iteration),
    row('iterations', 1, iteration),
    ...(request % REQUESTS_PER_SECOND === 0
      ? ['vus', 'vus_max'].map((metric) => row(metric, THREADS, USERS))
      : [])
  ].join('')
}

/**
 * Writes the file; `rows` are requests where it is k6's. With `visits` every fourth row is a transaction's; where these are `servers`, it
 * has the same length and the message is one that only a server can have sent, so that the row is a request's.
 */
export function generate({ rows, labels, seed, out, k6 = false, visits }) {
  mkdirSync(dirname(out), { recursive: true })
  const random = makeRandom(seed)
  const names = Array.from({ length: labels }, (_, index) => makeLabel(index))
  const makeVisit = visits && makeVisits({ random, names, isServers: visits === 'servers' })
  const make = makeVisit ?? (k6 ? makeK6Rows : makeRow)
  const file = openSync(out, 'w')
  let block = [k6 ? K6_HEADER : HEADER]
  for (let row = 0; row < rows; row++) {
    block.push(make(random, names, row))
    if (block.length >= 20_000 || row + 1 === rows) {
      writeSync(file, block.join(''))
      block = []
    }
  }
  closeSync(file)
  return statSync(out).size
}

/** A file of that name with such rows: the same one for every bench. */
export function prepareFile(name, options) {
  const path = join(DATA_DIR, name)
  if (!existsSync(path)) {
    generate({ ...options, seed: 1, out: `${path}.part` })
    renameSync(`${path}.part`, path)
  }
  return path
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: {
      k6: { type: 'boolean', default: false },
      rows: { type: 'string', default: '3500000' },
      labels: { type: 'string', default: '40' },
      seed: { type: 'string', default: '1' },
      out: { type: 'string', default: join(DATA_DIR, 'samples.jtl') }
    }
  })
  const options = {
    ...values,
    rows: Number(values.rows),
    labels: Number(values.labels),
    seed: Number(values.seed)
  }
  const bytes = generate(options)
  console.log(`${options.out}: ${options.rows} rows, ${(bytes / 1e6).toFixed(0)} MB`)
}
