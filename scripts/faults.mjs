// Every fault of the matrix, every kill, and the soak, against the bundles in dist/: prints a table, fails when one promise is broken.
//
//   npm run faults                       all of it, some minutes
//   npm run faults -- --seed 7           in another order
//   npm run faults -- --only "stop, 503" cases whose name holds these words
//   npm run faults -- --parallel 4       how many at once
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    parallel: { type: 'string', default: '6' },
    'no-soak': { type: 'boolean', default: false }
  }
})

// A build in the middle of the run would change what is tested: the bundles are taken as they are now.
const stage = mkdtempSync(path.join(tmpdir(), 'loadgate-faults-'))
cpSync('dist', path.join(stage, 'dist'), { recursive: true })
process.chdir(stage)

const { makeMatrix } = await import('../__tests__/support/fault-matrix.ts')
const { makeKills } = await import('../__tests__/support/fault-kills.ts')
const { runAll, storyOf } = await import('../__tests__/support/fault-run.ts')
const { soak } = await import('../__tests__/support/fault-soak.ts')

const seed = Number(values.seed)
const stories = [...makeMatrix(seed).map(storyOf), ...makeKills(seed)].filter(({ name }) =>
  name.includes(values.only)
)
let done = 0
const results = await runAll(stories, {
  parallel: Number(values.parallel),
  onResult: ({ name, verdict, problems, tookMs, log }) => {
    const mark = problems.length === 0 ? 'ok  ' : 'FAIL'
    console.error(
      `${String(++done).padStart(4)}/${stories.length} ${mark} ${Math.round(tookMs)} ms  ${name}: ${verdict}`
    )
    for (const problem of problems) console.error(`          ${problem}`)
    if (problems.length > 0) console.error(log.replace(/^/gm, '          | '))
  }
})

const groups = [...new Set(results.map(({ group }) => group))].sort()
const rowOf = (name, some) => {
  const passed = some.filter(({ problems }) => problems.length === 0).length
  const verdicts = Object.entries(Object.groupBy(some, ({ verdict }) => verdict))
  const words = verdicts.sort().map(([verdict, cases]) => `${cases.length} ${verdict}`)
  return `| ${name} | ${some.length} | ${passed} | ${some.length - passed} | ${words.join(', ')} |`
}
console.log(`\nSeed ${seed}, Node ${process.version}\n`)
console.log('| what is struck | cases | held | broken | verdicts |\n|---|--:|--:|--:|---|')
for (const group of groups)
  console.log(
    rowOf(
      group,
      results.filter((result) => result.group === group)
    )
  )
console.log(rowOf('all', results))
let isBroken = results.some(({ problems }) => problems.length > 0)

if (!values['no-soak']) {
  const { table, problems } = await soak({ inARow: 100, atOnce: 20 })
  console.log(`\n${table}`)
  for (const problem of problems) console.error(`soak: ${problem}`)
  isBroken ||= problems.length > 0
}
rmSync(stage, { recursive: true, force: true })
process.exit(isBroken ? 1 : 0)
