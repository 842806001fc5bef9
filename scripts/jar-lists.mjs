// Fills in the hashes of the jar lists in src/service/engines: npm run generate -- jar-lists [list…]
//   --check writes nothing, and fails if a hash differs from what is downloaded
// To update a tool, change the coordinates in its list; a line needs no hash before this has run. Everything is downloaded
// anew, past Maven's local repository, so that nothing broken or homemade there gets a hash. Compare what changes with what
// the project publishes: whoever controls the download at this moment controls the hash.
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readJar } from '../src/service/engines/install/jars/jar-list.ts'
import { fetchByMaven, requireMaven } from '../src/service/engines/install/jars/fetch-jars.ts'
import { Processes } from '../src/service/nodes/machine/processes.ts'

const ENGINES = path.join(import.meta.dirname, '../src/service/engines')
const LISTS = [
  'jmeter/jmeter-jars',
  'gatling/gatling-jars',
  'gatling/scala-compiler-jars',
  'gatling/kotlin-compiler-jars',
  'selenium/selenium-4-jars',
  'selenium/selenium-3-jars'
]

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean', default: false } }
})
const unknown = names.filter((name) => !LISTS.includes(name))
if (unknown.length > 0) throw new Error(`No such list: ${unknown.join(', ')}; there are ${LISTS.join(', ')}`)

const ports = {
  env: process.env,
  processes: new Processes({ onStart: () => {}, onEnd: () => {} }),
  log: (line) => console.log(line),
  signal: new AbortController().signal
}
const maven = await requireMaven(ports, 'A jar list')
for (const list of names.length > 0 ? names : LISTS) {
  const file = path.join(ENGINES, `${list}.json`)
  const text = readFileSync(file, 'utf8')
  const { name, jars } = JSON.parse(text)
  const fresh = `${JSON.stringify({ name, jars: await describeJars(list, jars) }, null, 2)}\n`
  if (!options.check) {
    writeFileSync(file, fresh)
    console.log(`Wrote ${list}.`)
  } else if (fresh === text) {
    console.log(`${list} equals what is downloaded.`)
  } else {
    console.error(
      `${list} differs from what is downloaded: run \`npm run generate -- jar-lists\` and look at what changes.`
    )
    process.exitCode = 1
  }
}

/** The lines of the list, sorted as they are in the file. */
async function describeJars(list, jars) {
  const coordinates = [...new Set(jars.map((line) => readJar(line).coordinates))]
  const work = mkdtempSync(path.join(tmpdir(), 'loadgate-jar-lists-'))
  try {
    const to = path.join(work, 'jars')
    mkdirSync(to)
    const localRepository = path.join(work, 'repository')
    await fetchByMaven({ what: list, maven, coordinates, to, work, localRepository }, ports)
    return coordinates.map((each) => `${each} ${hashOf(path.join(to, readJar(each).fileName))}`).sort()
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function hashOf(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
