import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand, startCommand, until, type Command, type Ended } from '../../e2e/cli-command.js'
import { browserPath, describeWithBrowser } from '../../support/element/browser.js'
import { Target } from '../../support/element/target.js'
import { removeFolder } from '../../support/remove-folder.js'

const TOKEN = 'a-token-for-this-test'
const GRIDS =
  '[{ region: us-east-1, instance_quantity: 1, instance_type: small, infrastructure: demand, stop_after: 9 }]'
const QUICK = `actionDelay: 0, stepDelay: 0, waitTimeout: '5s'`

let folder: string
let target: Target
let env: Record<string, string>
let started: Command[]

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-chrome-'))
  target = await Target.start()
  env = { XDG_STATE_HOME: join(folder, 'state') }
  started = []
})
afterEach(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await Promise.all(started.map(({ ended }) => ended))
  await target.close()
  removeFolder(folder)
})

const script = (settings: string, ...steps: string[]): string =>
  [
    `import { step, By, Until, TestData, ENV } from '@flood/element'`,
    `const home = process.env.TARGET`,
    `export const settings = { ${QUICK}, ${settings} }`,
    `export default () => {`,
    ...steps,
    `}`
  ].join('\n')

const VISIT = `step('Home', async (browser) => { await browser.visit(home + '/page') })`

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return name
}

interface Gate extends Ended {
  readonly verdict: string
  readonly samples: number
  readonly failures: number
  /** Everything that was said. */
  readonly text: string
  readonly labels: readonly string[]
  /** With its version. */
  readonly tool: string
}

/** The gate with the embedded service, on the committed bundles. */
async function gate(files: string, ...args: string[]): Promise<Gate> {
  const all = ['run', '--base-url', 'local', '--tool', 'service-chrome', '--files', files, '--output', 'out']
  const parameters = ['--override-parameters', `-DTARGET=${target.url}`]
  const ended = await runCommand([...all, ...parameters, ...args], { cwd: folder, env })
  const file = join(folder, 'out', 'verdict.json')
  const document = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Document) : undefined
  return {
    ...ended,
    text: `${ended.out}\n${ended.err}`,
    verdict: document?.verdict ?? 'none',
    samples: document?.metrics?.overall?.samples ?? 0,
    failures: document?.metrics?.overall?.failures ?? 0,
    labels: document?.metrics?.labels.map(({ label }) => label) ?? [],
    tool: document?.run?.tool ?? 'none'
  }
}

interface Document {
  readonly verdict: string
  readonly run?: { readonly tool?: string } | null
  readonly metrics?: {
    readonly overall: { readonly samples: number; readonly failures: number } | null
    readonly labels: readonly { readonly label: string }[]
  }
}

describeWithBrowser('the gate with a script on this machine', () => {
  test('passes, and has a row for every transaction of the target', async () => {
    const plan = script(
      'loopCount: 4',
      VISIT,
      `step('Next', async (browser) => { await browser.visit(home + '/next') })`
    )
    const result = await gate(
      write('plan.ts', plan),
      '--threads',
      '2',
      '--thresholds',
      'error_rate < 1%\np95 < 30s'
    )
    expect(result.text).toContain('PASSED')
    expect(result).toMatchObject({ code: 0, verdict: 'passed', samples: 16, failures: 0 })
    expect(result.tool).toMatch(/^service-chrome-Playwright \d+\.\d+\.\d+, \S.* \d+\.\d+\.\d+/)
    expect([target.hits('/page'), target.hits('/next')]).toEqual([8, 8])
    expect(result.text).toContain(`(${browserPath()}, on the PATH)`)
    expect(result.labels).toEqual(expect.arrayContaining(['Home', 'Home [ttfb]', 'Home [load]', 'Next']))
  })

  test('fails for steps that fail, and for pages that respond with an error', async () => {
    const plan = script(
      'loopCount: 2',
      VISIT,
      `step('Broken', async (browser) => { await browser.visit(home + '/broken') })`,
      `step('Missing', async (browser) => { await browser.visit(home + '/other'); await browser.click('#missing') })`
    )
    const result = await gate(write('plan.ts', plan), '--threads', '2', '--thresholds', 'error_rate < 1%')
    expect(result).toMatchObject({ code: 1, verdict: 'failed', samples: 12, failures: 8 })
    expect([target.hits('/page'), target.hits('/broken'), target.hits('/other')]).toEqual([4, 4, 4])
    const verdict = readFileSync(join(folder, 'out', 'verdict.json'), 'utf8')
    expect(verdict).toContain("no element was found by By.css('#missing')")
    expect(verdict).toContain('the page responded with 500')
  })

  test('ends after the duration with a row for every transaction', async () => {
    const result = await gate(write('plan.ts', script('', VISIT)), '--threads', '2', '--duration', '8s')
    expect(result.text).toContain('PASSED')
    expect(result).toMatchObject({ code: 0, verdict: 'passed', failures: 0 })
    expect(result.samples).toBe(target.hits('/page'))
    expect(result.samples).toBeGreaterThan(2)
  })

  test('gives the script its parameters, its place and its data, but nothing of the environment', async () => {
    const words = [
      ...['process.env.threads', 'process.env.rampup', 'process.env.colour', 'process.env.size', 'data.user'],
      ...['ENV.BROWSER_ID', 'ENV.FLOOD_LOAD_TEST', 'ENV.FLOOD_GRID_REGION', 'process.env.SECRET_OF_THE_JOB'],
      'process.env.LOADGATE_TOKEN'
    ]
    const plan = script(
      'loopCount: 1',
      `TestData.fromCSV('users.csv')`,
      `step('Say', async (browser, data) => { await browser.visit(home + '/' + [${words.join(', ')}].map(String).join('-')) })`
    )
    write('users.csv', 'user\nanna\n')
    env.SECRET_OF_THE_JOB = 'secret'
    const parameters = `-DTARGET=${target.url} -Dcolour=red -Jsize=large`
    const result = await gate(
      ...[`${write('plan.ts', plan)}\nusers.csv`, '--threads', '1', '--rampup', '1'],
      ...['--override-parameters', parameters]
    )
    expect(result.text).toContain('PASSED')
    expect(target.hits('/1-1-red-large-anna-1-true-local-undefined-undefined')).toBe(1)
  })

  test('passes whatever the script prints', async () => {
    const print = `process.stdout.write('x'.repeat(2e7)); process.stderr.write('.')`
    const result = await gate(
      write('plan.ts', script('loopCount: 2', VISIT, `step('Print', async () => { ${print} })`))
    )
    expect(result).toMatchObject({ code: 0, verdict: 'passed', samples: 4, failures: 0 })
  })

  test("takes the service's own word in the names of tool and package", async () => {
    const plan = script('loopCount: 1', VISIT).replace('@flood/element', '@acme/element')
    const result = await gate(write('plan.js', plan), '--service-name', 'acme')
    expect(result).toMatchObject({ code: 0, samples: 1 })
  })

  test('sends a host to another address', async () => {
    const plan = script(
      'loopCount: 1',
      `step('Home', async (browser) => { await browser.visit('http://shop.example:' + process.env.PORT + '/page') })`
    )
    const result = await gate(
      ...[write('plan.ts', plan), '--override-hosts', 'shop.example/127.0.0.1'],
      ...['--override-parameters', `-DPORT=${target.port}`]
    )
    expect(result).toMatchObject({ code: 0, samples: 1, failures: 0 })
    expect(target.headers[0]!.host).toBe(`shop.example:${target.port}`)
  })
})

describeWithBrowser('never green', () => {
  const fails = (result: Gate): void => {
    expect(result.code).toBe(2)
    expect(['inconclusive', 'error']).toContain(result.verdict)
  }

  test.each([
    {
      name: 'a script that does not compile',
      plan: `import { step } from '@flood/element'\nexport default () => {\n  step('a', async (b => {\n}`,
      words: /plan\.ts does not compile:\s[^]*plan\.ts:4:\d+: /
    },
    {
      name: 'a name that the API does not have',
      plan: `import { step, nonsense } from '@flood/element'\nexport default () => step('a', nonsense)`,
      words: /plan\.ts:1:\d+: No matching export .* for import "nonsense"/
    },
    {
      name: 'a package that is not there',
      plan: `import { step } from '@flood/element'\nimport faker from 'faker'\nexport default () => step('a', async () => faker)`,
      words: /plan\.ts:2:\d+: the package "faker" is not available to scripts.*TestData\.fromCSV/
    },
    {
      name: 'no default export',
      plan: `import { step } from '@flood/element'\nexport const steps = () => step('a', async () => undefined)`,
      words: /plan\.ts has no default export: export default \(\) => /
    },
    {
      name: 'no steps',
      plan: `export default () => undefined`,
      words: /plan\.ts declares no steps: call step\(name/
    },
    {
      name: 'a script that throws at once',
      plan: `import { step } from '@flood/element'\n\nthrow new RangeError('out of order')\nexport default () => step('a', async () => undefined)`,
      words: /plan\.ts:3:7: RangeError: out of order/
    },
    {
      name: 'a data file that is missing',
      plan: script('loopCount: 1', `TestData.fromCSV('users.csv')`, VISIT),
      words: /The data file users\.csv is missing: upload it with the script/
    },
    {
      name: 'a setting that cannot be honoured',
      plan: script(`stages: [{ duration: '15s', target: 2 }]`, VISIT),
      words: /The setting stages is not supported: set threads, rampup and duration/
    },
    {
      name: 'a call of process.exit',
      plan: script('loopCount: 1', `step('Exit', async () => { process.exit(0) })`),
      words: /The script called process\.exit\(0\)/
    },
    {
      name: 'a promise that nobody waits for',
      plan: script(
        'loopCount: 1',
        `step('Stray', async (browser) => { void Promise.reject(new Error('lost')); await browser.wait('300ms') })`
      ),
      words: /A promise of the script failed that it did not wait for; is an await missing\?: lost/
    }
  ])('$name', async ({ plan, words }) => {
    const result = await gate(write('plan.ts', plan), '--thresholds', 'error_rate < 1%')
    fails(result)
    expect(result.text).toMatch(words)
    expect(target.total).toBe(0)
  })

  test('a file of the wrong kind is refused before a run exists', async () => {
    const result = await gate(write('plan.jmx', '<jmeterTestPlan/>'))
    expect(result.code).toBe(2)
    expect(result.text).toMatch(/422.*plan\.jmx is not a script for service-chrome.*\.ts or \.js/s)
  })

  test('a page that never loads: the step has no row, and the run is a problem', async () => {
    const plan = script(
      '',
      `step('Never', async (browser) => { await browser.visit(home + '/never', { timeout: 60000 }) })`
    )
    const result = await gate(write('plan.ts', plan), '--threads', '2', '--duration', '1s')
    fails(result)
    expect(result.text).toMatch(/The step "Never" did not end: 2 of 2 users had been in it/)
    expect(result.samples).toBe(0)
  }, 90_000)

  test('an endless step of one user among others', async () => {
    const endless = `step('Endless', async (browser) => { while (ENV.BROWSER_ID === 1) await browser.wait('100ms') })`
    const result = await gate(
      write('plan.ts', script('', VISIT, endless)),
      '--threads',
      '2',
      '--duration',
      '2s'
    )
    fails(result)
    expect(result.text).toMatch(/the step "Endless" did not end: 1 of 2 users/)
    expect(result.samples).toBeGreaterThan(1)
  }, 90_000)

  test('a signal that loadgate did not send, after lines without an end', async () => {
    const stop = `step('Stop', async () => { process.stdout.write('.'); process.kill(process.pid, 'SIGTERM') })`
    const result = await gate(write('plan.ts', script('loopCount: 20', VISIT, stop)))
    fails(result)
    expect(result.text).toMatch(/plan\.ts: SIGTERM, which loadgate did not send, stopped its process/)
  })

  test('a browser that does not start', async () => {
    const browser = join(folder, 'browser')
    writeFileSync(
      browser,
      '#!/bin/sh\n[ "$1" = --version ] && echo "Chromium 1.2.3" && exit\necho "no display" >&2\nexit 1\n'
    )
    chmodSync(browser, 0o755)
    env.CHROME = browser
    const result = await gate(write('plan.ts', script('loopCount: 1', VISIT)))
    fails(result)
    expect(result.text).toMatch(/The browser \S+\/browser does not start: .*no display/)
  })

  test('a browser that is not one', async () => {
    env.CHROME = '/bin/false'
    const result = await gate(write('plan.ts', script('loopCount: 1', VISIT)))
    fails(result)
    expect(result.text).toMatch(
      /The browser \/bin\/false \(from CHROME\) does not start \(exit code 1\): .*apt-get install/
    )
  })

  test('no browser at all: what to install is said', async () => {
    const bin = join(folder, 'bin')
    execFileSync('mkdir', [bin])
    for (const name of ['node', 'npm', 'sh', 'env']) {
      const path = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
      execFileSync('ln', ['-s', path, join(bin, name)])
    }
    env.PATH = bin
    const result = await gate(write('plan.ts', script('loopCount: 1', VISIT)))
    fails(result)
    expect(result.text).toMatch(
      /There is no Chrome or Chromium.*apt-get install chromium-headless-shell.*brew install --cask google-chrome.*hosted by GitHub/
    )
  })
})

describeWithBrowser('nothing is left behind', () => {
  const USERS = 3
  /** A service with a run at work; the process group of its tool. */
  async function startAtWork(): Promise<{ service: Command; url: string; run: string; group: number }> {
    env.LOADGATE_TOKEN = TOKEN
    const service = startCommand(['serve', '--data', 'data'], { cwd: folder, env })
    started.push(service)
    const [, url = ''] = await service.shows(/^Address: (\S+)$/m)
    const parameters = ['--override-parameters', `-DTARGET=${target.url}`, '--threads', String(USERS)]
    const files = ['--tool', 'service-chrome', '--files', write('plan.ts', script('loopCount: -1', VISIT))]
    const args = ['run', '--base-url', url, ...files, ...parameters, '--grids', GRIDS, '--wait', 'false']
    const { code, out } = await runCommand(args, { cwd: folder, env })
    expect(code).toBe(0)
    await until(() => target.hits('/page') > 2 * USERS)
    const [note = ''] = readdirSync(join(folder, 'data', 'tools'))
    const group = Number.parseInt(note, 10)
    return { service, url, run: /Run ([0-9a-f]{24})/.exec(out)?.[1] ?? '', group }
  }

  const membersOf = (group: number): string[] =>
    execFileSync('ps', ['-axo', 'pgid=,stat=,args='], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => new RegExp(`^\\s*${group}\\s+[^Z]`).test(line))

  function countRows(run: string): number {
    const nodes = join(folder, 'data', 'runs', run, 'nodes')
    const [csv = ''] = readdirSync(nodes).filter((name) => name.endsWith('.csv'))
    const lines = readFileSync(join(nodes, csv), 'utf8').split('\n').slice(1)
    return lines.filter((line) => line.endsWith(',')).length
  }

  function checkRows(rows: number): void {
    const missing = target.hits('/page') - rows
    expect(missing).toBeGreaterThanOrEqual(0)
    expect(missing).toBeLessThanOrEqual(USERS)
  }

  test('a run that is stopped keeps its rows, and its browser ends', async () => {
    const { url, run, group } = await startAtWork()
    // The browser is in the group of the process that started it, which is ended as a whole.
    expect(membersOf(group).filter((line) => line.includes('--type=renderer')).length).toBeGreaterThan(0)
    const stopped = await runCommand(['stop', run, '--base-url', url], { cwd: folder, env })
    expect(stopped.code).toBe(0)
    await until(() => membersOf(group).length === 0)
    const csv = await results(url, run)
    checkRows(csv.split('\n').filter((line) => line.includes(',Home,')).length)
  })

  /** The rows as the service hands them out. */
  async function results(url: string, run: string): Promise<string> {
    const ended = await runCommand(['results', run, '--base-url', url, '--output', 'kept'], {
      cwd: folder,
      env
    })
    expect(ended.code).toBe(0)
    const found = readdirSync(join(folder, 'kept'), { recursive: true, encoding: 'utf8' })
    return readFileSync(join(folder, 'kept', found.find((name) => name.endsWith('.csv')) ?? ''), 'utf8')
  }

  test('a service that is killed takes its browser with it', async () => {
    const { service, run, group } = await startAtWork()
    service.child.kill('SIGKILL')
    await until(() => membersOf(group).length === 0)
    checkRows(countRows(run))
  })

  test('a tool that is killed is a problem, and its browser ends', async () => {
    const { url, run, group } = await startAtWork()
    process.kill(group, 'SIGKILL')
    await until(() => membersOf(group).length === 0)
    const shown = await runCommand(['run', '--base-url', url, '--run-id', run], { cwd: folder, env })
    expect(shown.out + shown.err).toMatch(
      /plan\.ts: its process ended before the end of the test, killed by SIGKILL/
    )
    expect(shown.code).toBe(2)
  })
})
