import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Shop, startShop } from '../../src/service/demo-shop.js'
import {
  createRun,
  createServices,
  type FormPart,
  get,
  specFields,
  until,
  waitForStatus
} from '../service/support.js'
import { describeWithBrowser } from '../support/element/browser.js'
import { K6, lacksK6 } from '../support/tools/k6.js'

// Real tools as users of their own, as a service that is root starts them.

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

/** Of processes whose command line has this word. */
function usersOf(word: string): number[] {
  const lines = execFileSync('ps', ['-axo', 'uid=,args='], { encoding: 'utf8' }).split('\n')
  return lines.filter((line) => line.includes(word)).map((line) => Number.parseInt(line, 10))
}

async function run(tool: string, files: readonly FormPart[], fields: Record<string, string>, word: string) {
  const cache = openFolder()
  const known = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'loadgate-jmeter')
  if (tool === 'jmeter' && existsSync(known))
    cpSync(known, join(cache, 'loadgate-jmeter'), { recursive: true })
  const k6 = join(cache, 'k6')
  if (tool === 'k6') copyFileSync(K6, k6)
  const env = { ...process.env, XDG_CACHE_HOME: cache, K6: k6, RUNNER_TOOL_CACHE: '' }
  const service = await services.start({ engine: 'real', isLasting: true, isolatesPlans: true, env })
  const form: FormPart[] = [
    ['run[tool]', tool],
    ...Object.entries(fields).map(([key, value]): FormPart => [`run[${key}]`, value]),
    ...specFields(),
    ...files
  ]
  const id = await createRun(service, form)
  await waitForStatus(service, `/runs/${id}`, ['running', 'finished', 'problem'], RUN_MS)
  const users = new Set<number>()
  await until(() => {
    usersOf(word).forEach((uid) => users.add(uid))
    return users.size > 0
  })
  const { json } = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'], RUN_MS)
  expect({ status: json.status, errors: json.remote_errors, said: service.lines }).toMatchObject({
    status: 'finished',
    errors: null
  })
  expect(service.lines.join('\n')).not.toContain('run as root')
  expect(Math.min(...users)).toBeGreaterThan(30_000)
  return (await get(service, `/runs/${id}/result.csv`)).text
}

const isRoot = process.getuid?.() === 0 && process.platform === 'linux'

;(isRoot ? describe : describe.skip)('as another user', () => {
  test('JMeter runs a plan', async () => {
    const files = ['plan.jmx', 'users.csv'].map((fileName) => ({
      name: 'run_files[]',
      fileName,
      content: example(fileName)
    }))
    const { port } = new URL(shop.url)
    const fields = { threads: '2', rampup: '1', duration: '8', override_parameters: `-Jport=${port}` }
    expect(await run('jmeter', files, fields, 'ApacheJMeter.jar')).toMatch(/\n\d+,/)
  })

  ;(lacksK6 ? test.skip : test)('k6 runs a script', async () => {
    const content = `import http from 'k6/http'\nexport default () => { http.get('${shop.url}/') }\n`
    const file = { name: 'run_files[]', fileName: 'plan.js', content }
    expect(await run('k6', [file], { threads: '1', duration: '8' }, 'k6 run')).toMatch(/\n\d+,/)
  })
})

describeWithBrowser('a browser as another user', () => {
  ;(isRoot ? test : test.skip)('runs a script', async () => {
    const content = [
      `import { step } from '@flood/element'`,
      `export const settings = { actionDelay: 0, stepDelay: 0 }`,
      `export default () => { step('Home', async (b) => { await b.visit('${shop.url}/') }) }`
    ].join('\n')
    const file = { name: 'run_files[]', fileName: 'plan.ts', content }
    expect(await run('service-chrome', [file], { threads: '1', duration: '8' }, 'user-data-dir')).toContain(
      ',Home,'
    )
  })
})
