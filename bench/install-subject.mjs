// One installation of JMeter's jars from an empty local repository, as a process of its own: node … install-subject.mjs <way> <folder>
// Prints the seconds it took and the hash of every jar, as JSON. `npm run bench -- install` starts it.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fetchByPom } from '../__tests__/support/fetch-by-pom.ts'
import { fetchJars } from '../src/service/engines/install/jars/fetch-jars.ts'
import { findOnPath } from '../src/service/engines/install/run-to-end.ts'
import JMETER_JARS from '../src/service/engines/jmeter/jmeter-jars.json' with { type: 'json' }
import { Processes } from '../src/service/nodes/machine/processes.ts'

const [way, folder] = process.argv.slice(2)
const [jars, home, work] = ['jars', 'home', 'work'].map((name) => path.join(folder, name))
for (const each of [jars, home, work]) mkdirSync(each)

const localRepository = `-Dmaven.repo.local=${path.join(folder, 'repository')}`
const ports = {
  env: { ...process.env, MAVEN_OPTS: `${process.env.MAVEN_OPTS ?? ''} ${localRepository}` },
  processes: new Processes({ onStart: () => {}, onEnd: () => {} }),
  log: (line) => console.error(line),
  signal: new AbortController().signal
}
const maven = await findOnPath('mvn', process.env)
const ways = {
  list: () => fetchJars({ what: 'JMeter', list: JMETER_JARS, to: jars, work, maven }, ports),
  build: () => fetchByPom({ maven, jars, home, work }, ports)
}
const startMs = performance.now()
await ways[way]()
const seconds = (performance.now() - startMs) / 1000

const hashes = readdirSync(jars).map((name) => [name, hashOf(path.join(jars, name))])
console.log(JSON.stringify({ seconds, hashes: Object.fromEntries(hashes) }))

function hashOf(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
