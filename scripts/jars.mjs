// Compiles java/ into the jars that are shipped, java/jars/<part>.jar: npm run generate -- jars [part…]
//   --check writes nothing, and fails if a committed jar differs from a fresh build
// It needs a JDK 17, because other compilers may produce other bytes for the same sources, and Maven for what the sources
// import: the lists' jars come from the cache that the service itself uses.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { installJars } from '../src/service/engines/install/jars/fetch-jars.ts'
import { Processes } from '../src/service/nodes/machine/processes.ts'
import { makeZip } from './zip.mjs'

const ROOT = path.join(import.meta.dirname, '..')
const COMPILER = 17

/**
 * What goes into each jar. `sources` are folders in java/ whose .java files are compiled together, `resources` folders whose
 * files go in as they are. `classpath` names what the sources import but the jar does not contain: `maven`, or the module of
 * a jar list in src/service/engines without its ending, such as `gatling/gatling-jars`. `manifest` has further lines of it.
 */
const PARTS = [
  {
    part: 'fetch',
    sources: ['fetch/src'],
    resources: ['fetch/resources'],
    classpath: ['maven'],
    // As old as the oldest Java that Maven 3.6 runs on, apart from Java 7.
    release: 8
  },
  {
    part: 'gatling',
    sources: ['gatling/src', 'plan/src', 'rows/src'],
    resources: ['gatling/resources'],
    classpath: ['gatling/gatling-jars'],
    // The oldest Java that Gatling runs on.
    release: 11
  },
  {
    part: 'selenium',
    sources: ['plan/src', 'rows/src', 'selenium/src'],
    resources: ['selenium/resources'],
    // What compiles with the older one runs with both.
    classpath: ['selenium/selenium-3-jars'],
    release: 11
  },
  {
    part: 'hosts',
    sources: ['hosts/src'],
    classpath: [],
    manifest: 'Premain-Class: loadgate.hosts.OverrideHosts\r\n',
    // Modules can be opened since Java 9.
    release: 11
  }
]

const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean', default: false } }
})
const unknown = names.filter((name) => !PARTS.some(({ part }) => part === name))
if (unknown.length > 0) throw new Error(`No such part: ${unknown.join(', ')}`)

checkCompiler()
for (const part of PARTS.filter(({ part }) => names.length === 0 || names.includes(part))) {
  const name = `java/jars/${part.part}.jar`
  const target = path.join(ROOT, name)
  const fresh = await buildJar(part)
  if (!options.check) {
    mkdirSync(path.dirname(target), { recursive: true })
    writeFileSync(target, fresh)
    console.log(`Wrote ${name} (${fresh.length} bytes).`)
  } else if (existsSync(target) && readFileSync(target).equals(fresh)) {
    console.log(`${name} equals a fresh build.`)
  } else {
    console.error(
      `${name} differs from a fresh build: run \`npm run generate -- jars\` and commit the result.`
    )
    process.exitCode = 1
  }
}

function checkCompiler() {
  const version = execFileSync('javac', ['-version'], { encoding: 'utf8' }).trim()
  if (!version.startsWith(`javac ${COMPILER}.`))
    throw new Error(`The jars are built with JDK ${COMPILER}, but javac -version says: ${version}`)
}

async function buildJar({ sources, resources = [], classpath, manifest = '', release }) {
  const out = mkdtempSync(path.join(tmpdir(), 'loadgate-jars-'))
  try {
    const files = []
    for (const source of sources) files.push(...(await listJava(path.join(ROOT, 'java', source))))
    const folders = await Promise.all(classpath.map(findJars))
    compile(files, { out, release, classpath: folders.map((folder) => path.join(folder, '*')) })
    const content = await readFolder(out)
    for (const folder of resources)
      for (const [name, bytes] of await readFolder(path.join(ROOT, 'java', folder))) content.set(name, bytes)
    const manifestBytes = Buffer.from(`Manifest-Version: 1.0\r\n${manifest}\r\n`)
    return makeZip(new Map([...content, ['META-INF/MANIFEST.MF', manifestBytes]]))
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

/** Reads a folder, including subfolders, into a map from relative path (with `/`) to bytes. */
async function readFolder(folder) {
  const files = new Map()
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries.filter((entry) => entry.isFile())) {
    const file = path.join(entry.parentPath, entry.name)
    files.set(path.relative(folder, file).split(path.sep).join('/'), await readFile(file))
  }
  return files
}

async function listJava(folder) {
  const names = [...(await readFolder(folder)).keys()].filter((name) => name.endsWith('.java'))
  if (names.length === 0) throw new Error(`There are no Java sources in ${folder}`)
  return names.sort().map((name) => path.join(folder, name))
}

function compile(files, { out, release, classpath }) {
  const args = [
    ...['--release', String(release), '-encoding', 'UTF-8', '-g:source,lines', '-parameters'],
    // Other annotation processors on the class path must not run.
    ...['-proc:none', '-Xlint:all,-options,-processing,-path', '-Werror'],
    ...['-cp', classpath.join(path.delimiter), '-d', out]
  ]
  execFileSync('javac', [...args, ...files], { stdio: ['ignore', 'inherit', 'inherit'] })
}

/** The folder with the jars of one entry of `classpath`. */
async function findJars(name) {
  if (name === 'maven') return path.join(findMaven(), 'lib')
  const list = JSON.parse(await readFile(path.join(ROOT, `src/service/engines/${name}.json`), 'utf8'))
  return installJars(list, {
    env: process.env,
    processes: new Processes({ onStart: () => {}, onEnd: () => {} }),
    log: (line) => console.log(line),
    signal: new AbortController().signal
  })
}

function findMaven() {
  const text = execFileSync('mvn', ['-B', '-v'], { encoding: 'utf8' })
  const home = /Maven home: (.*)/.exec(text)?.[1]?.trim()
  if (home === undefined) throw new Error(`mvn -v does not say where Maven is:\n${text}`)
  return home
}
