// The installation of JMeter from an empty local repository: by its list of jars, and as the dependencies of a build, which is the
// fallback. They take turns, so that other load on the machine affects both. Both must bring the same bytes.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { reportFigure } from './figure.mjs'

const ROUNDS = Number(process.env.LOADGATE_BENCH_ROUNDS ?? 3)
const MOST = 1 / 5
/** Unpacked by the build, so that it is not among its jars. */
const CONFIG_JAR = /^ApacheJMeter_config-/

const subjects = [
  { name: 'a build with the dependency plugin', way: 'build', runs: [] },
  { name: 'a pinned list with our extension', way: 'list', runs: [] }
]
for (let round = 0; round < ROUNDS; round++) for (const { way, runs } of subjects) runs.push(measure(way))
print()

function measure(way) {
  const folder = mkdtempSync(path.join(tmpdir(), 'loadgate-bench-'))
  const hooks = path.join(import.meta.dirname, '../__tests__/support/typescript-hooks.mjs')
  const subject = path.join(import.meta.dirname, 'install-subject.mjs')
  try {
    const { status, stdout } = spawnSync(
      process.execPath,
      ['--experimental-transform-types', '--no-warnings', '--import', hooks, subject, way, folder],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }
    )
    if (status !== 0) throw new Error(`The ${way} exited with ${status}`)
    return JSON.parse(stdout)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function print() {
  const [build, list] = subjects
  console.log(`## Installation\n`)
  console.log(`JMeter's jars from an empty local repository, ${ROUNDS} rounds.\n`)
  console.log('| | best | all | jars |')
  console.log('|---|---:|---|---:|')
  for (const { name, runs } of subjects) {
    const all = runs.map(({ seconds }) => seconds.toFixed(1)).join(', ')
    console.log(
      `| ${name} | ${bestOf(runs).toFixed(1)} s | ${all} s | ${Object.keys(jarsOf(runs[0])).length} |`
    )
  }
  const share = bestOf(list.runs) / bestOf(build.runs)
  reportFigure({ name: "time of the pinned list to the build's", value: share, unit: 'ratio', atMost: MOST })
  const contents = new Set(subjects.flatMap(({ runs }) => runs.map((run) => JSON.stringify(jarsOf(run)))))
  console.log(
    `Goal: the same jars, byte for byte: ${contents.size === 1 ? 'met' : `missed, ${contents.size} different sets`}.\n`
  )
  if (contents.size !== 1) process.exitCode = 1
}

function bestOf(runs) {
  return Math.min(...runs.map(({ seconds }) => seconds))
}

function jarsOf({ hashes }) {
  return Object.fromEntries(
    Object.entries(hashes)
      .filter(([name]) => !CONFIG_JAR.test(name))
      .sort()
  )
}
