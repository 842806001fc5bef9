import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { cacheFolder } from '../../../../src/service/engines/install/install-once.js'
import { type JarList, readJar } from '../../../../src/service/engines/install/jars/jar-list.js'
import { findJMeter, type JMeter, readVersion } from '../../../../src/service/engines/jmeter/install.js'
import JMETER_JARS from '../../../../src/service/engines/jmeter/jmeter-jars.json' with { type: 'json' }
import { Processes } from '../../../../src/service/nodes/machine/processes.js'
import { createFolders } from '../../support.js'
import { writeJMeter, writeScript } from '../../stand-in.js'
import { callsOf, publish, writeMaven } from '../install/stand-in-maven.js'

const script = new URL('../../../../scripts/zip.mjs', import.meta.url).href
const { makeZip } = (await import(script)) as { makeZip: (files: Map<string, Buffer>) => Buffer }

const folders = createFolders()
afterAll(() => folders.remove())

let tools: string
let remote: string
let cache: string
let list: JarList
let lines: string[]
beforeEach(() => {
  tools = folders.create()
  remote = folders.create()
  cache = folders.create()
  list = servesAll()
  lines = []
})

/** Looks for JMeter on a PATH that has what the stand-ins need, and the stand-ins. */
function find(env: NodeJS.ProcessEnv = {}, progressEveryMs = 60_000): Promise<JMeter> {
  return findJMeter(
    {
      env: { PATH: tools, RUNNER_TOOL_CACHE: cache, ...env },
      processes: new Processes({ onStart: () => undefined, onEnd: () => undefined }),
      log: (line) => lines.push(line),
      signal: new AbortController().signal,
      progressEveryMs
    },
    list
  )
}

const writeJava = (): string => writeScript(join(tools, 'java'), ['echo "JMeter 5.6.3"'])

/** The jars of the distribution, each with its coordinates as content. */
const MODULES = JMETER_JARS.jars
  .map((line) => readJar(line).coordinates)
  .filter((coordinates) => coordinates.startsWith('org.apache.jmeter:'))
const coordinates = [...MODULES, 'org.apache.httpcomponents:httpclient:4.5.14']
const config = makeZip(
  new Map([
    ['META-INF/MANIFEST.MF', Buffer.from('')],
    ['bin/jmeter.properties', Buffer.from('a=b')],
    ['bin/templates/one.jmx', Buffer.from('<plan/>')]
  ])
)
const contentOf = (each: string): string | Buffer => (each.includes('_config:') ? config : each)

const servesAll = (): JarList =>
  publish(remote, 'jmeter-5.6.3', Object.fromEntries(coordinates.map((each) => [each, contentOf(each)])))

const installed = (): string => join(cache, 'loadgate-jmeter', '5.6.3-r2')

describe('where JMeter is found', () => {
  test('JMETER_HOME comes first', async () => {
    const home = writeJMeter(folders.create(), [])
    writeScript(join(tools, 'jmeter'), ['echo 1.2.3'])
    expect(await find({ JMETER_HOME: home })).toEqual({
      file: join(home, 'bin', 'jmeter'),
      args: [],
      version: '9.8.7',
      origin: join(home, 'bin', 'jmeter')
    })
  })

  test.each([
    { name: 'JMETER_HOME', folder: '.' },
    { name: 'PATH', folder: 'bin' }
  ])('a relative $name is relative to the working directory', async ({ name, folder }) => {
    const home = writeJMeter(folders.create(), [])
    const given = relative(process.cwd(), join(home, folder))
    expect(await find({ [name]: given })).toMatchObject({
      file: join(home, 'bin', 'jmeter'),
      version: '9.8.7'
    })
  })

  test('then jmeter on the PATH', async () => {
    writeScript(join(tools, 'jmeter'), ['echo 1.2.3'])
    mkdirSync(installed(), { recursive: true })
    writeFileSync(join(installed(), 'complete'), '')
    expect(await find({ JMETER_HOME: '' })).toMatchObject({ file: join(tools, 'jmeter'), version: '1.2.3' })
  })

  test('printing its version leaves no log in the working directory, as JMeter does by default', async () => {
    writeScript(join(tools, 'jmeter'), [
      'log=jmeter.log; [ "$2" != -j ] || log=$3',
      'echo started > "$log"; echo 1.2.3'
    ])
    rmSync('jmeter.log', { force: true })
    expect(await find({ JMETER_HOME: '' })).toMatchObject({ version: '1.2.3' })
    expect(readdirSync('.')).not.toContain('jmeter.log')
  })

  test('then the cached copy, without Maven', async () => {
    writeJava()
    writeMaven(tools, remote)
    await find()
    rmSync(join(tools, 'mvn'))
    lines = []
    const jmeter = await find({ JVM_ARGS: '-Xss2m', HEAP: '-Xmx3g' })
    expect(jmeter).toMatchObject({ file: join(tools, 'java'), version: '5.6.3', origin: installed() })
    expect(jmeter.args).toEqual(expect.arrayContaining(['-Xmx3g', '-Xss2m', '-jar']))
    expect(lines).toEqual([])
  })

  test.each([
    {
      env: { RUNNER_TOOL_CACHE: '/tools', XDG_CACHE_HOME: '/xdg', HOME: '/home/u' },
      folder: '/tools/loadgate-jmeter'
    },
    { env: { XDG_CACHE_HOME: '/xdg', HOME: '/home/u' }, folder: '/xdg/loadgate-jmeter' }
  ])('the copy lies in $folder', ({ env, folder }) => {
    expect(cacheFolder('loadgate-jmeter', env)).toBe(folder)
  })

  test("without either it lies in the user's cache folder", () => {
    expect(cacheFolder('loadgate-jmeter', { HOME: '/home/u' })).toMatch(
      /^\/home\/u\/(\.cache|Library\/Caches)\/loadgate-jmeter$/
    )
  })
})

describe('the version is what JMeter itself says', () => {
  const drawn = '/_/   \\_\\_| /_/   \\_\\____|_| |_|_____|  \\___/|_|  |_|_____| |_| |_____|_| \\_\\ 5.6.3'
  const copyright = 'Copyright (c) 1999-2024 The Apache Software Foundation'
  const noise = [
    'Picked up JAVA_TOOL_OPTIONS: -Duser.version=7.1',
    'OpenJDK 64-Bit Server VM warning: Option UseBiasedLocking was deprecated and will be removed in version 14.0',
    'WARNING: A terminally deprecated method in java.lang.System has been called in 17.0'
  ]

  test.each([
    { name: 'alone', lines: [drawn, '', copyright], version: '5.6.3' },
    { name: 'after the words of the JVM', lines: [...noise, drawn, copyright], version: '5.6.3' },
    { name: 'before them', lines: [drawn, copyright, ...noise], version: '5.6.3' },
    {
      name: 'of a build of their own',
      lines: [drawn.replace('5.6.3', '6.0-SNAPSHOT')],
      version: '6.0-SNAPSHOT'
    },
    { name: 'and nothing else', lines: [...noise, copyright], version: undefined }
  ])('$name', ({ lines, version }) => {
    expect(readVersion(lines)).toBe(version)
  })
})

describe('what is missing is named', () => {
  test.each([
    {
      name: 'no Java',
      prepare: () => undefined,
      message: /needs Java, and there is no java on the PATH: install a JDK/
    },
    {
      name: 'a Java that only tells people to install one',
      prepare: () => writeScript(join(tools, 'java'), ['echo "No Java runtime present" >&2', 'exit 1']),
      message: /does not run \(No Java runtime present\): install a JDK/
    },
    {
      name: 'no Maven',
      prepare: writeJava,
      message: /JMeter 5.6.3 is not installed, and installing it needs Maven/
    },
    {
      name: 'a jmeter that does not run',
      prepare: () => writeScript(join(tools, 'jmeter'), ['echo "java: not found"', 'exit 127']),
      message: /--version did not print a version: java: not found/
    }
  ])('$name', async ({ prepare, message }) => {
    prepare()
    await expect(find()).rejects.toThrow(message)
  })

  test('a JMETER_HOME without JMeter is no reason to take another one', async () => {
    writeScript(join(tools, 'jmeter'), ['echo 1.2.3'])
    await expect(find({ JMETER_HOME: folders.create() })).rejects.toThrow('there is no bin/jmeter in it')
  })

  test('a JAVA_HOME without Java', async () => {
    await expect(find({ JAVA_HOME: '/nowhere' })).rejects.toThrow(
      'JAVA_HOME is /nowhere, where there is no bin/java'
    )
  })
})

/** Everything in its place, with the bytes that were served. */
function expectWhole(): void {
  const home = installed()
  expect(readdirSync(join(home, 'lib')).sort()).toEqual([
    'ext',
    'httpclient-4.5.14.jar',
    'jorphan-5.6.3.jar',
    'junit'
  ])
  // All modules but JMeter's start, its library and its configuration.
  expect(readdirSync(join(home, 'lib', 'ext'))).toHaveLength(MODULES.length - 3)
  expect(readFileSync(join(home, 'bin', 'ApacheJMeter.jar'), 'utf8')).toBe(
    'org.apache.jmeter:ApacheJMeter:5.6.3'
  )
  expect(existsSync(join(home, 'bin', 'jmeter.properties'))).toBe(true)
  expect(readdirSync(join(cache, 'loadgate-jmeter'))).toEqual(['5.6.3-r2'])
}

describe('an installation', () => {
  test('puts everything in its place and says so', async () => {
    writeJava()
    writeMaven(tools, remote)
    const jmeter = await find({ GITHUB_TOKEN: 'secret', https_proxy: 'http://proxy' })
    expect(jmeter.args.at(-1)).toBe(join(installed(), 'bin', 'ApacheJMeter.jar'))
    expectWhole()
    expect(readFileSync(join(installed(), 'bin', 'jmeter.properties'), 'utf8')).toBe('a=b')
    expect(readFileSync(join(installed(), 'bin', 'templates', 'one.jmx'), 'utf8')).toBe('<plan/>')
    const environment = readFileSync(join(tools, 'environment'), 'utf8')
    expect(environment).toContain('https_proxy=http://proxy')
    expect(environment).not.toContain('secret')
    expect(lines).toEqual([`Installing JMeter 5.6.3 with Maven into ${installed()}, once`])
  })

  test('is done once', async () => {
    writeJava()
    writeMaven(tools, remote)
    await find()
    lines = []
    await find()
    expect(lines).toEqual([])
  })

  test('reports its progress', async () => {
    writeJava()
    writeMaven(tools, remote, { first: ['/bin/sleep 0.5'] })
    await find({}, 100)
    expect(
      lines.filter((line) => /^Installing JMeter 5.6.3: \d+ of \d+ files downloaded in \d+ s$/.test(line))
        .length
    ).toBeGreaterThan(1)
  })

  test.each([
    {
      name: 'a jar is not in any repository',
      script: { first: ['echo missing > "$outcome"; echo "Could not find it" >> "$outcome"; exit 1'] },
      message: /Maven could not download JMeter 5.6.3: Could not find it/
    },
    {
      name: 'a module is missing',
      script: { each: ['[ "$artifact" != ApacheJMeter ] || continue'] },
      message: /ApacheJMeter-5.6.3.jar is missing/
    },
    {
      name: 'a module has other bytes',
      script: { afterEach: ['[ "$artifact" != jorphan ] || echo garbage > "$to/$name"'] },
      message: /jorphan-5.6.3.jar has the SHA-256 [0-9a-f]{12}… instead of [0-9a-f]{12}…/
    },
    {
      name: 'Maven is killed',
      script: { first: ['kill -9 $$'] },
      message: /Maven could not download JMeter/
    },
    {
      name: 'Maven fails either way',
      script: { first: ['echo "[ERROR] Could not resolve"', 'exit 1'] },
      message: /Could not resolve/
    },
    {
      name: 'what was installed does not run',
      script: {},
      java: ['if [ "$1" = -version ]; then exit 0; fi; echo "cannot run"; exit 1'],
      message: /did not print a version: cannot run/
    }
  ])('is complete or not at all: $name', async ({ script, java, message }) => {
    writeScript(join(tools, 'java'), java ?? ['echo "JMeter 5.6.3"'])
    writeMaven(tools, remote, script)
    await expect(find()).rejects.toThrow(message)
    expect(readdirSync(join(cache, 'loadgate-jmeter'))).toEqual([])
    writeJava()
    writeMaven(tools, remote)
    expect(await find()).toMatchObject({ origin: installed() })
    expectWhole()
  })

  test.each(['5.6.3-r1', '5.6.3-r2'])('an incomplete or older one in %s is not used', async (name) => {
    writeJava()
    writeMaven(tools, remote)
    const old = join(cache, 'loadgate-jmeter', name)
    mkdirSync(join(old, 'lib'), { recursive: true })
    writeFileSync(join(old, 'lib', 'rubbish.jar'), '')
    await find()
    expect(existsSync(join(installed(), 'lib', 'rubbish.jar'))).toBe(false)
    expect(existsSync(join(installed(), 'complete'))).toBe(true)
  })

  test.each([
    {
      name: 'a jar with other bytes',
      damage: () => writeFileSync(join(installed(), 'bin', 'ApacheJMeter.jar'), 'other')
    },
    {
      name: 'a jar too many, which JMeter would load',
      damage: () => writeFileSync(join(installed(), 'lib', 'ext', 'foreign.jar'), 'foreign')
    },
    { name: 'an empty mark', damage: () => writeFileSync(join(installed(), 'complete'), '') }
  ])('is replaced if it has $name', async ({ damage }) => {
    writeJava()
    writeMaven(tools, remote)
    await find()
    damage()
    await find()
    expect(callsOf(tools)).toHaveLength(2)
    expectWhole()
  })

  test('may have its properties edited', async () => {
    writeJava()
    writeMaven(tools, remote)
    await find()
    writeFileSync(join(installed(), 'bin', 'jmeter.properties'), 'c=d')
    await find()
    expect(callsOf(tools)).toHaveLength(1)
  })

  test('two at once share one', async () => {
    writeJava()
    writeMaven(tools, remote, { first: ['/bin/sleep 0.5'] })
    const [one, other] = await Promise.all([find(), find()])
    expect(JSON.stringify(one)).toBe(JSON.stringify(other))
    expect(callsOf(tools)).toHaveLength(1)
    expectWhole()
  })
})
