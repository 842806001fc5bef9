import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { RunRecord } from '../../src/server/store/records.js'
import { startService } from '../../src/server/server.js'
import { runCommandLine } from '../../src/terminal/commands.js'
import { makeCommandPorts } from './command-ports.js'
import type { TestCommandPorts } from './command-ports.js'

let workspace: string
beforeAll(() => {
  workspace = mkdtempSync(join(tmpdir(), 'loadgate-terminal-'))
})
afterAll(() => rmSync(workspace, { recursive: true }))

interface Demo extends TestCommandPorts {
  readonly events: string[]
}

function makeDemo(changes: Partial<TestCommandPorts> = {}): Demo {
  const events: string[] = []
  const ports = makeCommandPorts({
    workspace,
    examplesDir: resolve('examples'),
    findFiles: (root) => (pattern) => Promise.resolve([resolve(root, pattern)]),
    startShop: ({ slow }) => {
      events.push(slow ? 'slow shop' : 'shop')
      const close = async (): Promise<void> => void events.push('shop closed')
      return Promise.resolve({ port: 8123, served: () => 77, close })
    },
    startLocalService: ({ dataDir, rehearse, log }) => {
      events.push(rehearse ? 'rehearsal' : 'jmeter')
      return startService({ dataDir, engine: 'rehearsal', log })
    },
    ...changes
  })
  return { ...ports, events }
}

test('with Java the shop is under load, and closed at the end; a token in the environment does not matter', async () => {
  const demo = makeDemo({ token: 'for-some-service' })
  expect(await runCommandLine(['demo'], demo)).toBe(0)
  expect(demo.events).toEqual(['shop', 'jmeter', 'shop closed'])
  const { text } = demo.screen.out
  expect(text).toMatch(/^A demo shop is open on 127\.0\.0\.1:8123\.\n/)
  expect(text).toMatch(/The shop answered 77 requests\.\n$/)
  // The example's files were found in the clone; the results are where the command was typed.
  const [output] = readdirSync(join(workspace, 'loadgate-results'))
  expect(text).toContain(`verdict.json are in ${join(workspace, 'loadgate-results', output!)}`)
})

test('without Java it is a rehearsal, and says so before and after', async () => {
  const demo = makeDemo({ hasJava: () => Promise.resolve(false) })
  expect(await runCommandLine(['demo', '--slow'], demo)).toBe(0)
  expect(demo.events).toEqual(['slow shop', 'rehearsal', 'shop closed'])
  const { text } = demo.screen.out
  expect(text).toContain('Java was not found, so this is a rehearsal with synthetic samples.')
  expect(text).toMatch(/^PASSED \(rehearsal, synthetic samples\): /m)
  expect(text).not.toContain('The shop answered')
})

test.each([
  { tool: 'jmeter', plan: 'plan.jmx' },
  { tool: 'gatling', plan: 'ShopSimulation.java' },
  { tool: 'java-selenium-chrome', plan: 'ShopTest.java' },
  { tool: 'java-selenium-firefox', plan: 'ShopTest.java' },
  { tool: 'service-chrome', plan: 'shop.ts' }
])('--tool $tool runs its example', async ({ tool, plan }) => {
  const forms: string[] = []
  const demo = makeDemo({
    startLocalService: async ({ dataDir, log }) => {
      const service = await startService({ dataDir, engine: 'rehearsal', log })
      const close = async (): Promise<void> => {
        forms.push(...readRuns(dataDir))
        await service.close()
      }
      return { ...service, close }
    }
  })
  const code = await runCommandLine(['demo', '--tool', tool, '--rehearse'], demo)
  // Its thresholds find their labels, and hold.
  expect(code).toBe(0)
  expect(forms).toEqual([`${tool} ${plan} port=8123`])
})

test('a browser’s tool needs no Java', async () => {
  const demo = makeDemo({ hasJava: () => Promise.reject(new Error('not asked')) })
  await runCommandLine(['demo', '--tool', 'service-chrome'], demo)
  expect(demo.events).toEqual(['shop', 'jmeter', 'shop closed'])
})

test('an unknown tool is refused before anything starts', async () => {
  const demo = makeDemo()
  await expect(runCommandLine(['demo', '--tool', 'k6'], demo)).rejects.toThrow(
    '--tool: "k6" is not one of jmeter, gatling, java-selenium-chrome, java-selenium-firefox, service-chrome.'
  )
  expect(demo.events).toEqual([])
})

/** The tool, plan and parameters of the service's runs. */
function readRuns(dataDir: string): string[] {
  return readdirSync(join(dataDir, 'runs')).map((id) => {
    const text = readFileSync(join(dataDir, 'runs', id, 'run.json'), 'utf8')
    const { request, files } = JSON.parse(text) as RunRecord
    const parameters = request.properties.map(({ name, value }) => `${name}=${value}`)
    return [request.tool, files[0]?.name, ...parameters].join(' ')
  })
}

test('the shop is closed when the gate cannot begin', async () => {
  const demo = makeDemo({ examplesDir: join(workspace, 'no', 'examples') })
  await expect(runCommandLine(['demo'], demo)).rejects.toThrow('cannot be read')
  expect(demo.events).toEqual(['shop', 'shop closed'])
})
