// Writes a JMeter sample CSV as large as a real run's, the same bytes for the same seed.
//   node bench/generate.mjs [--rows 3500000] [--labels 40] [--seed 1] [--out bench/data/samples.jtl]
import { mkdirSync, openSync, writeSync, closeSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

export const DATA_DIR = join(import.meta.dirname, 'data')
const HEADER =
  'timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n'
const THREADS = 200
const START_MS = 1_700_000_000_000

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

/** Writes the file unless it exists with about the expected size. */
export function generate({ rows, labels, seed, out }) {
  mkdirSync(dirname(out), { recursive: true })
  const random = makeRandom(seed)
  const names = Array.from({ length: labels }, (_, index) => makeLabel(index))
  const file = openSync(out, 'w')
  let block = [HEADER]
  for (let row = 0; row < rows; row++) {
    block.push(makeRow(random, names, row))
    if (block.length >= 20_000 || row + 1 === rows) {
      writeSync(file, block.join(''))
      block = []
    }
  }
  closeSync(file)
  return statSync(out).size
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: {
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
