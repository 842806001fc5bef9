// From a JMeter CSV to per-label figures: this project and its peers, each in its own process, in one run. The time is that of the
// whole process. The figures must equal DuckDB's. Then the same for what k6 writes, in 16 rows per request.
//   node bench/csv.mjs [--rows 3500000] [--k6-requests 560000] [--labels 40] [--rounds 5] [--named 0] [--quick]
//   --named 10 has figures over time for ten labels too, as if thresholds named them; --rows 35000000 makes the file 4 GB, --labels 10000 tests many labels, --quick skips the slow peers
import { spawnSync } from 'node:child_process'
import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DATA_DIR, generate } from './generate.mjs'

const ROOT = join(import.meta.dirname, '..')
const FAST = ['loadgate', 'duckdb', 'loadgate-stream']
const SLOW = ['papaparse', 'csv-parse']
const NAMES = {
  loadgate: 'loadgate, file at rest',
  'loadgate-stream': 'loadgate, as it arrives (one thread)',
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
    labels: { type: 'string', default: '40' },
    rounds: { type: 'string', default: '5' },
    named: { type: 'string', default: '0' },
    quick: { type: 'boolean', default: false }
  }
})

compile()
const labels = Number(options.labels)
if (options.rows !== '0') {
  const rows = Number(options.rows)
  const file = prepareFile(`samples-${rows}-${labels}.jtl`, { rows, labels })
  const title = `CSV to figures: ${options.rows} rows, ${options.labels} labels`
  measure({ title, file, fast: FAST, slow: options.quick ? [] : SLOW, reference: 'duckdb' })
}
if (options['k6-requests'] !== '0') {
  const rows = Number(options['k6-requests'])
  const file = prepareFile(`k6-${rows}-${labels}.csv`, { rows, labels, k6: true })
  const title = `k6's CSV to figures: ${rows} requests, ${(statSync(file).size / 1e9).toFixed(2)} GB, ${labels} labels`
  measure({ title, file, fast: ['loadgate-k6', 'duckdb-k6'], slow: [], reference: 'duckdb-k6' })
}

function measure({ title, file, fast, slow, reference }) {
  const runs = new Map([...fast, ...slow].map((name) => [name, []]))
  // In turns, so that other load on the machine affects all of them equally.
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const name of fast) runs.get(name).push(runSubject(name, file))
  }
  for (const name of slow) runs.get(name).push(runSubject(name, file))
  print(title, runs, reference)
}

/** Bundles the current sources, so that no stale build is measured; in few files, like the project's own bundles. */
function compile() {
  const out = join(DATA_DIR, 'build')
  const entries = [
    'analysis/results/parallel/scan-files',
    'analysis/results/scan/byte-scanner',
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
        '--keep-names',
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

function prepareFile(name, options) {
  const path = join(DATA_DIR, name)
  if (!existsSync(path)) {
    generate({ ...options, seed: 1, out: `${path}.part` })
    renameSync(`${path}.part`, path)
  }
  return path
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
function print(title, runs, reference) {
  const bestOf = (name, key) => Math.min(...runs.get(name).map((run) => run[key]))
  const truth = normalise(runs.get(reference)[0].figures)
  const load = loadavg()[0].toFixed(1)
  console.log(`## ${title}\n`)
  console.log(
    `Best of ${options.rounds} rounds, one for the slow ones; ${availableParallelism()} cores, load average ${load}, Node ${process.version}.\n`
  )
  console.log("| | time | times DuckDB's speed | CPU | DuckDB's CPU relative to it | peak memory | figures |")
  console.log('|---|--:|--:|--:|--:|--:|---|')
  for (const [name, done] of runs) {
    if (done.length === 0) continue
    const isSame = done.every(({ figures }) => normalise(figures) === truth)
    if (!isSame) process.exitCode = 1
    const cells = [
      NAMES[name],
      ...['wallMs', 'cpuMs'].flatMap((key) => [
        `${(bestOf(name, key) / 1000).toFixed(2)} s`,
        (bestOf(reference, key) / bestOf(name, key)).toFixed(2)
      ]),
      `${Math.max(...done.map(({ peakMb }) => peakMb)).toFixed(0)} MB`,
      isSame ? 'equal' : '**differ**'
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}

/** Sorted by label; means to nine digits, because a sum of floats depends on its order. */
function normalise(figures) {
  const rows = figures.map((row) => [
    ...[row.label, row.samples, row.failures, Number(row.meanMs).toPrecision(9)],
    ...[row.minMs, row.maxMs, ...row.percentiles]
  ])
  return JSON.stringify(rows.sort((a, b) => (a[0] < b[0] ? -1 : 1)))
}
