import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Store } from '../../../src/service/store/store.js'
import { startService } from '../../../src/service/server.js'
import { runCommandLine } from '../../../src/cli/commands.js'
import { describeEnd } from '../../../src/cli/commands/demo-command.js'
import { EAGER_CLOCK, makeCommandPorts, type TestCommandPorts } from '../command-ports.js'
import { removeFolder } from '../../support/remove-folder.js'

let workspace: string
// One for each test: the folder for results is named after the second.
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'loadgate-terminal-'))
})
afterEach(() => removeFolder(workspace))

interface Demo extends TestCommandPorts {
  readonly events: string[]
}

function makeDemo(changes: Partial<TestCommandPorts> = {}): Demo {
  const events: string[] = []
  const ports = makeCommandPorts({
    workspace,
    clock: EAGER_CLOCK,
    examplesDir: resolve('examples'),
    findFiles: (root) => (pattern) => Promise.resolve([resolve(root, pattern)]),
    startShop: ({ slow, slowerBy }) => {
      events.push(slowerBy !== undefined ? `shop +${slowerBy}` : slow ? 'slow shop' : 'shop')
      const close = async (): Promise<void> => void events.push('shop closed')
      return Promise.resolve({ url: '', port: 8122 + events.length, served: () => 77, close })
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
  { tool: 'gatling', plan: 'LoginSimulation.java' },
  { tool: 'k6', plan: 'script.js' }
])('--login --tool $tool runs the example with a login', async ({ tool, plan }) => {
  const demo = makeDemo()
  expect(await runCommandLine(['demo', '--login', '--rehearse', '--tool', tool], demo)).toBe(0)
  const [output] = readdirSync(join(workspace, 'loadgate-results'))
  const verdict = readFileSync(join(workspace, 'loadgate-results', output!, 'verdict.json'), 'utf8')
  const { metrics } = JSON.parse(verdict) as { metrics: { labels: { label: string }[] } }
  expect(metrics.labels.map(({ label }) => label).sort()).toEqual(LOGIN_LABELS)
  expect(readFileSync(join('examples/login', plan), 'utf8')).toContain('open-sesame')
})

const LOGIN_LABELS = ['account', 'login', 'login form', 'orders', 'token']

test('--login says which tools have an example', async () => {
  const demo = makeDemo()
  await expect(runCommandLine(['demo', '--login', '--tool', 'service-chrome'], demo)).rejects.toThrow(
    '--login has no example for service-chrome'
  )
  expect(demo.events).toEqual([])
})

test.each([
  { tool: 'jmeter', plan: 'plan.jmx' },
  { tool: 'gatling', plan: 'ShopSimulation.java' },
  { tool: 'java-selenium-chrome', plan: 'ShopTest.java' },
  { tool: 'java-selenium-firefox', plan: 'ShopTest.java' },
  { tool: 'service-chrome', plan: 'shop.ts' },
  { tool: 'k6', plan: 'shop.js' }
])('--tool $tool runs its example', async ({ tool, plan }) => {
  const forms: string[] = []
  const demo = makeDemo({
    startLocalService: async ({ dataDir, log }) => {
      const store = new Store(dataDir)
      const service = await startService({ dataDir, store, engine: 'rehearsal', log })
      const close = async (): Promise<void> => {
        forms.push(...readRuns(store))
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

describe('k6 needs k6 and no Java', () => {
  const hasJava = (): Promise<never> => Promise.reject(new Error('not asked'))

  test('the shop is under load', async () => {
    const demo = makeDemo({ hasJava })
    await runCommandLine(['demo', '--tool', 'k6'], demo)
    expect(demo.events).toEqual(['shop', 'jmeter', 'shop closed'])
  })

  test('without k6 it is a rehearsal, and says so', async () => {
    const demo = makeDemo({ hasJava, hasK6: () => Promise.resolve(false) })
    expect(await runCommandLine(['demo', '--tool', 'k6'], demo)).toBe(0)
    expect(demo.events).toEqual(['shop', 'rehearsal', 'shop closed'])
    expect(demo.screen.out.text).toContain(
      'k6 was not found, so this is a rehearsal with synthetic samples. Install k6 1.0 or later (or set K6 to its path) for a real load test.'
    )
  })
})

test('an unknown tool is refused before anything starts', async () => {
  const demo = makeDemo()
  await expect(runCommandLine(['demo', '--tool', 'locust'], demo)).rejects.toThrow(
    '--tool: "locust" is invalid; expected one of jmeter, gatling, java-selenium-chrome, java-selenium-firefox, service-chrome, k6'
  )
  expect(demo.events).toEqual([])
})

/** A copy of the examples that the comparison uses, with its config changed. */
function copyExamples(change: (config: string) => string): string {
  const folder = join(workspace, 'clone', 'examples')
  for (const name of ['shop', 'side-by-side'])
    cpSync(resolve('examples', name), join(folder, name), { recursive: true })
  const config = join(folder, 'side-by-side', 'loadgate.yml')
  writeFileSync(config, change(readFileSync(config, 'utf8')))
  return folder
}

/** The tool, plan and parameters of the service's runs. */
function readRuns(store: Store): string[] {
  return store.listRuns({ offset: 0, limit: 99 }).runs.map(({ request, files }) => {
    const parameters = request.properties.map(({ name, value }) => `${name}=${value}`)
    return [request.tool, files[0]?.name, ...parameters].join(' ')
  })
}

test('the shop is closed when the gate cannot begin', async () => {
  const demo = makeDemo({ examplesDir: join(workspace, 'no', 'examples') })
  await expect(runCommandLine(['demo'], demo)).rejects.toThrow('cannot be read')
  expect(demo.events).toEqual(['shop', 'shop closed'])
})

describe('--compare', () => {
  test('opens a base and a head, runs them in turns, and closes both', async () => {
    const segments: string[] = []
    const demo = makeDemo({
      // The example with fewer rounds.
      examplesDir: copyExamples((config) => `${config}baseline-rounds: 3\n`),
      hasJava: () => Promise.resolve(false),
      startLocalService: async ({ dataDir, log }) => {
        log('Installing JMeter')
        log('local 46da67 node 1: Creating summariser')
        const store = new Store(dataDir)
        const service = await startService({ dataDir, store, engine: 'rehearsal', log })
        const close = async (): Promise<void> => {
          segments.push(...readRuns(store))
          await service.close()
        }
        return { ...service, close }
      }
    })
    expect(await runCommandLine(['demo', '--compare'], demo)).toBe(0)
    expect(demo.events).toEqual(['shop +0', 'shop +0.2', 'shop closed', 'shop closed'])
    // A warm-up and three rounds of each.
    const [base, head] = ['jmeter plan.jmx port=8123', 'jmeter plan.jmx port=8124']
    expect(segments.sort()).toEqual([...Array<string>(4).fill(base), ...Array<string>(4).fill(head)])
    const { text } = demo.screen.out
    expect(text).toContain(
      'Two demo shops are open: the base on 127.0.0.1:8123, the head on 127.0.0.1:8124, 20 % slower on every page.\n' +
        'Java was not found. Install Java 17 and Maven for a real comparison; until then it is a rehearsal with synthetic samples'
    )
    expect(text).toContain('median <= baseline + 5%')
    expect(text).toContain('The report, the CSVs and verdict.json are in ')
    expect(text).toContain('Installing JMeter\n')
    expect(text).not.toContain('summariser')
    expect(text).not.toContain('as it should')
  })

  test('with Java it says what happens, how long it takes, and what was to be found', async () => {
    const demo = makeDemo({ startLocalService: () => Promise.reject(new Error('no service')) })
    expect(await runCommandLine(['demo', '--compare', '--slower', '0%'], demo)).toBe(2)
    const { text } = demo.screen.out
    expect(text).toContain('8124, equally fast.\nJMeter visits them in turns')
    expect(text).toMatch(/The shops are equally fast\. The comparison did not end; the reason is above\.\n$/)
  })

  test.each([
    {
      outcomes: ['holds', 'broken'],
      slower: 20,
      words: '20 % slower, and the lines allow 5 %: the gate failed, as it should.'
    },
    {
      outcomes: ['holds', 'holds'],
      slower: 20,
      words: '20 % slower, and the lines allow 5 %: the gate is wrong this time.'
    },
    { outcomes: ['holds', 'unsure'], slower: 20, words: 'the gate could not tell this time.' },
    {
      outcomes: ['holds', 'unsure'],
      slower: 0,
      words: 'The shops are equally fast: no line is broken, as it should be.'
    },
    {
      outcomes: ['broken', 'holds'],
      slower: 0,
      words: 'The shops are equally fast: the gate is wrong this time.'
    },
    {
      outcomes: ['holds'],
      slower: 4,
      words: '4 % slower, and the lines allow 5 %: no line is broken, as it should be.'
    },
    {
      outcomes: [],
      slower: 0,
      words: 'The shops are equally fast. The comparison did not end; the reason is above.'
    }
  ])('$outcomes with a head slower by $slower %', ({ outcomes, slower, words }) => {
    expect(describeEnd(outcomes, slower)).toContain(words)
  })

  test.each([
    { args: ['--slower', '20'], words: '--slower only works with --compare' },
    { args: ['--compare', '--slower', '-5'], words: '--slower: "-5" is invalid; expected a percentage' },
    { args: ['--compare', '--slower', 'very'], words: '--slower: "very" is invalid; expected a percentage' },
    { args: ['--compare', '--slow'], words: '--slow does not apply with --compare; `--slower 50`' },
    {
      args: ['--compare', '--tool', 'gatling'],
      words: '--tool does not apply with --compare, which runs JMeter'
    }
  ])('$args is refused before anything starts', async ({ args, words }) => {
    const demo = makeDemo()
    await expect(runCommandLine(['demo', ...args], demo)).rejects.toThrow(words)
    expect(demo.events).toEqual([])
  })

  test('both shops are closed when the gate cannot begin, and the first when the second does not open', async () => {
    const demo = makeDemo({ examplesDir: join(workspace, 'no', 'examples') })
    await expect(runCommandLine(['demo', '--compare'], demo)).rejects.toThrow('cannot be read')
    expect(demo.events).toEqual(['shop +0', 'shop +0.2', 'shop closed', 'shop closed'])
    const first = makeDemo()
    const half = makeDemo({
      startShop: (options) =>
        options.slowerBy === 0 ? first.startShop(options) : Promise.reject(new Error('no port is free'))
    })
    await expect(runCommandLine(['demo', '--compare'], half)).rejects.toThrow('no port is free')
    expect(first.events).toEqual(['shop +0', 'shop closed'])
  })
})
