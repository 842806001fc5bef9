import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { installJars } from '../../src/service/engines/install/jars/fetch-jars.js'
import SELENIUM_4_JARS from '../../src/service/engines/selenium/selenium-4-jars.json' with { type: 'json' }
import { Processes } from '../../src/service/nodes/machine/processes.js'
import { removeFolder } from '../support/remove-folder.js'

/** A machine without Selenium installs it first. */
const INSTALL_MS = 4 * 60_000
const TEST_MS = 60_000

const isMissing =
  process.env.LOADGATE_REQUIRE_TOOLS === undefined && spawnSync('which', ['javac']).status !== 0
if (isMissing) console.warn('Skipped: what runs plans for Selenium. There is no javac here.')

let folder: string
let jars: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-selenium-java-'))
  if (isMissing) return
  jars = await installJars(SELENIUM_4_JARS, {
    env: process.env,
    processes: new Processes({ onStart: () => undefined, onEnd: () => undefined }),
    log: () => undefined,
    signal: new AbortController().signal
  })
}, INSTALL_MS)
afterAll(() => removeFolder(folder))

interface PlanEnd {
  readonly code: number | null
  readonly output: string
  /** What the plan is said to have thrown. */
  readonly thrown: string
  readonly rows: { elapsedMs: number; label: string; code: string; isSuccess: boolean }[]
}

function classPath(): string {
  return [resolve('java/jars/selenium.jar'), join(jars, '*')].join(delimiter)
}

function compile(source: string): string {
  const work = mkdtempSync(join(folder, 'plan-'))
  mkdirSync(join(work, 'classes'))
  writeFileSync(join(work, 'Plan.java'), source)
  execFileSync('javac', ['-proc:none', '-cp', classPath(), '-d', 'classes', 'Plan.java'], { cwd: work })
  execFileSync('jar', ['cf', 'plan.jar', '-C', 'classes', '.'], { cwd: work })
  return work
}

/** Runs a plan the way a user's process does, without a browser. */
async function runPlan(
  source: string,
  {
    kind = 'main',
    names = ['Plan'],
    samplesFile = 'samples.csv',
    forMs
  }: { kind?: string; names?: string[]; samplesFile?: string; forMs?: number } = {}
): Promise<PlanEnd> {
  const work = compile(source)
  if (forMs !== undefined) writeFileSync(join(work, 'state'), `1 ${Date.now() + forMs}`)
  const repeat = forMs === undefined ? [] : ['-Dloadgate.repeat=1']
  const child = spawn('java', [...repeat, '-cp', classPath(), 'loadgate.selenium.RunPlan', kind, ...names], {
    cwd: work,
    env: {
      ...process.env,
      ...{ LOADGATE_CLASSES: 'plan.jar', LOADGATE_SAMPLES: samplesFile, LOADGATE_THROWN: 'thrown' },
      ...{ LOADGATE_STATE: 'state', WEBDRIVER_HOST: '127.0.0.1', WEBDRIVER_PORT: '1' }
    },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const code = new Promise<number | null>((end) => child.once('close', end))
  const output = (await Promise.all([text(child.stdout), text(child.stderr)])).join('')
  const read = (name: string): string =>
    existsSync(join(work, name)) ? readFileSync(join(work, name), 'utf8') : ''
  return { code: await code, output, thrown: read('thrown').trim(), rows: rowsOf(read('samples.csv')) }
}

function rowsOf(csv: string): PlanEnd['rows'] {
  const lines = csv.trimEnd().split('\n').slice(1)
  return lines.map((line) => {
    const [, elapsed, label = '', code = ''] = line.split(',')
    return { elapsedMs: Number(elapsed), label, code, isSuccess: line.includes(',text,true,') }
  })
}

const labelsOf = ({ rows }: PlanEnd): string[] => rows.map(({ label }) => label).sort()

const mainOf = (body: string): string => `import io.flood.selenium.FloodSump;
import java.util.concurrent.*;
public class Plan {
  static void report(String label, long afterMs) {
    try { Thread.sleep(afterMs); } catch (InterruptedException end) { return; }
    new FloodSump().passed_transaction(null, label);
  }
  public static void main(String[] args) throws Exception { ${body} }
}`

;(isMissing ? describe.skip : describe)('a user of Selenium', () => {
  test(
    'only "true" passes, and what cannot be a time is not taken for one',
    async () => {
      const { rows } = await runPlan(
        mainOf(`FloodSump flood = new FloodSump();
          for (String word : new String[] {"true", "TRUE", "False", "FALSE", "no", "", null})
            flood.transaction(null, "said " + word, word, 500, null);
          flood.passed_transaction(null, "given", 200, 1234.4);
          for (double time : new double[] {-5, Double.NaN, Double.POSITIVE_INFINITY, 1e15})
            flood.passed_transaction(null, "impossible", 200, time);`)
      )
      const passed = rows.filter(({ label, isSuccess }) => label.startsWith('said') && isSuccess)
      expect(passed.map(({ label }) => label)).toEqual(['said true', 'said TRUE'])
      expect(rows.filter(({ isSuccess }) => !isSuccess)).toHaveLength(5)
      expect(rows.find(({ label }) => label === 'given')!.elapsedMs).toBe(1234)
      const impossible = rows.filter(({ label }) => label === 'impossible')
      expect(impossible).toHaveLength(4)
      expect(impossible.every(({ elapsedMs }) => elapsedMs >= 0 && elapsedMs < TEST_MS)).toBe(true)
    },
    TEST_MS
  )

  test(
    'threads go on after main; those of a pool that wait for work do not keep it alive',
    async () => {
      const end = await runPlan(
        mainOf(`report("main", 0);
          new Thread(() -> report("thread", 700)).start();
          ExecutorService pool = Executors.newFixedThreadPool(2);
          pool.submit(() -> report("pool", 400));
          pool.submit(() -> report("pool", 300));
          Executors.newScheduledThreadPool(1).schedule(() -> report("later", 0), 800, TimeUnit.MILLISECONDS);
          new java.util.Timer();`)
      )
      expect(labelsOf(end)).toEqual(['later', 'main', 'pool', 'pool', 'thread'])
      expect(end.code).toBe(0)
    },
    TEST_MS
  )

  test(
    'a thread that ends with an exception is a failure of the plan',
    async () => {
      const end = await runPlan(
        mainOf(
          `report("main", 0); new Thread(() -> { throw new IllegalStateException("no luck"); }).start();`
        )
      )
      expect(end.thrown).toMatch(/^java\.lang\.IllegalStateException: no luck\n +at Plan/)
      expect(end.code).toBe(1)
    },
    TEST_MS
  )

  test(
    'at the end of the test every thread may finish the transaction in progress, and starts no other',
    async () => {
      const loop = (label: string, everyMs: number): string =>
        `new Thread(() -> { while (true) report("${label}", ${everyMs}); }).start();`
      const end = await runPlan(mainOf(loop('quick', 50) + loop('slow', 4000)), { forMs: 2000 })
      const labels = labelsOf(end)
      expect(labels.filter((label) => label === 'slow')).toHaveLength(1)
      expect(labels.filter((label) => label === 'quick').length).toBeLessThan(42)
      expect(end.code).toBe(0)
    },
    TEST_MS
  )

  const onFullDisk = existsSync('/dev/full') ? test : test.skip
  onFullDisk(
    'a full disk ends the user, whatever the script catches',
    async () => {
      const end = await runPlan(
        mainOf(
          `try { report("lost", 0); } catch (Throwable thrown) {} System.out.println("went on"); report("lost", 0);`
        ),
        { samplesFile: '/dev/full' }
      )
      expect(end.thrown).toBe('samples could not be written: No space left on device')
      expect(end.output).toContain('samples could not be written: No space left on device')
      expect(end.output).not.toContain('went on')
      expect(end.code).toBe(1)
    },
    TEST_MS
  )
})

const JUNIT = `import org.junit.jupiter.api.*;
import org.junit.jupiter.params.*;
import org.junit.jupiter.params.provider.*;
class Plan {
  @BeforeEach void open(TestInfo test) throws Exception {
    Thread.sleep(400);
    if (test.getDisplayName().startsWith("unopened")) throw new IllegalStateException("no browser");
  }
  @AfterEach void close() throws Exception { Thread.sleep(400); }
  @Test void home() {}
  @Test void unopened() {}
  @ParameterizedTest @ValueSource(strings = {"apple", "pear"}) void search(String fruit) {}
  @ParameterizedTest(name = "{0}") @DisplayName("Buy (fast)") @ValueSource(strings = "apple") void buy(String fruit) {}
  @RepeatedTest(1) void again() {}
  @TestFactory java.util.List<DynamicTest> made() { return java.util.List.of(DynamicTest.dynamicTest("one", () -> {})); }
  @Nested class Cart { @Test void home() {} @Nested @DisplayName("with goods") class Full { @Test void home() {} } }
  @Test private void hidden() {}
}
class OnlyNested { @Nested class Inner { @Test void home() {} } }
class Holder { static class Tests { @Test void home() {} } static class Helper { void home() {} } }
`

;(isMissing ? describe.skip : describe)('tests for JUnit 5', () => {
  test(
    'have names of their own, and the time of their methods only',
    async () => {
      const end = await runPlan(JUNIT, { kind: 'test' })
      expect(labelsOf(end)).toEqual([
        ...['Buy (fast) apple', 'Cart › home', 'Cart › with goods › home', 'again repetition 1 of 1', 'home'],
        ...['made one', 'search [1] apple', 'search [2] pear', 'unopened']
      ])
      const { unopened, others } = {
        unopened: end.rows.filter(({ label }) => label === 'unopened'),
        others: end.rows.filter(({ label }) => label !== 'unopened')
      }
      expect(unopened).toEqual([expect.objectContaining({ isSuccess: false, code: '500' })])
      expect(others.every(({ isSuccess, elapsedMs }) => isSuccess && elapsedMs < 800)).toBe(true)
      expect(end.output).toContain("'private void Plan.hidden()' must not be private")
    },
    TEST_MS
  )

  test(
    'of several classes have the class in front',
    async () => {
      const end = await runPlan(JUNIT, { kind: 'test', names: ['OnlyNested', 'Holder$Tests'] })
      expect(labelsOf(end)).toEqual(['Holder$Tests › home', 'OnlyNested › Inner › home'])
    },
    TEST_MS
  )

  test(
    'are found in inner classes too',
    () => {
      const folder = compile(JUNIT)
      const classes = join(folder, 'classes')
      const args = ['-cp', classPath(), 'loadgate.selenium.FindPlan', classes, join(folder, 'found.jar')]
      const found = execFileSync('java', args, { encoding: 'utf8' })
      expect(found.trim().split('\n')).toEqual(['test Holder$Tests', 'test OnlyNested', 'test Plan'])
    },
    TEST_MS
  )
})
