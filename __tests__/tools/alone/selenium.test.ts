import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createRun,
  type FormPart,
  get,
  postForm,
  type Reply,
  specFields,
  waitForStatus
} from '../../service/support.js'
import { ArtifactService } from '../../support/step/artifact-service.js'
import { Step } from '../../support/step/step.js'
import { type PageTarget, startPageTarget } from '../../support/tools/page-target.js'
import { type ServedBundle, serveBundle } from '../../support/tools/served-bundle.js'
import { DOUBTFUL, HOME, javaPlan, JUNIT_PLAN, MISSING, OLD_PLAN, SECOND } from '../selenium-plans.js'
import { removeFolder } from '../../support/remove-folder.js'

/** A machine without Selenium installs it first, and browsers take their time on a busy one. */
const RUN_MS = 4 * 60_000

const has = (program: string): boolean => spawnSync('which', [program]).status === 0
const geckodriver = [
  process.env.GECKODRIVER ?? '',
  join(process.env.HOME ?? '', '.cache/loadgate-geckodriver/bin/geckodriver')
].find((file) => file !== '' && existsSync(file))
const DRIVERS: Record<string, string> = geckodriver === undefined ? {} : { GECKODRIVER: geckodriver }

const CHROME = 'java-selenium-chrome'
const FIREFOX = 'java-selenium-firefox'
const MISSING_FOR: Record<string, string | undefined> = {
  [CHROME]: has('javac') && has('chromedriver') ? undefined : 'javac, chromium or chromedriver',
  [FIREFOX]:
    has('javac') &&
    (has('firefox-esr') || has('firefox')) &&
    (has('geckodriver') || geckodriver !== undefined)
      ? undefined
      : 'javac, firefox or geckodriver'
}

/** Skips aloud for want of a browser, unless LOADGATE_REQUIRE_TOOLS wants it to fail. */
function describeWith(tool: string, name: string, tests: () => void): void {
  const missing = process.env.LOADGATE_REQUIRE_TOOLS === undefined ? MISSING_FOR[tool] : undefined
  if (missing !== undefined) console.warn(`Skipped: ${name}. There is no ${missing} here.`)
  ;(missing === undefined ? describe : describe.skip)(`${tool}: ${name}`, tests)
}

let folder: string
let target: PageTarget
let service: ServedBundle
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-selenium-'))
  service = await serveBundle({ ...DRIVERS, TMPDIR: folder })
})
afterAll(async () => {
  await service.stop()
  removeFolder(folder)
})
beforeEach(async () => {
  target = await startPageTarget()
})
afterEach(() => target.close())

function formOf(
  tool: string,
  files: Record<string, string>,
  fields: Record<string, string> = {}
): FormPart[] {
  const { override_parameters: parameters = '', ...others } = fields
  return [
    ['run[tool]', tool],
    ...Object.entries({ threads: '1', ...others }).map(([key, value]): FormPart => [`run[${key}]`, value]),
    ['run[override_parameters]', `-Jtarget=http://127.0.0.1:${target.port} ${parameters}`],
    ...specFields(),
    ...Object.entries(files).map(([fileName, content]) => ({ name: 'run_files[]', fileName, content }))
  ]
}

async function finish(parts: readonly FormPart[], at: ServedBundle = service): Promise<Reply> {
  const id = await createRun(at, parts)
  return waitForStatus(at, `/runs/${id}`, ['finished', 'problem'], RUN_MS)
}

/** Finished, with nothing to say but that this machine is busy, which it may be. */
function expectWell({ json }: Reply): void {
  const findings = (json.remote_errors ?? '').split('\n').filter((line) => line !== '')
  expect(findings.filter((line) => !line.startsWith('The load generator was short of'))).toEqual([])
  expect(json.status).toBe('finished')
}

interface SampleRow {
  readonly label: string
  readonly code: string
  readonly user: string
  readonly isSuccess: boolean
}

async function until(holds: () => boolean): Promise<void> {
  const deadlineMs = Date.now() + RUN_MS / 2
  while (!holds()) {
    if (Date.now() > deadlineMs) throw new Error(`it never came to pass:\n${service.command.text()}`)
    await sleep(50)
  }
}

/** Every sample; a page's timings are part of one, which their last column names. */
function samplesOf(csv: string): SampleRow[] {
  return csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .filter((row) => row.endsWith(','))
    .map((row) => {
      const [, label = '', code = '', user = '', success = ''] =
        /^\d+,\d+,([^,]*),([^,]*),[^,]*,([^,]*),text,(true|false),/.exec(row) ?? []
      return { label, code, user, isSuccess: success === 'true' }
    })
}

async function csvOf(run: Reply, at: ServedBundle = service): Promise<string> {
  const texts = await Promise.all(
    run.json._embedded.results.map(async ({ href }) => {
      const { pathname, search } = new URL(href)
      return (await get(at, pathname + search)).text
    })
  )
  return texts.join('')
}

/** Programs whose command line shows that they belong to this test's runs: their profiles and drivers lie in its folder. */
function leftProcesses(): string[] {
  const lines = execFileSync('ps', ['-axo', 'stat=,args='], { encoding: 'utf8', maxBuffer: 1 << 24 }).split(
    '\n'
  )
  return lines.filter((line) => !line.startsWith('Z') && line.includes(`${folder}/loadgate-`))
}

/** The profiles in which browsers are running. */
function browsers(): string[] {
  return [...new Set(leftProcesses().flatMap((line) => /\/home-\w+/.exec(line) ?? []))]
}

/** How many requests have no sample; the last one of each user may have none when the test is ended. */
function expectAtMostOnePerUser(samples: number, users: number): void {
  const missing = target.hits() - samples
  expect(missing).toBeGreaterThanOrEqual(0)
  expect(missing).toBeLessThanOrEqual(users)
}

describe.each([
  {
    tool: CHROME,
    users: 2,
    browser: /Selenium 4\.\d+\.\d+ runs main of Plan with .*Chrom\S+ \d.* and ChromeDriver \d/
  },
  {
    tool: FIREFOX,
    users: 1,
    browser: /Selenium 4\.\d+\.\d+ runs main of Plan with .*Firefox \d.* and geckodriver \d/
  }
])('$tool', ({ tool, users, browser }) => {
  describeWith(tool, 'the action with base-url: local', () => {
    const artifacts = new ArtifactService()
    let step: Step
    beforeEach(async () => {
      await artifacts.start()
      step = new Step()
      step.env = { ...artifacts.env, ...DRIVERS }
      step.inputs = {
        ...{ 'base-url': 'local', tool, files: 'Plan.java', threads: String(users) },
        ...{
          thresholds: 'error_rate < 1%',
          'override-parameters': `-Dtarget=http://127.0.0.1:${target.port}`
        }
      }
    })
    afterEach(async () => {
      await artifacts.stop()
      step.remove()
    })

    test.each([
      { verdict: 'passed', steps: `for (int i = 0; i < 3; i++) { ${HOME} ${SECOND} }`, failed: 0, code: 0 },
      { verdict: 'failed', steps: `${HOME} ${SECOND} ${MISSING}`, failed: 1, code: 1 }
    ])(
      '$verdict, with a sample for every transaction and the timings of every page',
      async ({ verdict, steps, failed, code }) => {
        step.write('Plan.java', javaPlan(steps))
        const result = await step.main()
        expect(result.log).toContain(`Load gate ${verdict}: `)
        expect(result.log).toMatch(browser)
        expect(result.code).toBe(code)
        const metrics = JSON.parse(result.outputs.metrics!) as {
          overall: object
          labels: { label: string; samples: number }[]
        }
        const failures = failed * users
        expect(metrics.overall).toMatchObject({ samples: target.hits() + failures, failures })
        const timings = ['Home [ttfb]', 'Home [dom ready]', 'Home [load]']
        expect(metrics.labels).toEqual(
          expect.arrayContaining(
            timings.map((label) => expect.objectContaining({ label, samples: target.hits('/') }) as unknown)
          )
        )
      },
      RUN_MS
    )
  })

  describeWith(tool, 'what the browser shows', () => {
    test(
      'an error page fails, and only pages that were loaded for a transaction have timings',
      async () => {
        const nobody = await startPageTarget()
        await nobody.close()
        const run = await finish(
          formOf(
            tool,
            { 'Plan.java': javaPlan(DOUBTFUL) },
            { override_parameters: `-Ddown=http://127.0.0.1:${nobody.port}/` }
          )
        )
        expectWell(run)
        const csv = await csvOf(run)
        expect(samplesOf(csv).map(({ label, code, isSuccess }) => [label, code, isSuccess])).toEqual([
          ['Home', '200', true],
          ['Old page', '200', true],
          ['Old page', '200', true],
          ['Not passed', '500', false],
          ['In a frame', '200', true],
          ['Outside again', '200', true],
          ['Dialog', '200', true],
          ['Not found', '404', true],
          ['Down', '0', false]
        ])
        // A browser without a window may not say why.
        expect(csv).toMatch(/,Down,0,browser error page,.*,the browser shows its error page(?:: \w+)?,/)
        const loaded = [...csv.matchAll(/^\d+,\d+,([^,]*) \[load\],/gm)].map(([, label]) => label)
        expect(loaded).toEqual(['Home', 'Not found'])
      },
      RUN_MS
    )
  })

  describeWith(tool, 'the length of a run', () => {
    test(
      'stopped in the middle: what was reported has a row, and nothing is left running',
      async () => {
        const files = { 'Plan.java': javaPlan(`while (true) { ${HOME} }`) }
        const id = await createRun(service, formOf(tool, files, { threads: String(users) }))
        await until(() => target.hits() > 10 * users)
        expect(leftProcesses()).not.toEqual([])
        expect((await get(service, `/runs/${id}/stop`)).status).toBe(200)
        const run = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
        expect(run.json.status).toBe('finished')
        const samples = samplesOf(await csvOf(run))
        expect(samples.every(({ isSuccess }) => isSuccess)).toBe(true)
        expectAtMostOnePerUser(samples.length, users)
        expect(leftProcesses()).toEqual([])
      },
      RUN_MS
    )

    test(
      'the service killed with SIGKILL: no driver and no browser is left, and what was reported has a row',
      async () => {
        const own = await serveBundle({ ...DRIVERS, TMPDIR: folder })
        const files = { 'Plan.java': javaPlan(`while (true) { ${HOME} }`) }
        await createRun(own, formOf(tool, files, { threads: String(users) }))
        await until(() => target.hits() > 10 * users)
        own.command.child.kill('SIGKILL')
        await own.command.ended
        await until(() => leftProcesses().length === 0)
        const csvs = readdirSync(own.dataDir, { recursive: true, encoding: 'utf8' }).filter((name) =>
          /\.(csv|jtl)$/.test(name)
        )
        expect(csvs).toHaveLength(1)
        const samples = samplesOf(readFileSync(join(own.dataDir, csvs[0]!), 'utf8'))
        expect(samples.every(({ isSuccess }) => isSuccess)).toBe(true)
        expectAtMostOnePerUser(samples.length, users)
        await own.stop()
      },
      RUN_MS
    )
  })
})

describeWith(CHROME, 'scripts', () => {
  test(
    'main is repeated until the duration, by users who start over the ramp-up',
    async () => {
      const files = { 'Plan.java': javaPlan(HOME) }
      const id = await createRun(service, formOf(CHROME, files, { threads: '2', rampup: '1', duration: '8' }))
      await until(() => target.hits() > 6)
      // A browser that is being closed may be there beside the next one.
      expect(browsers().length).toBeLessThanOrEqual(4)
      const run = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'], RUN_MS)
      expectWell(run)
      const samples = samplesOf(await csvOf(run))
      expect(new Set(samples.map(({ user }) => user))).toEqual(new Set(['user 1-1', 'user 1-2']))
      expect(samples.length).toBeGreaterThan(2)
      expectAtMostOnePerUser(samples.length, 2)
    },
    RUN_MS
  )

  test(
    'a loop of its own is ended with the duration, which is no failure',
    async () => {
      const files = { 'Plan.java': javaPlan(`while (true) { ${HOME} Thread.sleep(50); }`) }
      const run = await finish(formOf(CHROME, files, { duration: '3' }))
      expectWell(run)
      expectAtMostOnePerUser(samplesOf(await csvOf(run)).length, 1)
      expect(leftProcesses()).toEqual([])
    },
    RUN_MS
  )

  test(
    'a script for Selenium 3 gets that version and the tool’s browser, with a second source and variables',
    async () => {
      const plan = OLD_PLAN.replace('"Home")', 'Names.of("Home"))')
      const names =
        'class Names { static String of(String name) { return name + System.getenv("MARK") + System.getenv("FLOOD_GRID_REGION") + System.getenv("THREAD_ID") + System.getProperty("threads"); } }'
      const files = { 'Plan.java': plan, 'Names.java': names, environment: 'MARK=-x-\n' }
      const run = await finish(formOf(CHROME, files))
      expectWell(run)
      expect(run.json.tool).toMatch(/^java-selenium-chrome-3\.141\.59, \S.* \d+\.\d[\d.]*$/)
      expect(service.command.text()).toContain('The plan needs Selenium 3.141.59')
      expect(service.command.text()).toContain('the script asks for firefox')
      expect(samplesOf(await csvOf(run))).toEqual([
        { label: 'Home', code: '200', user: 'user 1-1', isSuccess: true }
      ])
    },
    RUN_MS
  )

  test(
    'new ChromeDriver() works too, and host names get the addresses of override-hosts',
    async () => {
      const driver = 'new org.openqa.selenium.chrome.ChromeDriver()'
      const files = { 'Plan.java': javaPlan(HOME, { driver }) }
      const run = await finish(
        formOf(CHROME, files, {
          override_hosts: 'shop.example/127.0.0.1',
          override_parameters: `-Dtarget=http://shop.example:${target.port}`
        })
      )
      expectWell(run)
      expect(samplesOf(await csvOf(run))).toHaveLength(1)
      expect(target.hits('/')).toBe(1)
      expect(leftProcesses()).toEqual([])
    },
    RUN_MS
  )

  test.each([
    {
      what: 'does not compile',
      files: { 'Plan.java': javaPlan('int count = "one"') },
      says: /^The plan does not compile with Selenium 4\.\d+\.\d+: Plan\.java:13: error: ';' expected/
    },
    {
      what: 'uses what no Selenium has',
      files: { 'Plan.java': javaPlan('driver.fly();') },
      says: /^The plan does not compile with Selenium 4\.\d+\.\d+: Plan\.java:13: error: cannot find symbol/
    },
    {
      what: 'has two main classes',
      files: {
        'Plan.java':
          'class A { public static void main(String[] a) {} } class B { public static void main(String[] a) {} }'
      },
      says: /^The plan has 2 classes with a main method \(A, B\), and none is called Plan like its first file/
    },
    {
      what: 'has none',
      files: { 'Plan.java': 'public class Plan {}' },
      says: /^The plan has nothing to run: neither a class with public static void main/
    },
    {
      what: 'is for JUnit 4',
      files: { 'Plan.java': 'public class Plan { @org.junit.Test public void home() {} }' },
      says: /^The plan has tests for JUnit 4 \(Plan\), which are not run: import org\.junit\.jupiter/
    },
    {
      what: 'throws at once',
      files: { 'Plan.java': javaPlan('throw new IllegalStateException("no luck");') },
      says: /^The plan ended with an error: java\.lang\.IllegalStateException: no luck; at Plan\.main\(Plan\.java:13\)$/
    },
    {
      what: 'starts a driver for another browser',
      files: { 'Plan.java': javaPlan(HOME, { driver: 'new org.openqa.selenium.firefox.FirefoxDriver()' }) },
      says: /^The plan ended with an error: org\.openqa\.selenium\.SessionNotCreatedException: .*a driver for firefox, and this run is for chrome/
    },
    {
      what: 'ends its process with an error',
      files: { 'Plan.java': javaPlan('System.out.println("bye"); System.exit(3);') },
      says: /^The plan ended with an error: its process ended with exit code 3: bye$/
    }
  ])(
    'a plan that $what is a problem',
    async ({ files, says }) => {
      const run = await finish(formOf(CHROME, files))
      expect(run.json.remote_errors).toMatch(says)
      expect(run.json.status).toBe('problem')
      expect(leftProcesses()).toEqual([])
    },
    RUN_MS
  )

  test.each([
    {
      what: 'waits for a page that never loads',
      steps: 'flood.start_transaction("Never"); driver.get(target + "/never");',
      says: /recorded no samples; the plan was still busy with its first transaction when the time was up/
    },
    {
      what: 'has an endless step',
      steps: 'while (true) Thread.sleep(10);',
      says: /recorded no samples; the plan was still busy with its first transaction/
    },
    {
      what: 'reports nothing',
      steps: 'driver.get(target + "/");',
      says: /recorded no samples; the plan reported no transaction: report each with FloodSump/
    }
  ])(
    'a plan that $what has lost its load',
    async ({ steps, says }) => {
      const run = await finish(formOf(CHROME, { 'Plan.java': javaPlan(steps) }, { duration: '2' }))
      expect(run.json.remote_errors).toMatch(says)
      expect(leftProcesses()).toEqual([])
    },
    RUN_MS
  )

  test(
    'users who end with an error are lost load while others go on',
    async () => {
      const steps = `${HOME} if (System.getenv("THREAD_ID").equals("2")) throw new IllegalStateException("no luck");`
      const run = await finish(formOf(CHROME, { 'Plan.java': javaPlan(steps) }, { threads: '2' }))
      expect(run.json.remote_errors).toMatch(
        /1 of 2 users ended with an error; user 2: java\.lang\.IllegalState/
      )
    },
    RUN_MS
  )
})

describeWith(FIREFOX, 'tests for JUnit 5', () => {
  test(
    'each test is a sample, passed or failed',
    async () => {
      const run = await finish(formOf(FIREFOX, { 'PagesTest.java': JUNIT_PLAN }))
      expectWell(run)
      const samples = samplesOf(await csvOf(run)).map(({ label, isSuccess }) => ({ label, isSuccess }))
      expect(samples).toHaveLength(target.hits())
      expect(samples).toEqual(
        expect.arrayContaining([
          { label: 'home', isSuccess: true },
          { label: 'Second page', isSuccess: false }
        ])
      )
      expect(leftProcesses()).toEqual([])
    },
    RUN_MS
  )
})

describeWith(CHROME, 'what is missing', () => {
  let bin: string
  beforeEach(() => {
    bin = mkdtempSync(join(folder, 'bin-'))
  })

  function script(name: string, text: string): string {
    const file = join(bin, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `#!/bin/sh\n${text}\n`)
    chmodSync(file, 0o755)
    return file
  }

  /** A PATH with these programs only. */
  function pathWith(...names: string[]): string {
    for (const name of names)
      symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), join(bin, name))
    return bin
  }

  const versionOf = (file: string): string => execFileSync(file, ['--version'], { encoding: 'utf8' }).trim()

  test.each([
    {
      what: 'a browser that does not start',
      env: () => ({
        CHROME: script(
          'chrome',
          `case "$*" in --version) echo "${versionOf('chromedriver').replace('ChromeDriver', 'Chromium')}";; *) echo "no display" >&2; exit 1;; esac`
        )
      }),
      says: /^The plan ended with an error: org\.openqa\.selenium\.SessionNotCreatedException: (.*\n)*.*Chrome (?:failed to start|instance exited)/
    },
    {
      what: 'a driver of the wrong version',
      env: () => ({ CHROMEDRIVER: script('chromedriver', 'echo "ChromeDriver 80.0.3987.16 (abc)"') }),
      says: /^java-selenium-chrome needs a browser and a driver of the same major version, and there are .*Chromium \d.* and ChromeDriver 80\.0\.3987\.16 .*: install a pair \(`apt-get install chromium chromium-driver`/
    },
    {
      what: 'no JDK, only a JRE',
      env: () => {
        script('jre/bin/java', 'exec /usr/bin/env java "$@"')
        return { JAVA_HOME: join(bin, 'jre') }
      },
      says: /java-selenium-chrome needs a JDK to compile the plan/
    },
    {
      what: 'no browser',
      env: () => ({ PATH: pathWith('java', 'javac', 'sh', 'ps', 'cat', 'sleep', 'chromedriver') }),
      says: /^java-selenium-chrome needs Chrome or Chromium, and there is none on the PATH .*apt-get install chromium chromium-driver.*or set CHROME to its path$/
    },
    {
      what: 'a browser at a path that is not there',
      env: () => ({ CHROME: '/nowhere/chrome' }),
      says: /^CHROME is \/nowhere\/chrome, and there is no program that can be started/
    }
  ])(
    '$what is a problem that says what to do',
    async ({ env, says }) => {
      const own = await serveBundle({ TMPDIR: folder, ...env() })
      const run = await finish(formOf(CHROME, { 'Plan.java': javaPlan(HOME) }), own)
      await own.stop()
      expect(run.json.remote_errors).toMatch(says)
      expect(run.json.status).toBe('problem')
    },
    RUN_MS
  )

  test.each([
    {
      tool: CHROME,
      name: 'plan.jmx',
      fields: {},
      says: 'must be Java source (.java), and "plan.jmx" is not'
    },
    {
      tool: FIREFOX,
      name: 'Plan.java',
      fields: { override_hosts: 'shop.example/127.0.0.1' },
      says: 'Firefox cannot be given addresses for host names'
    }
  ])(
    '$tool with $name and $fields is refused before a run is created',
    async ({ tool, name, fields, says }) => {
      const reply = await postForm(service, '/runs', formOf(tool, { [name]: '' }, fields))
      expect([reply.status, reply.json.error]).toEqual([422, expect.stringContaining(says)])
    }
  )
})
