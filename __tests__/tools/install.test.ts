import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BROWSER_PACKAGES } from '../../src/service/engines/browser/browser.js'
import { installJars, requireMaven } from '../../src/service/engines/install/jars/fetch-jars.js'
import { installPackages } from '../../src/service/engines/install/install-packages.js'
import type { InstallPorts } from '../../src/service/engines/install/run-to-end.js'
import { type JarList, readJar } from '../../src/service/engines/install/jars/jar-list.js'
import JMETER_JARS from '../../src/service/engines/jmeter/jmeter-jars.json' with { type: 'json' }
import SELENIUM_3_JARS from '../../src/service/engines/selenium/selenium-3-jars.json' with { type: 'json' }
import { Processes } from '../../src/service/nodes/machine/processes.js'
import { createFolders } from '../service/support.js'
import { fetchByPom } from '../support/fetch-by-pom.js'

/** The build reads some 400 POMs if Maven's local repository has none of them. */
const BUILD_MS = 15 * 60_000
const QUICK_MS = 3 * 60_000

const hasMaven = spawnSync('mvn', ['-v']).status === 0
/** Where tools are required, a test that lacks Maven fails instead. */
const lacksMaven = !hasMaven && process.env.LOADGATE_REQUIRE_TOOLS === undefined
const describeWithMaven = lacksMaven ? describe.skip : describe
const note = lacksMaven ? ' (skipped: there is no mvn on the path)' : ''

const folders = createFolders()
afterAll(() => folders.remove())

let cache: string
let home: string
let lines: string[]
beforeEach(() => {
  cache = folders.create()
  home = folders.create()
  lines = []
})

function portsWith(env: NodeJS.ProcessEnv = {}): InstallPorts {
  return {
    env: { ...process.env, RUNNER_TOOL_CACHE: '', XDG_CACHE_HOME: cache, ...env },
    processes: new Processes({ onStart: () => undefined, onEnd: () => undefined }),
    log: (line) => lines.push(line),
    signal: new AbortController().signal
  }
}

const localRepository = (): string => join(home, '.m2', 'repository')
/** Maven takes its home from the JVM, whatever the environment says. */
const freshHome = (): NodeJS.ProcessEnv => ({ MAVEN_OPTS: `-Duser.home=${home}` })
const emptyRepository = (): NodeJS.ProcessEnv => ({ MAVEN_OPTS: `-Dmaven.repo.local=${localRepository()}` })
const fileNames = ({ jars }: JarList): string[] => jars.map((line) => readJar(line).fileName)
const hashesIn = (folder: string, list: JarList): string[] =>
  fileNames(list).map((name) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')
  )

describeWithMaven(`real Maven${note}`, () => {
  test(
    'brings exactly the jars of a list from an empty local repository, and no POM of theirs',
    async () => {
      const folder = await installJars(JMETER_JARS, portsWith(emptyRepository()))
      expect(hashesIn(folder, JMETER_JARS)).toEqual(JMETER_JARS.jars.map((line) => readJar(line).sha256))
      expect(readdirSync(folder).sort()).toEqual([...fileNames(JMETER_JARS), 'complete'].sort())
      const fetched = readdirSync(localRepository(), { recursive: true, encoding: 'utf8' })
      expect(fetched.filter((name) => name.endsWith('.jar'))).toHaveLength(JMETER_JARS.jars.length)
      expect(fetched.filter((name) => name.endsWith('.pom'))).toEqual([])
    },
    QUICK_MS
  )

  test(
    'brings the same jars, byte for byte, as the dependencies of a build',
    async () => {
      const [jars, work] = [folders.create(), folders.create()]
      const ports = portsWith()
      await fetchByPom({ maven: await requireMaven(ports, 'JMeter'), jars, home, work }, ports)
      const isConfig = (name: string): boolean => name.startsWith('ApacheJMeter_config-')
      const list = {
        ...JMETER_JARS,
        jars: JMETER_JARS.jars.filter((line) => !isConfig(readJar(line).fileName))
      }
      expect(hashesIn(jars, list)).toEqual(list.jars.map((line) => readJar(line).sha256))
      expect(readdirSync(jars).sort()).toEqual(fileNames(list).sort())
      expect(readdirSync(join(home, 'bin'))).toContain('jmeter.properties')
    },
    BUILD_MS
  )

  describe('and a mirror', () => {
    let server: Server
    let requests: string[]
    afterEach(async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    })

    async function startMirror(answer: RequestListener): Promise<void> {
      requests = []
      server = createServer((request, response) => {
        requests.push(request.url ?? '')
        answer(request, response)
      })
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
      const { port } = server.address() as AddressInfo
      mkdirSync(join(home, '.m2'))
      writeFileSync(
        join(home, '.m2', 'settings.xml'),
        `<settings><mirrors><mirror><id>mirror</id><mirrorOf>*</mirrorOf><url>http://127.0.0.1:${port}/</url></mirror></mirrors></settings>`
      )
    }

    test(
      "of the user's settings is used; garbage from it is not, and is told with the hashes",
      async () => {
        await startMirror((_request, response) => response.end('<html>Please log in</html>'))
        await expect(installJars(SELENIUM_3_JARS, portsWith(freshHome()))).rejects.toThrow(
          /selenium-3.141.59 was not installed, because .*: check the mirrors.* \([\w.-]+\.jar has the SHA-256 [0-9a-f]{12}… instead of [0-9a-f]{12}…/
        )
        expect(new Set(requests.filter((url) => url.endsWith('.jar'))).size).toBe(SELENIUM_3_JARS.jars.length)
        expect(readdirSync(join(cache, 'loadgate-tools'))).toEqual([])
      },
      QUICK_MS
    )

    test(
      'that breaks off in the middle of a jar is told in its words',
      async () => {
        await startMirror((_request, response) => {
          response.writeHead(200, { 'content-length': '100000' })
          response.write('half')
          setTimeout(() => response.destroy(), 20)
        })
        await expect(installJars(SELENIUM_3_JARS, portsWith(freshHome()))).rejects.toThrow(
          /Maven could not download selenium-3.141.59: Could not transfer artifact .*Check the network/
        )
        expect(readdirSync(join(cache, 'loadgate-tools'))).toEqual([])
      },
      QUICK_MS
    )

    test(
      'that has none of the jars is told in its words, and asked for one only',
      async () => {
        await startMirror((_request, response) => response.writeHead(404).end())
        await expect(installJars(SELENIUM_3_JARS, portsWith(freshHome()))).rejects.toThrow(
          /Could not find artifact com.google.code.findbugs:jsr305:jar:1.3.9 in mirror .*Check the network/
        )
        expect(new Set(requests.filter((url) => url.endsWith('.jar'))).size).toBe(1)
      },
      QUICK_MS
    )
  })
})

test(
  'real npm installs the packages of the browser engine, and the compiler among them runs',
  async () => {
    const folder = await installPackages(BROWSER_PACKAGES, portsWith())
    const { name } = JSON.parse(
      readFileSync(join(folder, 'node_modules/playwright-core/package.json'), 'utf8')
    ) as { name: string }
    expect(name).toBe('playwright-core')
    const script = `
      const { transform } = await import(${JSON.stringify(pathToFileURL(join(folder, 'node_modules/esbuild-wasm/lib/main.js')).href)})
      console.log((await transform('let a: number = 1', { loader: 'ts' })).code)`
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8'
    })
    expect({ stdout, stderr }).toEqual({ stdout: 'let a = 1;\n\n', stderr: '' })
  },
  QUICK_MS
)
