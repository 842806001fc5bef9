// Every fault of the matrix, every kill, and the soak test, against the bundles in dist/: prints a table, fails if any promise is broken.
//
//   npm run faults                       everything, a few minutes
//   npm run faults -- --seed 7           in another order
//   npm run faults -- --only "stop, 503" cases whose name contains this text
//   npm run faults -- --parallel 4       how many at once
//   npm run faults -- --soak-only        only 100 gates in a row and 20 at once
//   npm run faults -- --whole 1000       how many seeds of corrupted replies (0: none); only these with --only seed
//   npm run faults -- --one-run-only     only 1,000 seeds of the model of one run; --seed and --seeds choose which
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    parallel: { type: 'string', default: '6' },
    whole: { type: 'string', default: '1000' },
    'no-soak': { type: 'boolean', default: false },
    'soak-only': { type: 'boolean', default: false },
    'one-run-only': { type: 'boolean', default: false },
    seeds: { type: 'string', default: '1000' }
  }
})

// A build during the run would change what is tested, so use a copy of the current bundles.
const stage = mkdtempSync(path.join(tmpdir(), 'loadgate-faults-'))
cpSync('dist', path.join(stage, 'dist'), { recursive: true })
process.chdir(stage)

const { makeMatrix } = await import('../__tests__/support/faults/fault-matrix.ts')
const { makeKills } = await import('../__tests__/support/faults/fault-kills.ts')
const { runAll, scenarioOf } = await import('../__tests__/support/faults/fault-run.ts')
const { soak } = await import('../__tests__/support/faults/fault-soak.ts')
const { runSeed } = await import('../__tests__/support/whole/whole-or-not.ts')

const seed = Number(values.seed)
const scenarios = [...makeMatrix(seed).map(scenarioOf), ...makeKills(seed)].filter(
  ({ name }) => name.includes(values.only) && !values['soak-only'] && !values['one-run-only']
)
const seeds =
  values['soak-only'] || values['one-run-only'] || !'seed'.startsWith(values.only) ? 0 : Number(values.whole)
const total = scenarios.length + seeds
let done = 0
const report = ({ name, verdict, problems, tookMs, log }) => {
  const mark = problems.length === 0 ? 'ok  ' : 'FAIL'
  console.error(
    `${String(++done).padStart(4)}/${total} ${mark} ${Math.round(tookMs)} ms  ${name}: ${verdict}`
  )
  for (const problem of problems) console.error(`          ${problem}`)
  if (problems.length > 0) console.error(log.replace(/^/gm, '          | '))
}
const results = await runAll(scenarios, { parallel: Number(values.parallel), onResult: report })
// One after the other: their clock advances when the rest of the process is idle.
for (let seed = 1; seed <= seeds; seed++) {
  const result = await runSeed(seed)
  report(result)
  results.push(result)
}

if (results.length > 0) console.log(`\nSeed ${seed}, Node ${process.version}\n\n${tableOf(results)}`)
let isBroken = results.some(({ problems }) => problems.length > 0)

if (values.only === '' && !values['soak-only']) {
  const ran = await runAllOfOneRun(seed, Number(values.seeds))
  console.log(`\nOne run, seeds ${seed} to ${seed + ran.length - 1}\n\n${tableOf(ran)}`)
  isBroken ||= ran.some(({ problems }) => problems.length > 0)
}

if (!values['no-soak'] && !values['one-run-only']) {
  const { table, problems } = await soak({ inARow: 100, atOnce: 20 })
  console.log(`\n${table}`)
  for (const problem of problems) console.error(`soak: ${problem}`)
  isBroken ||= problems.length > 0
}
rmSync(stage, { recursive: true, force: true })
process.exit(isBroken ? 1 : 0)

/** Scenarios of one run, where everything but the gate itself is a model: one after the other, because they control the clock. */
async function runAllOfOneRun(first, count) {
  const { runScenario } = await import('../__tests__/support/one-run/one-run-scenario.ts')
  const ran = []
  for (let each = first; each < first + count; each++) {
    const { flow, verdict, problems, log } = await runScenario(each)
    ran.push({ group: `one run: ${flow}`, verdict, problems })
    for (const problem of problems) console.error(`one run, seed ${each} (LOADGATE_SEED=${each}): ${problem}`)
    if (problems.length > 0) console.error(log.replace(/^/gm, '          | '))
  }
  return ran
}

/** A row per kind of fault target, and a total. */
function tableOf(all) {
  const groups = Object.entries(Object.groupBy(all, ({ group }) => group)).sort()
  const rows = [...groups, ['all', all]].map(([name, some]) => {
    const held = some.filter(({ problems }) => problems.length === 0).length
    const verdicts = Object.entries(Object.groupBy(some, ({ verdict }) => verdict)).sort()
    const words = verdicts.map(([verdict, cases]) => `${cases.length} ${verdict}`).join(', ')
    return `| ${name} | ${some.length} | ${held} | ${some.length - held} | ${words} |`
  })
  return ['| what is struck | cases | held | broken | verdicts |', '|---|--:|--:|--:|---|', ...rows].join(
    '\n'
  )
}
