// Runs the benchmarks named as arguments, or all of them: node bench/run.mjs [csv] [startup] [upload] [embedded] [install]
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const ALL = ['csv', 'startup', 'upload', 'embedded', 'install']
const names = process.argv.length > 2 ? process.argv.slice(2) : ALL
const unknown = names.filter((name) => !ALL.includes(name))
if (unknown.length > 0) throw new Error(`No such bench: ${unknown.join(', ')}; there are ${ALL.join(', ')}`)

const FILES = { embedded: ['embedded', 'embedded-gatling'] }
for (const name of names.flatMap((each) => FILES[each] ?? [each])) {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.mjs`)], {
    stdio: 'inherit'
  })
  if (status !== 0) process.exitCode = 1
}
