import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Shop, startShop } from '../../src/service/demo-shop.js'
import {
  createRun,
  createServices,
  type FormPart,
  get,
  specFields,
  waitForStatus
} from '../service/support.js'
import { describeWithBrowser } from '../support/element/browser.js'
import { javaPlan as gatlingPlan } from './gatling-plans.js'
import { HOME, javaPlan as seleniumPlan } from './selenium-plans.js'
import { K6, lacksK6 } from '../support/tools/k6.js'

// Real tools as users of their own, as a team's service that is root starts them: it would rather not run a plan than run it as root.

const RUN_MS = 10 * 60_000
const example = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../examples/shop/${name}`, import.meta.url)), 'utf8')

const services = createServices()
let shop: Shop
beforeEach(async () => {
  shop = await startShop({ slow: false })
})
afterEach(() => shop.close())
afterAll(() => services.closeAll())

/** What every user can read. */
function openFolder(): string {
  const dir = services.folder()
  chmodSync(dir, 0o755)
  return dir
}

const caches = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
const geckodriver = process.env.GECKODRIVER ?? join(caches, 'loadgate-geckodriver/bin/geckodriver')

/** The tools that are installed already, where every user can read them. */
function openTools(): NodeJS.ProcessEnv {
  const cache = openFolder()
  const isWhole = (path: string): boolean => !/\/installing-|\.lock$/.test(path)
  for (const name of ['loadgate-jmeter', 'loadgate-tools'].filter((each) => existsSync(join(caches, each))))
    cpSync(join(caches, name), join(cache, name), { recursive: true, filter: isWhole })
  const programs = { K6, GECKODRIVER: geckodriver }
  const copies = Object.entries(programs).flatMap(([name, file]) => {
    if (!existsSync(file)) return []
    const copy = join(cache, basename(file))
    copyFileSync(file, copy)
    return [[name, copy] as const]
  })
  return { ...process.env, XDG_CACHE_HOME: cache, RUNNER_TOOL_CACHE: '', ...Object.fromEntries(copies) }
}

const isRoot = process.getuid?.() === 0 && process.platform === 'linux'
let env: NodeJS.ProcessEnv
beforeAll(() => {
  if (isRoot) env = openTools()
})

const fileOf = (fileName: string, content: string): FormPart => ({ name: 'run_files[]', fileName, content })

/** The rows of a run whose commands were all of other users, and what was said. */
async function run(tool: string, files: readonly FormPart[], fields: Record<string, string>) {
  const users: number[] = []
  const service = await services.start({
    ...{ engine: 'real', isLasting: true, isolatesPlans: 'always', env },
    onProcess: ({ uid }) => {
      if (uid !== undefined) users.push(uid)
    }
  })
  const form: FormPart[] = [
    ['run[tool]', tool],
    ...Object.entries(fields).map(([key, value]): FormPart => [`run[${key}]`, value]),
    ...specFields(),
    ...files
  ]
  const id = await createRun(service, form)
  const { json } = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'], RUN_MS)
  // On a busy machine load may be lost, which is not the subject.
  expect({ status: json.status, said: service.lines }).toMatchObject({ status: 'finished' })
  expect(Math.min(...users)).toBeGreaterThan(30_000)
  expect(users).not.toEqual([])
  return { rows: (await get(service, `/runs/${id}/result.csv`)).text, said: service.lines.join('\n') }
}

/** Skipped where it is missing, unless tools are required. */
const having = (...programs: string[]) =>
  process.env.LOADGATE_REQUIRE_TOOLS !== undefined ||
  programs.every((name) => existsSync(name) || spawnSync('which', [name]).status === 0)
    ? test
    : test.skip

;(isRoot ? describe : describe.skip)('as another user', () => {
  test('JMeter runs a plan', async () => {
    const files = ['plan.jmx', 'users.csv'].map((name) => fileOf(name, example(name)))
    const port = `-Jport=${new URL(shop.url).port}`
    const fields = { threads: '2', rampup: '1', duration: '5', override_parameters: port }
    expect((await run('jmeter', files, fields)).rows).toMatch(/\n\d+,/)
  })

  having('javac')('Gatling runs a simulation, with a home and temporary files of its own', async () => {
    const folders = ['user.home', 'java.io.tmpdir']
      .map((name) => `System.getProperty("${name}")`)
      .join(' + " " + ')
    const tell = `exec(session -> { System.out.println("folders " + ${folders}); return session; })`
    const plan = fileOf('Plan.java', gatlingPlan(`${tell}, http("home").get("/")`))
    const port = `-Dport=${new URL(shop.url).port}`
    const { rows, said } = await run('gatling', [plan], { threads: '1', override_parameters: port })
    expect(rows).toMatch(/\n\d+,\d+,home,200/)
    const [, home, temp] = /folders (\S+) (\S+)/.exec(said) ?? []
    expect(home).toBe(`${temp}/home`)
    expect(existsSync(temp!)).toBe(false)
  })

  having('javac', 'chromedriver')('Selenium runs a plan with Chrome', () => runSelenium('chrome'))
  having(
    'javac',
    'firefox-esr',
    geckodriver
  )('Selenium runs a plan with Firefox', () => runSelenium('firefox'))

  async function runSelenium(browser: string): Promise<void> {
    const fields = { threads: '1', duration: '5', override_parameters: `-Dtarget=${shop.url}` }
    const plan = fileOf('Plan.java', seleniumPlan(HOME))
    expect((await run(`java-selenium-${browser}`, [plan], fields)).rows).toContain(',Home,')
  }

  ;(lacksK6 ? test.skip : test)('k6 runs a script', async () => {
    const script = `import http from 'k6/http'\nexport default () => { http.get('${shop.url}/') }\n`
    const { rows } = await run('k6', [fileOf('plan.js', script)], { threads: '1', duration: '3' })
    expect(rows).toMatch(/\n\d+,/)
  })
})

describeWithBrowser('a browser as another user', () => {
  ;(isRoot ? test : test.skip)('runs a script', async () => {
    const script = [
      `import { step } from '@flood/element'`,
      `export const settings = { actionDelay: 0, stepDelay: 0 }`,
      `export default () => { step('Home', async (b) => { await b.visit('${shop.url}/') }) }`
    ].join('\n')
    const { rows } = await run('service-chrome', [fileOf('plan.ts', script)], { threads: '1', duration: '5' })
    expect(rows).toContain(',Home,')
  })
})
