// Runs the benchmarks named as arguments, or all of them: node bench/run.mjs [csv] [startup] [upload] [embedded] [embedded-k6] [install]
// [regression] [stalls] [stalls-real] [side-by-side] [kubernetes] [service-list] [service] [page]. What follows them and starts with -- is passed on: node bench/run.mjs side-by-side --tries 1
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const ALL = [
  'csv',
  'startup',
  'upload',
  'embedded',
  'embedded-k6',
  'install',
  'regression',
  'stalls',
  'stalls-real',
  'side-by-side',
  'kubernetes',
  'service-list',
  'service',
  'page'
]
const given = process.argv.slice(2)
const firstFlag = given.findIndex((word) => word.startsWith('--'))
const flags = firstFlag < 0 ? [] : given.splice(firstFlag)
const names = given.length > 0 ? given : ALL
const unknown = names.filter((name) => !ALL.includes(name))
if (unknown.length > 0) throw new Error(`No such bench: ${unknown.join(', ')}; there are ${ALL.join(', ')}`)

const FILES = { embedded: ['embedded', 'embedded-gatling'] }
/** Lets Node run the sources as they are. */
const FROM_SOURCES = [
  '--experimental-transform-types',
  '--no-warnings',
  '--import',
  new URL('../__tests__/support/typescript-hooks.mjs', import.meta.url).href
]
const NODE_OPTIONS = {
  regression: FROM_SOURCES,
  stalls: FROM_SOURCES,
  'stalls-real': FROM_SOURCES,
  'service-list': FROM_SOURCES,
  service: FROM_SOURCES,
  page: FROM_SOURCES
}
for (const name of names.flatMap((each) => FILES[each] ?? [each])) {
  const file = join(import.meta.dirname, `${name}.mjs`)
  const { status } = spawnSync(process.execPath, [...(NODE_OPTIONS[name] ?? []), file, ...flags], {
    stdio: 'inherit'
  })
  if (status !== 0) process.exitCode = 1
}
