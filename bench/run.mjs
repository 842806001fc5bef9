// Runs the benches named as arguments, or all of them: npm run bench -- [csv] [startup] … What follows them and starts with -- is passed
// on: npm run bench -- side-by-side --tries 1. With --record their figures are appended to bench/history.csv, which a busy machine refuses
// unless there is --force.
import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { compareWithBefore, formatRows, isBusy, parseHistory } from './history.mjs'

const ROOT = join(import.meta.dirname, '..')
const HISTORY = join(import.meta.dirname, 'history.csv')
const OWN = { folder: import.meta.dirname, install: 'npm ci --prefix bench' }
const PROJECT = { folder: ROOT, install: 'npm ci' }
/** Lets Node run the sources as they are. */
const FROM_SOURCES = {
  packages: PROJECT,
  nodeOptions: [
    '--experimental-transform-types',
    '--no-warnings',
    '--import',
    new URL('../__tests__/support/typescript-hooks.mjs', import.meta.url).href
  ]
}
/** Those without `packages` run the bundles in dist/. */
const BENCHES = {
  csv: { packages: OWN },
  startup: {},
  upload: {},
  verdict: FROM_SOURCES,
  embedded: { files: ['embedded', 'embedded-gatling'] },
  'embedded-k6': {},
  install: { packages: PROJECT },
  regression: FROM_SOURCES,
  stalls: FROM_SOURCES,
  'stalls-real': FROM_SOURCES,
  'side-by-side': {},
  kubernetes: { packages: PROJECT },
  'service-list': FROM_SOURCES,
  service: FROM_SOURCES,
  page: FROM_SOURCES
}

const [isRecorded, isForced] = ['--record', '--force'].map((flag) => process.argv.includes(flag))
const given = process.argv.slice(2).filter((word) => word !== '--record' && word !== '--force')
const firstFlag = given.findIndex((word) => word.startsWith('--'))
const flags = firstFlag < 0 ? [] : given.splice(firstFlag)
const names = given.length > 0 ? given : Object.keys(BENCHES)
const machine = { machine: cpus()[0].model, cores: availableParallelism(), load: loadavg()[0].toFixed(2) }

const refusal = refuse()
if (refusal === undefined) await runAll()
else {
  console.error(refusal)
  process.exitCode = 2
}

function refuse() {
  const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name))
  if (unknown.length > 0)
    return `No such bench: ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`
  if (!isRecorded) return undefined
  if (flags.length > 0)
    return `--record takes no ${flags[0]}: recorded figures must be comparable, so they are those without flags.`
  if (isBusy(machine) && !isForced)
    return `Nothing is measured: the load average is ${machine.load} on ${machine.cores} cores, and what else runs would be in the figures. Wait until it is below a quarter of the cores, or record all the same with --force.`
}

async function runAll() {
  const figures = []
  for (const bench of names) {
    const { files = [bench], packages, nodeOptions = [] } = BENCHES[bench]
    if (packages && !isInstalled(packages)) {
      console.error(
        `The bench ${bench} needs packages that are not installed: run \`${packages.install}\` first.`
      )
      process.exitCode = 1
      continue
    }
    for (const file of files) figures.push(...(await runFile(bench, file, nodeOptions)))
  }
  if (isRecorded) record(figures)
}

function isInstalled({ folder }) {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const packages = Object.keys({ ...dependencies, ...devDependencies })
  return packages.every((name) => existsSync(join(folder, 'node_modules', name)))
}

/** The figures that the bench reports; see figure.mjs. */
async function runFile(bench, file, nodeOptions) {
  const figures = []
  const path = join(import.meta.dirname, `${file}.mjs`)
  const child = spawn(process.execPath, [...nodeOptions, path, ...flags], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc']
  })
  child.on('message', (figure) => figures.push({ bench, ...figure }))
  const status = await new Promise((resolve) => child.once('close', resolve))
  if (status !== 0) process.exitCode = 1
  return figures
}

function record(figures) {
  const date = new Date().toISOString().replace(/\.\d+/, '')
  const commit = describeCommit()
  const rows = figures.map((figure) => ({ date, commit, ...machine, ...figure }))
  appendFileSync(HISTORY, formatRows(rows))
  console.log(
    `\n${rows.length} figures are recorded in bench/history.csv; \`npm run generate -- docs\` shows them in bench/README.md.`
  )
  const history = parseHistory(readFileSync(HISTORY, 'utf8'))
  for (const row of history.slice(history.length - rows.length)) {
    const found = compareWithBefore(row, history)
    if (!found?.isWorse) continue
    const { date: day, commit: state, value } = found.before
    console.error(
      `WORSE by more than 10 %: ${row.bench}, ${row.figure}: ${row.value}, and ${value} on ${day.slice(0, 10)} (${state}).`
    )
    process.exitCode = 1
  }
}

function describeCommit() {
  const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
  const changes = git('status', '--porcelain', '--', '.', ':!bench/history.csv', ':!bench/README.md')
  return `${git('rev-parse', '--short=8', 'HEAD')}${changes === '' ? '' : '-changed'}`
}
