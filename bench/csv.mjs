// From a JMeter CSV to per-label figures: this project and its peers, each in its own process, in one run. The time is that of the
// whole process. The figures must equal DuckDB's. Then the same for what k6 writes, in 16 rows per request. At last a CSV in which every
// fourth row is a transaction's, beside the same rows where those are requests: what it costs to sort transactions.
//   npm run bench -- csv [--rows 3500000] [--k6-requests 560000] [--visit-rows 400000] [--labels 40,10000] [--rounds 5] [--named 0] [--quick]
//   --named 10 has figures over time for ten labels too, as if thresholds named them; --rows 35000000 makes the file 4 GB; --quick skips the
//   slow peers, which only read the first file
import { spawnSync } from 'node:child_process'
import { rmSync, statSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { reportFigure } from './figure.mjs'
import { DATA_DIR, prepareFile } from './generate.mjs'

const ROOT = join(import.meta.dirname, '..')
const FAST = ['loadgate', 'duckdb', 'loadgate-stream']
const SLOW = ['papaparse', 'csv-parse']
/** So many labels do not fit into the caches of a processor. */
const MANY_LABELS = 10_000
const NAMES = {
  loadgate: 'loadgate, file at rest',
  'loadgate-stream': 'loadgate, as it arrives',
  duckdb: 'DuckDB (`@duckdb/node-api`)',
  papaparse: 'papaparse',
  'csv-parse': 'csv-parse',
  'loadgate-k6': 'loadgate',
  'duckdb-k6': 'DuckDB (`@duckdb/node-api`)'
}

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '3500000' },
    'k6-requests': { type: 'string', default: '560000' },
    'visit-rows': { type: 'string', default: '400000' },
    labels: { type: 'string', default: '40,10000' },
    rounds: { type: 'string', default: '5' },
    named: { type: 'string', default: '0' },
    quick: { type: 'boolean', default: false }
  }
})

compile()
const counts = options.labels.split(',').map(Number)
for (const [index, labels] of options.rows === '0' ? [] : counts.entries()) {
  const rows = Number(options.rows)
  const file = prepareFile(`samples-${rows}-${labels}.jtl`, { rows, labels })
  const title = `CSV to figures: ${options.rows} rows, ${labels} labels`
  const slow = options.quick || index > 0 ? [] : SLOW
  const speed = labels < MANY_LABELS ? 2 : 1.5
  const goals = {
    loadgate: { name: `${labels} labels at rest`, speed, peakMb: 150 },
    'loadgate-stream': { name: `${labels} labels as they arrive`, speed: 1.5, peakMb: 150 }
  }
  measure({ title, file, fast: FAST, slow, reference: 'duckdb', goals })
}
if (options['k6-requests'] !== '0') {
  const rows = Number(options['k6-requests'])
  const [labels] = counts
  const goals = { 'loadgate-k6': { name: "k6's CSV", speed: 1, peakMb: 250 } }
  const file = prepareFile(`k6-${rows}-${labels}.csv`, { rows, labels, k6: true })
  const title = `k6's CSV to figures: ${rows} requests, ${(statSync(file).size / 1e9).toFixed(2)} GB, ${labels} labels`
  measure({ title, file, fast: ['loadgate-k6', 'duckdb-k6'], slow: [], reference: 'duckdb-k6', goals })
}
if (options['visit-rows'] !== '0') measureVisits(Number(options['visit-rows']))

/** The figures of every label are the same in both files; overall, only the requests count in the first. */
function measureVisits(rows) {
  const [labels] = counts
  const kinds = ['controllers', 'servers']
  const files = kinds.map((visits) =>
    prepareFile(`visits-${visits}-${rows}-${labels}.jtl`, { rows, labels, visits })
  )
  const runs = kinds.map(() => [])
  for (let round = 0; round < Number(options.rounds); round++)
    files.forEach((file, i) => runs[i].push(runSubject('loadgate', file)))
  const [sorted, plain] = runs.map((each) => Math.min(...each.map(({ cpuMs }) => cpuMs)))
  const isSame = runs.flat().every(({ figures }) => normalise(figures) === normalise(runs[0][0].figures))
  console.log(`## A CSV of ${rows} rows, every fourth a transaction's, ${labels} labels\n`)
  console.log(`CPU, best of ${options.rounds} rounds: ${(sorted / 1000).toFixed(2)} s`)
  console.log(`The same rows, all of requests: ${(plain / 1000).toFixed(2)} s`)
  console.log(`Figures per label: ${isSame ? 'equal' : '**differ**'}`)
  if (isSame) {
    const name = 'CPU of rows with transactions to that of rows without'
    reportFigure({ name, value: sorted / plain, unit: 'ratio', atMost: 1.15 })
  } else process.exitCode = 1
  console.log()
}

function measure({ title, file, fast, slow, reference, goals }) {
  const runs = new Map([...fast, ...slow].map((name) => [name, []]))
  // In turns, so that other load on the machine affects all of them equally.
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const name of fast) runs.get(name).push(runSubject(name, file))
  }
  for (const name of slow) runs.get(name).push(runSubject(name, file))
  print({ title, runs, reference, goals })
}

/** Bundles the current sources, so that no stale build is measured; in few files, like the project's own bundles. */
function compile() {
  const out = join(DATA_DIR, 'build')
  const entries = [
    'analysis/results/parallel/scan-files',
    'analysis/results/parallel/arriving-scan',
    'analysis/results/figures/merge',
    'analysis/results/parallel/scan-worker',
    'gate/results/translate-file'
  ].map((name) => join(ROOT, `src/${name}.ts`))
  rmSync(out, { recursive: true, force: true })
  const { status } = spawnSync(
    join(import.meta.dirname, 'node_modules/.bin/esbuild'),
    [
      ...entries,
      ...[
        '--bundle',
        '--splitting',
        '--minify',
        '--platform=node',
        '--format=esm',
        '--target=es2023',
        '--log-level=error'
      ],
      '--entry-names=[name]',
      `--outdir=${join(out, 'results')}`
    ],
    // What the sources import is among the packages of bench/ too, for clones without the project's own.
    {
      env: { ...process.env, NODE_PATH: join(import.meta.dirname, 'node_modules') },
      stdio: ['ignore', 'ignore', 'inherit']
    }
  )
  if (status !== 0) throw new Error('could not bundle the sources')
}

function runSubject(name, file) {
  const subject = join(import.meta.dirname, 'csv-subject.mjs')
  const start = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, [subject, name, file, options.named], {
    encoding: 'utf8',
    maxBuffer: 1e9
  })
  const wallMs = performance.now() - start
  if (status !== 0) throw new Error(`${name} failed:\n${stderr}`)
  return { wallMs, ...JSON.parse(stdout) }
}

/** The best of the rounds: other load on the machine only ever adds to a time. */
function print({ title, runs, reference, goals }) {
  const bestOf = (name, key) => Math.min(...runs.get(name).map((run) => run[key]))
  const truth = normalise(runs.get(reference)[0].figures)
  const load = loadavg()[0].toFixed(1)
  console.log(`## ${title}\n`)
  console.log(
    `Best of ${options.rounds} rounds, one for the slow ones; ${availableParallelism()} cores, load average ${load}, Node ${process.version}.\n`
  )
  console.log("| | time | times DuckDB's speed | CPU | DuckDB's CPU relative to it | peak memory | figures |")
  console.log('|---|--:|--:|--:|--:|--:|---|')
  const speedOf = (name, key) => bestOf(reference, key) / bestOf(name, key)
  const peakOf = (name) => Math.max(...runs.get(name).map(({ peakMb }) => peakMb))
  const isSame = (name) => runs.get(name).every(({ figures }) => normalise(figures) === truth)
  for (const [name, done] of runs) {
    if (done.length === 0) continue
    const cells = [
      NAMES[name],
      ...['wallMs', 'cpuMs'].flatMap((key) => [
        `${(bestOf(name, key) / 1000).toFixed(2)} s`,
        speedOf(name, key).toFixed(2)
      ]),
      `${peakOf(name).toFixed(0)} MB`,
      isSame(name) ? 'equal' : '**differ**'
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
  for (const [subject, { name, speed, peakMb }] of Object.entries(goals)) {
    if (!isSame(subject)) continue
    const value = speedOf(subject, 'wallMs')
    reportFigure({ name: `speed of ${name} to DuckDB's`, value, unit: 'ratio', atLeast: speed })
    reportFigure({ name: `peak memory of ${name}`, value: peakOf(subject), unit: 'MB', atMost: peakMb })
  }
  console.log()
  if (![...runs.keys()].every(isSame)) process.exitCode = 1
}

/** Sorted by label; means to nine digits, because a sum of floats depends on its order. */
function normalise(figures) {
  const rows = figures.map((row) => [
    ...[row.label, row.samples, row.failures, Number(row.meanMs).toPrecision(9)],
    ...[row.minMs, row.maxMs, ...row.percentiles]
  ])
  return JSON.stringify(rows.sort((a, b) => (a[0] < b[0] ? -1 : 1)))
}
