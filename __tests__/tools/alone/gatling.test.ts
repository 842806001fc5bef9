import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { isAlive } from '../../e2e/cli-command.js'
import {
  createRun,
  type FormPart,
  formOf as multipart,
  get,
  postForm,
  type Reply,
  send,
  specFields,
  waitForStatus
} from '../../service/support.js'
import { type CountingTarget, startCountingTarget } from '../../support/tools/counting-target.js'
import { logsOf, readRows, serveBundle, type ServedBundle } from '../../support/tools/served-bundle.js'
import { ArtifactService } from '../../support/step/artifact-service.js'
import { Step } from '../../support/step/step.js'
import { ENDLESS, javaPlan, KOTLIN_PLAN, SCALA_PLAN } from '../gatling-plans.js'

const hasJdk = spawnSync('javac', ['-version']).status === 0
const isSkipped = !hasJdk && process.env.LOADGATE_REQUIRE_TOOLS === undefined
/** A machine without Gatling and the compilers installs them first. */
const RUN_MS = 4 * 60_000

const HOME_AND_FAIL = `http("home").get("/").check(status().is(200)),
  group("checkout").on(http("pay").get("/fail").check(status().is(200)))`

let service: ServedBundle
let target: CountingTarget

function formOf(
  files: Record<string, string>,
  fields: Record<string, string> = {},
  grids = specFields()
): FormPart[] {
  const { override_parameters: parameters = '', ...others } = fields
  return [
    ['run[tool]', 'gatling'],
    ...Object.entries({ threads: '2', ...others }).map(([key, value]): FormPart => [`run[${key}]`, value]),
    ['run[override_parameters]', `-Dport=${target.port} ${parameters}`],
    ...grids,
    ...Object.entries(files).map(([fileName, content]) => ({ name: 'run_files[]', fileName, content }))
  ]
}

async function finish(parts: readonly FormPart[]): Promise<Reply> {
  const id = await createRun(service, parts)
  return waitForStatus(service, `/runs/${id}`, ['finished', 'problem'], RUN_MS)
}

/** The classes that a run of sources was compiled to, and a library. */
function makeJar(buildDir: string): Buffer {
  const classes = join(buildDir, 'classes')
  mkdirSync(classes)
  const built = readdirSync(buildDir, { recursive: true, encoding: 'utf8' })
  const plan = built.find((file) => file.endsWith('plan.jar'))
  execFileSync('jar', ['xf', join(buildDir, plan ?? '')], { cwd: classes })
  // A library in a jar may have its own use for what was Gatling's syntax once.
  const library = join(classes, 'Library.java')
  writeFileSync(library, 'class Library { String text = "${name}"; }')
  execFileSync('javac', ['-d', classes, library])
  const jar = join(classes, 'plan.jar')
  execFileSync('jar', ['cf', jar, '-C', classes, '.'])
  return readFileSync(jar)
}

/** Forms of the tests are text, and a jar is bytes. */
async function finishJar(jar: Buffer, fields: Record<string, string> = {}): Promise<Reply> {
  const place = 'the bytes of the jar'
  const { headers, body } = multipart(formOf({ 'plan.jar': place }, fields))
  const whole = Buffer.from(body)
  const at = whole.indexOf(place)
  const bytes = Buffer.concat([whole.subarray(0, at), jar, whole.subarray(at + place.length)])
  const { json } = await send(service, 'POST', '/runs', { headers, body: bytes })
  return waitForStatus(service, `/runs/${json.uuid}`, ['finished', 'problem'], RUN_MS)
}

/** The process that runs a simulation of this service. */
function findJava(): number {
  const lines = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n')
  const line = lines.find(
    (each) => each.includes('loadgate.gatling.RunPlan') && each.includes(service.dataDir)
  )
  return Number.parseInt(line ?? '', 10)
}

;(isSkipped ? describe.skip : describe)(
  `Gatling${isSkipped ? ' (skipped: there is no javac on the path)' : ''}`,
  () => {
    beforeAll(async () => {
      // Most of these runs are over before a better compiler would pay off.
      service = await serveBundle({ JVM_ARGS: '-XX:TieredStopAtLevel=1' })
    })
    beforeEach(async () => {
      target = await startCountingTarget()
    })
    afterEach(() => target.close())
    afterAll(() => service.stop())

    describe('the action with base-url: local', () => {
      const artifacts = new ArtifactService()
      let step: Step
      beforeEach(async () => {
        await artifacts.start()
        step = new Step()
        step.env = { ...artifacts.env }
        step.inputs = { 'base-url': 'local', tool: 'gatling', threads: '3' }
      })
      afterEach(async () => {
        await artifacts.stop()
        step.remove()
      })

      test.each([
        { verdict: 'passed', steps: 'repeat(5).on(http("home").get("/"))', failures: 0, code: 0 },
        { verdict: 'failed', steps: `repeat(5).on(${HOME_AND_FAIL})`, failures: 15, code: 1 }
      ])(
        'a plan in Java: $verdict, with a sample for every request',
        async ({ verdict, steps, failures, code }) => {
          step.write('Plan.java', javaPlan(steps))
          Object.assign(step.inputs, {
            files: 'Plan.java',
            thresholds: 'error_rate < 1%',
            'override-parameters': `-Dport=${target.port}`
          })
          const result = await step.main()
          expect(result.log).toContain(`Load gate ${verdict}: `)
          expect(result.outputs).toMatchObject({ verdict, status: 'finished' })
          expect(result.code).toBe(code)
          expect(JSON.parse(result.outputs.metrics!)).toMatchObject({
            overall: { samples: target.hits(), failures }
          })
          expect(target.hits('/')).toBe(15)
        },
        RUN_MS
      )
    })

    test(
      'rows have label, group, code and message; each node gets its share of the threads, and its place',
      async () => {
        const members = `String place = System.getenv("FLOOD_GRID_REGION") + System.getenv("FLOOD_NODE_INDEX") + System.getenv("MARK");`
        const steps = `${HOME_AND_FAIL}, http("place").get("/place").queryParam("at", place).queryParam("j", System.getProperty("given"))`
        const files = { 'Plan.java': javaPlan(steps, { members }), environment: 'MARK=-x\n' }
        const fields = { threads: '3', override_parameters: '-Jgiven=by-j' }
        const run = await finish(formOf(files, fields, specFields({ instance_quantity: '2' })))
        expect(run.json).toMatchObject({ status: 'finished', remote_errors: null, tool: 'gatling-3.15.1' })
        const rows = await readRows(service, run)
        expect(rows).toHaveLength(target.hits())
        expect(rows.find(({ label }) => label === 'home')).toMatchObject({
          responseCode: '200',
          success: 'true',
          threadName: expect.stringMatching(/^node[12]-users 1-[12]$/),
          failureMessage: ''
        })
        expect(rows.filter(({ success }) => success === 'false')).toHaveLength(target.hits('/fail'))
        expect(rows.find(({ success }) => success === 'false')).toMatchObject({
          label: 'checkout / pay',
          responseCode: '500'
        })
        expect(
          target
            .seen('/place')
            .map(({ query }) => query)
            .sort()
        ).toEqual(['at=us-east-10-x&j=by-j', 'at=us-east-10-x&j=by-j', 'at=us-east-11-x&j=by-j'])
      },
      RUN_MS
    )

    test(
      'a plan in Scala, spelt as for Gatling 2, with an abstract base and data in a folder',
      async () => {
        const files = { 'plan.scala': SCALA_PLAN, 'users.csv': 'user\nalice\nbob\n' }
        const run = await finish(formOf(files))
        expect(run.json).toMatchObject({ status: 'finished', remote_errors: null })
        expect(await readRows(service, run)).toHaveLength(2)
        expect(
          target
            .seen('/')
            .map(({ query }) => query)
            .sort()
        ).toEqual(['user=alice', 'user=bob'])
      },
      RUN_MS
    )

    test(
      'a plan in Kotlin, with a second source',
      async () => {
        const files = {
          'KotlinPlan.kt': KOTLIN_PLAN,
          'Names.kt': 'package shop.load\nfun name() = "named"\n'
        }
        const run = await finish(formOf(files))
        expect(run.json).toMatchObject({ status: 'finished', remote_errors: null })
        const rows = await readRows(service, run)
        expect(rows.map(({ label }) => label)).toEqual(['named', 'named'])
        expect(target.hits()).toBe(2)
      },
      RUN_MS
    )

    test(
      'stopped in the middle: what was answered has a row, and nothing is left running',
      async () => {
        const id = await createRun(service, formOf({ 'Plan.java': ENDLESS }, { threads: '4' }))
        await target.reaches(100)
        const pid = findJava()
        expect((await get(service, `/runs/${id}/stop`)).status).toBe(200)
        const run = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
        expect(run.json.status).toBe('finished')
        const missing = target.hits() - (await readRows(service, run)).length
        expect(missing).toBeGreaterThanOrEqual(0)
        expect(missing).toBeLessThanOrEqual(4)
        expect(isAlive(pid)).toBe(false)
      },
      RUN_MS
    )

    test(
      'killed in the middle: a problem, and what was answered before has a row',
      async () => {
        const id = await createRun(service, formOf({ 'Plan.java': ENDLESS }, { threads: '4' }))
        await target.reaches(100)
        const before = target.hits()
        await setTimeout(250)
        process.kill(findJava(), 'SIGKILL')
        const run = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
        expect(run.json.status).toBe('problem')
        expect(run.json.remote_errors).toMatch(
          /^Gatling 3\.15\.1 did not run the plan to its end \(killed by SIGKILL\)/
        )
        // One response per user may be under way.
        expect((await readRows(service, run)).length).toBeGreaterThanOrEqual(before - 4)
      },
      RUN_MS
    )

    test(
      'of several sources the plan is the first; a jar must say which, and runs with hosts and a secret',
      async () => {
        const steps = 'http("two").get("/two").header("key", System.getProperty("api.key"))'
        const members = '{ System.out.println("key " + System.getProperty("api.key")); }'
        const also =
          ', scenario("other").exec(http("async").get("/async")).injectOpen(atOnceUsers(1)).protocols(target.asyncNameResolution())'
        const sources = {
          'One.java': javaPlan('http("one").get("/one")', { name: 'One' }),
          'Two.java': javaPlan(steps, { name: 'Two', members, also })
        }
        const first = await finish(formOf(sources))
        expect((await readRows(service, first)).map(({ label }) => label)).toEqual(['one', 'one'])

        const jar = makeJar(join(service.dataDir, 'runs', first.json.uuid, 'build'))
        const both = await finishJar(jar)
        expect(both.json.status).toBe('problem')
        expect(both.json.remote_errors).toBe(
          'plan.jar has 2 simulations: One, Two; choose one with -Dgatling.simulationClass=<class> in override-parameters'
        )
        const run = await finishJar(jar, {
          // The case of a host does not matter.
          override_hosts: 'Shop.example/127.0.0.1',
          override_parameters:
            '-Dgatling.simulationClass=Two -Dhost=shop.Example -Dapi.key=correct-horse-battery'
        })
        expect(run.json).toMatchObject({ status: 'finished', remote_errors: null })
        const rows = await readRows(service, run)
        expect(rows.map(({ label }) => label).sort()).toEqual(['async', 'two', 'two'])
        expect(target.hits('/async')).toBe(1)
        expect(target.seen('/two')[0]!.headers).toMatchObject({
          host: `shop.Example:${target.port}`,
          key: 'correct-horse-battery'
        })
        expect(service.command.text()).toContain('key ***')
        expect(service.command.text()).not.toContain('correct-horse-battery')
      },
      RUN_MS
    )

    const HOME = 'http("home").get("/")'
    test.each([
      {
        what: 'does not compile',
        files: { 'Plan.java': javaPlan('http("home").got("/")') },
        says: /^Plan\.java could not be compiled \(javac\): Plan\.java:10: error: cannot find symbol/
      },
      {
        what: 'has no simulation',
        files: { 'Plan.java': 'public class Plan {}' },
        says: /^There is no simulation in Plan\.java; a simulation is a public class/
      },
      {
        what: 'is not public, beside a simulation that is',
        files: {
          'Plan.java': javaPlan('http("home").get("/")').replace('public class', 'class'),
          'Smoke.java': javaPlan('http("smoke").get("/")', { name: 'Smoke' })
        },
        says: /^Plan\.java cannot be run, because its class Plan is not public; a simulation is a public class/
      },
      {
        what: 'has two',
        files: {
          'A.java': 'public class A {}',
          'B.java': javaPlan(HOME, { name: 'B' }),
          'C.java': javaPlan(HOME, { name: 'C' })
        },
        says: /^A\.java has 2 simulations: B, C; choose one with -Dgatling\.simulationClass=<class>/
      },
      {
        what: 'misses its data',
        files: { 'Plan.java': javaPlan(`feed(csv("users.csv")), ${HOME}`) },
        says: /^Gatling 3\.15\.1 could not run the plan \(exit code 1\): .*users\.csv.*Plan\.java:10/
      },
      {
        what: 'uses the syntax of Gatling 2',
        files: { 'Plan.java': javaPlan('http("home").get("/${user}")') },
        says: /^The plan has expressions of Gatling 2.* write #\{…\} instead of \$\{…\}.*; Plan\.java:10: \$\{user\}$/
      },
      {
        what: 'ends the process',
        files: {
          'Plan.java': javaPlan(`${HOME}, exec(session -> { System.exit(0); return session; })`)
        },
        says: /^Gatling 3\.15\.1 did not run the plan to its end \(exit code 0\): Does the plan call System\.exit\?/
      },
      {
        what: 'prints the end of a run and halts',
        files: {
          'Plan.java': javaPlan(
            `${HOME}, exec(session -> { System.out.println("loadgate: end of run"); Runtime.getRuntime().halt(0); return session; })`
          )
        },
        says: /^Gatling 3\.15\.1 did not run the plan to its end \(exit code 0\): Does the plan call System\.exit\?/
      },
      {
        what: 'lacks a library while it runs',
        files: {
          'Plan.java': javaPlan(
            `${HOME}, exec(session -> { throw new NoClassDefFoundError("com/acme/Lib"); })`
          )
        },
        says: /to its end \(exit code 1\): A class is missing .*; The first error in its log: .*NoClassDefFoundError: com\/acme\/Lib/
      },
      {
        what: 'runs out of memory',
        files: {
          'Plan.java': javaPlan(
            `${HOME}, exec(session -> session.set("all", java.util.stream.IntStream.range(0, 1000).mapToObj(i -> new byte[100_000_000]).collect(java.util.stream.Collectors.toList())))`
          )
        },
        says: /OutOfMemoryError: Java heap space; Give it more memory with the environment variable HEAP/
      },
      {
        what: 'empties its feeder',
        files: {
          'Plan.java': javaPlan(`repeat(5).on(feed(csv("users.csv")), ${HOME})`),
          'users.csv': 'user\nalice\n'
        },
        says: /^Gatling 3\.15\.1 could not run the plan .*[Ff]eeder/
      }
    ])(
      'a plan that $what is a problem',
      async ({ files, says }) => {
        const run = await finish(formOf(files))
        expect(run.json.remote_errors).toMatch(says)
        expect(run.json.status).toBe('problem')
      },
      RUN_MS
    )

    test(
      'assertions are judged by Gatling, and a broken one is no problem',
      async () => {
        const setUp =
          '.assertions(global().failedRequests().percent().lt(1.0), global().responseTime().max().lt(60000))'
        const run = await finish(formOf({ 'Plan.java': javaPlan(HOME_AND_FAIL, { setUp }) }))
        expect(run.json).toMatchObject({
          ...{ status: 'finished', remote_errors: null },
          tool_thresholds: [
            { text: 'Gatling: Global: percentage of failed events is less than 1.0', holds: false },
            { text: 'Gatling: Global: max of response time is less than 60000.0', holds: true }
          ]
        })
      },
      RUN_MS
    )

    test(
      'counts of several nodes are added up, and an assertion on a request that does not exist is named',
      async () => {
        const setUp =
          '.assertions(global().allRequests().count().lt(3L), global().allRequests().count().gt(3L), details("no").responseTime().max().lt(9))'
        const files = { 'Plan.java': javaPlan(HOME_AND_FAIL, { setUp }) }
        const run = await finish(formOf(files, {}, specFields({ instance_quantity: '2' })))
        const together = 'the 2 nodes together have 4'
        expect(run.json).toMatchObject({
          ...{ status: 'finished', remote_errors: null },
          tool_thresholds: [
            { text: 'Gatling: Global: count of all events is less than 3.0', holds: false, reason: together },
            { text: 'Gatling: Global: count of all events is greater than 3.0', holds: true },
            { text: 'Gatling: no: max of response time is less than 9.0', holds: false }
          ]
        })
      },
      RUN_MS
    )

    test(
      'a simulation that sends nothing has lost its load, and so has one of which steps are not executed',
      async () => {
        const idle = await finish(formOf({ 'Plan.java': javaPlan('pause(Duration.ofMillis(1))') }))
        expect(idle.json.remote_errors).toMatch(
          /^load lost: .*recorded no samples: the simulation sent no request$/
        )
        const throws = 'exec(session -> { throw new IllegalStateException("odd"); })'
        const steps = `${HOME}, ${throws}, doIf("#{missing}").then(http("never").get("/never"))`
        const odd = await finish(formOf({ 'Plan.java': javaPlan(steps) }))
        expect(odd.json.remote_errors).toMatch(
          /^load lost: Gatling could not execute parts of the plan: it logged 4 errors, the first: .*odd/
        )
        expect(target.hits('/never')).toBe(0)
        expect(readFileSync(logsOf(service, odd.json.uuid)[0]!, 'utf8')).toContain('ERROR')
      },
      RUN_MS
    )

    test(
      'with a Java that cannot compile, a source is a problem that says so',
      async () => {
        const home = join(service.dataDir, 'jre')
        mkdirSync(join(home, 'bin'), { recursive: true })
        const java = execFileSync('sh', ['-c', 'command -v java'], { encoding: 'utf8' }).trim()
        writeFileSync(join(home, 'bin', 'java'), `#!/bin/sh\nexec "${java}" "$@"\n`, { mode: 0o755 })
        const other = await serveBundle({ JAVA_HOME: home })
        try {
          const id = await createRun(other, formOf({ 'Plan.java': javaPlan('http("home").get("/")') }))
          const run = await waitForStatus(other, `/runs/${id}`, ['finished', 'problem'], RUN_MS)
          expect(run.json.status).toBe('problem')
          expect(run.json.remote_errors).toMatch(
            /^Gatling needs a JDK to compile the plan, and .*: install a JDK/
          )
        } finally {
          await other.stop()
        }
      },
      RUN_MS
    )

    test.each([
      { name: 'plan.js', says: 'plan.js is a JavaScript simulation' },
      { name: 'plan.jmx', says: 'plan.jmx is not a plan for Gatling' }
    ])('$name is refused before a run is created', async ({ name, says }) => {
      const reply = await postForm(service, '/runs', formOf({ [name]: '' }))
      expect([reply.status, reply.json.error]).toEqual([422, expect.stringContaining(says)])
    })
  }
)
