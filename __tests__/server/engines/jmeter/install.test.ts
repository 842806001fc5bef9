import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import {
  cacheFolder,
  findJMeter,
  type JMeter,
  readVersion
} from '../../../../src/server/engines/jmeter/install.js'
import { JMETER_POM, REQUIRED_JARS } from '../../../../src/server/engines/jmeter/pom.js'
import { Processes } from '../../../../src/server/nodes/processes.js'
import { createFolders } from '../../support.js'
import { writeJMeter, writeScript } from '../../stand-in.js'

const folders = createFolders()
afterAll(() => folders.remove())

let tools: string
let cache: string
let lines: string[]
beforeEach(() => {
  tools = folders.create()
  cache = folders.create()
  lines = []
})

/** Looks for JMeter on a PATH that has what the stand-ins need, and the stand-ins. */
function find(env: NodeJS.ProcessEnv = {}, progressEveryMs = 60_000): Promise<JMeter> {
  return findJMeter({
    env: { PATH: tools, RUNNER_TOOL_CACHE: cache, ...env },
    processes: new Processes({ onStart: () => undefined, onEnd: () => undefined }),
    log: (line) => lines.push(line),
    signal: new AbortController().signal,
    progressEveryMs
  })
}

const writeJava = (): string => writeScript(join(tools, 'java'), ['echo "JMeter 5.6.3"'])

/** A Maven that "downloads" what it is told to, with shell builtins only: nothing else is on its PATH. */
function writeMaven(jars: readonly string[] = REQUIRED_JARS, lines: readonly string[] = []): void {
  const fetch = jars.map((jar) => `: > jars/${jar}; echo "Downloaded from somewhere: ${jar}"`)
  writeScript(join(tools, 'mvn'), [
    `/bin/mkdir -p jars home/bin '${tools}/notes'`,
    `/bin/cp pom.xml '${tools}/notes/pom.xml'; /usr/bin/env > '${tools}/notes/environment'`,
    ...lines,
    ...fetch,
    ': > home/bin/jmeter.properties',
    ': > jars/httpclient-4.5.14.jar'
  ])
}

const installed = (): string => join(cache, 'loadgate-jmeter', '5.6.3-r1')

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
    mkdirSync(installed(), { recursive: true })
    writeFileSync(join(installed(), 'complete'), '')
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
    expect(cacheFolder(env)).toBe(folder)
  })

  test("without either it lies in the user's cache folder", () => {
    expect(cacheFolder({ HOME: '/home/u' })).toMatch(
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
    { name: 'no Maven', prepare: writeJava, message: /installing it needs Maven: install Maven or JMeter/ },
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
    await expect(find({ JAVA_HOME: '/nowhere' })).rejects.toThrow('/nowhere/bin/java cannot be started')
  })
})

describe('an installation', () => {
  test('puts everything in its place and says so', async () => {
    writeJava()
    writeMaven()
    const jmeter = await find({ GITHUB_TOKEN: 'secret', https_proxy: 'http://proxy' })
    expect(jmeter.args.at(-1)).toBe(join(installed(), 'bin', 'ApacheJMeter.jar'))
    expect(readdirSync(join(installed(), 'lib')).sort()).toEqual([
      'ext',
      'httpclient-4.5.14.jar',
      'jorphan-5.6.3.jar',
      'junit'
    ])
    expect(readdirSync(join(installed(), 'lib', 'ext'))).toHaveLength(REQUIRED_JARS.length - 2)
    expect(readdirSync(join(installed(), 'bin')).sort()).toEqual(['ApacheJMeter.jar', 'jmeter.properties'])
    expect(readFileSync(join(tools, 'notes', 'pom.xml'), 'utf8')).toBe(JMETER_POM)
    const environment = readFileSync(join(tools, 'notes', 'environment'), 'utf8')
    expect(environment).toContain('https_proxy=http://proxy')
    expect(environment).not.toContain('secret')
    expect(lines).toEqual([
      `Installing JMeter 5.6.3 with Maven into ${installed()}, once; this may take a few minutes`,
      'JMeter 5.6.3 is installed'
    ])
  })

  test('is done once', async () => {
    writeJava()
    writeMaven()
    await find()
    lines = []
    await find()
    expect(lines).toEqual([])
  })

  test('reports its progress', async () => {
    writeJava()
    writeMaven(REQUIRED_JARS, ['/bin/sleep 0.5'])
    await find({}, 100)
    expect(
      lines.filter((line) => /^Installing JMeter: \d+ files downloaded in \d+ s$/.test(line)).length
    ).toBeGreaterThan(1)
  })

  test.each([
    {
      name: 'Maven fails',
      jars: [],
      script: ['echo "[ERROR] Could not resolve"', 'exit 1'],
      message: /Could not resolve/
    },
    {
      name: 'a module is missing',
      jars: REQUIRED_JARS.slice(1),
      script: [],
      message: /without ApacheJMeter-5.6.3.jar/
    },
    {
      name: 'Maven is killed',
      jars: REQUIRED_JARS,
      script: ['kill -9 $$'],
      message: /Maven could not download JMeter/
    }
  ])('is complete or not at all: $name', async ({ jars, script, message }) => {
    writeJava()
    writeMaven(jars, script)
    await expect(find()).rejects.toThrow(message)
    expect(readdirSync(join(cache, 'loadgate-jmeter'))).toEqual([])
    writeMaven()
    expect(await find()).toMatchObject({ origin: installed() })
  })

  test('an incomplete installation is not used', async () => {
    writeJava()
    writeMaven()
    mkdirSync(join(installed(), 'lib'), { recursive: true })
    writeFileSync(join(installed(), 'lib', 'rubbish.jar'), '')
    await find()
    expect(existsSync(join(installed(), 'lib', 'rubbish.jar'))).toBe(false)
    expect(existsSync(join(installed(), 'complete'))).toBe(true)
  })

  test('two at once do not harm each other: the first that is ready stays', async () => {
    writeJava()
    writeMaven(REQUIRED_JARS, [`if /bin/mkdir '${tools}/slow' 2>/dev/null; then /bin/sleep 0.6; fi`])
    const both = [find(), find()]
    const first = await Promise.race(both)
    const { ino } = statSync(installed())
    expect(await Promise.all(both)).toEqual([first, first])
    expect(statSync(installed()).ino).toBe(ino)
    expect(readdirSync(join(cache, 'loadgate-jmeter'))).toEqual(['5.6.3-r1'])
    expect(readdirSync(join(installed(), 'lib', 'ext'))).toHaveLength(REQUIRED_JARS.length - 2)
  })
})
