import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { INSTALL_MS, jmeterNote, lacksJMeter } from '../e2e/cli-command.js'
import * as plans from '../support/data/jmeter-plans.js'
import { listen, nextWhere, visit, WITH_PAGES } from '../service/pages/page-support.js'
import {
  createRun,
  createServices,
  finishRun,
  type FormPart,
  get,
  type Reply,
  runForm,
  specFields,
  waitForStatus
} from '../service/support.js'

const describeWithJMeter = lacksJMeter ? describe.skip : describe
const RUN_MS = 120_000

describeWithJMeter(`what real JMeter leaves out with exit code 0${jmeterNote}`, () => {
  const services = createServices()
  let service: Awaited<ReturnType<typeof services.start>>
  const good = plans.group('good', [plans.sample('fine')])

  beforeAll(async () => {
    service = await services.start({ engine: 'real' })
    // Installs JMeter if there is none.
    await finishRun(service, runForm({}, specFields(), plans.makePlan(good)))
  }, INSTALL_MS)
  afterAll(() => services.closeAll())

  const run = (
    plan: string,
    files: Record<string, string> = {},
    grids: readonly FormPart[] = specFields()
  ): Promise<Reply> =>
    finishRun(service, [
      ...runForm({}, grids, plan),
      ...Object.entries(files).map(([fileName, content]) => ({ name: 'run_files[]', fileName, content }))
    ])

  /** How often each label was sampled, with success or without. */
  async function labelsOf({ json }: Reply): Promise<Record<string, number>> {
    const [, ...rows] = (await get(service, `/runs/${json.uuid}/result.csv`)).text.trimEnd().split('\n')
    const labels = rows.map((row) => `${row.split(',')[2]!} ${row.includes(',true,') ? 'ok' : 'failed'}`)
    return Object.fromEntries(
      [...new Set(labels)].map((label) => [label, labels.filter((l) => l === label).length])
    )
  }

  const linesOf = ({ json }: Reply): string[] => (json.remote_errors ?? '').split('\n').sort()

  /** How often JMeter looks for a file is up to JMeter. */
  const withoutCounts = (lines: readonly string[]): string[] =>
    lines.map((line) => line.replace(/ \(\d+ times\)$/, ''))

  test(
    'thread groups that recorded no samples are told; one of an undefined number of threads is a loss, those that have nothing to do are not told',
    async () => {
      const never = plans.sample('never')
      const plan = plans.makePlan(
        good,
        plans.group('undefined', [never]).replace(/(num_threads">)2/, '$1${users}'),
        plans.group('never true', [plans.ifTrue('false', [never])]),
        plans.group('twin', [plans.sample('one')]),
        plans.group('twin', [plans.ifTrue('false', [never])]),
        plans.group('by property', [never]).replace(/(num_threads">)2/, '$1${__P(others,0)}'),
        plans.group('only prepares', [
          plans.script('JSR223PreProcessor', 'x', { groovy: 'vars.put("a", "b")' })
        ]),
        plans.group('named ${__threadNum}', [plans.sample('two')])
      )
      const ended = await run(plan)
      expect(ended.json.status).toBe('finished')
      const words =
        'recorded no samples; does the number of threads evaluate to 0, or does a condition prevent its requests?'
      const { warnings } = (await get(service, `/runs/${ended.json.uuid}/report`)).json
      expect([...warnings].sort()).toEqual([
        `JMeter: 1 of 2 thread groups called twin ${words}`,
        `JMeter: the thread group never true ${words}`
      ])
      expect(linesOf(ended)).toEqual([
        'load lost: JMeter: the thread group undefined recorded no samples: the number of threads or loops is ${users}, which nothing in the plan defines, so it counts as 0'
      ])
    },
    RUN_MS
  )

  test(
    'missing files, includes, scripts, functions and classes are losses, each with what to do',
    async () => {
      const plan = plans.makePlan(
        good,
        plans.group('data', [plans.dataSet('users.csv'), plans.sample('never')]),
        plans.group('fragment', [plans.sample('without login'), plans.include('parts/login.jmx')]),
        plans.group('functions', [
          plans.sample('a ${__FileToString(body.json,,)}'),
          plans.sample('b ${__CSVRead(rows.csv,0)}'),
          plans.sample('c ${__StringFromFile(lines.txt,,,)}')
        ]),
        plans.group('scripts', [
          plans.script('JSR223Sampler', 'script', { file: 'sampler.groovy' }),
          plans.sample('unprepared', [
            plans.script('JSR223PreProcessor', 'prepare', { file: 'prepare.groovy' })
          ])
        ]),
        plans.group('plugin', [plans.javaRequest('class', 'com.example.Missing')]),
        plans.group(
          'strict',
          [plans.script('JSR223Sampler', 'fail', { groovy: 'SampleResult.setSuccessful(false)' })],
          { onError: 'stopthread' }
        ),
        plans.group('broken', [
          plans.script('JSR223PreProcessor', 'x', { groovy: 'throw new StackOverflowError("deep")' }),
          plans.sample('never either')
        ])
      )
      const ended = await run(plan)
      expect(ended.json.status).toBe('finished')
      const missing = (name: string): string =>
        `load lost: JMeter: could not read ${name}; is it listed under files?`
      expect(linesOf(ended)).toContain(`${missing('users.csv')} (2 times)`)
      expect(withoutCounts(linesOf(ended))).toEqual(
        [
          missing('users.csv'),
          missing('parts/login.jmx'),
          missing('body.json'),
          missing('rows.csv'),
          missing('lines.txt'),
          missing('sampler.groovy'),
          missing('prepare.groovy'),
          'load lost: JMeter: the plan uses com.example.Missing, which this JMeter does not have; add its jar to files, or install the plugin into your own JMeter and point JMETER_HOME to it',
          'load lost: JMeter: a thread of strict stopped after a failed sample, as the plan says',
          'load lost: JMeter: a thread ended with an error ("java.lang.StackOverflowError: deep")'
        ].sort()
      )
      expect(await labelsOf(ended)).toMatchObject({ 'fine ok': 4, 'without login ok': 4, 'fail failed': 2 })
    },
    RUN_MS
  )

  test(
    'an open plan whose users do not all arrive, for its data file ends, has lost load; one in which they do has not',
    async () => {
      const plan = plans.makePlan(
        plans.openGroup('open', 'rate(20/s) random_arrivals(3 s) pause(1 s)', [plans.sample('arrived')]),
        plans.openGroup('short', 'rate(20/s) random_arrivals(3 s) pause(1 s)', [
          plans.dataSet('users.csv', { recycle: false, stopThread: true }),
          plans.sample('served')
        ])
      )
      const ended = await run(plan, { 'users.csv': 'ada\n'.repeat(30) })
      expect(ended.json.status).toBe('finished')
      expect(linesOf(ended)).toEqual([
        'load lost: JMeter: the thread group short recorded samples of 30 of the 60 users who should have arrived (50 %); does a data file end, or was the machine too busy to start them?'
      ])
      const { 'arrived ok': arrived, ...others } = await labelsOf(ended)
      // JMeter cuts off who arrives late on a busy machine; from 95 % on that is no lost load.
      expect(arrived).toBeGreaterThanOrEqual(57)
      expect(others).toEqual({ 'served ok': 30 })
    },
    RUN_MS
  )

  test(
    'a data file that stops all of the plan: each node says that it recorded no samples, and why',
    async () => {
      const plan = plans.makePlan(plans.dataSet('users.csv'), good, plans.group('other', [plans.sample('x')]))
      const ended = await run(plan, {}, specFields({ instance_quantity: '2' }))
      expect(ended.json).toMatchObject({ status: 'finished', apdex: null })
      expect(linesOf(ended)).toEqual([
        'load lost: JMeter: could not read users.csv; is it listed under files? (4 times)',
        expect.stringMatching(/^load lost: us-east-1 \w{6} node 1 recorded no samples$/),
        expect.stringMatching(/^load lost: us-east-1 \w{6} node 2 recorded no samples$/)
      ])
    },
    RUN_MS
  )

  test(
    'a plan that looks for its files in folders finds them, in included plans too',
    async () => {
      const plan = plans.makePlan(
        plans.group('users', [
          plans.dataSet('data/users.csv'),
          plans.sample('${user}'),
          plans.include('parts/login.jmx')
        ])
      )
      const ended = await run(plan, {
        'users.csv': 'ada\n',
        'login.jmx': plans.makeFragment(plans.sample('login ${__FileToString(parts/data/body.txt,,)}')),
        'body.txt': 'grace'
      })
      expect(ended.json).toMatchObject({ status: 'finished', remote_errors: null })
      expect(await labelsOf(ended)).toEqual({ 'ada ok': 4, 'login grace ok': 4 })
    },
    RUN_MS
  )

  test(
    'a file that was uploaded, but is looked for elsewhere: the advice is another one',
    async () => {
      const plan = plans.makePlan(
        good,
        plans.group('bad', [plans.sample('x'), plans.include('../parts/login.jmx')])
      )
      const ended = await run(plan, { 'login.jmx': plans.makeFragment(plans.sample('login')) })
      expect(withoutCounts(linesOf(ended))).toEqual([
        'load lost: JMeter: could not read ../parts/login.jmx; login.jmx was uploaded next to the plan, without its folder: refer to it as login.jmx in the plan'
      ])
    },
    RUN_MS
  )

  test(
    'errors of samples and listeners are not losses, nor is an end that the plan asks for',
    async () => {
      const plan = plans.makePlan(
        good,
        plans.group('extract', [plans.sample('extracted', [plans.badExtractor()])]),
        plans.group('assert', [
          plans.sample('asserted', [
            plans.script('JSR223Assertion', 'as', { groovy: 'throw new RuntimeException("Test failed!")' })
          ])
        ]),
        plans.group('refused', [plans.refusedRequest('refused')]),
        plans.group(
          'twice',
          [
            plans.dataSet('users.csv', { recycle: false, stopThread: true }),
            plans.sample('until the end of the file')
          ],
          { loops: 9 }
        ),
        plans.badListeners()
      )
      const ended = await run(plan, { 'users.csv': 'ada\ngrace\nlinus\n' })
      expect(ended.json).toMatchObject({ status: 'finished', remote_errors: null })
      expect(await labelsOf(ended)).toEqual({
        'fine ok': 4,
        'extracted ok': 4,
        'asserted failed': 4,
        'refused failed': 4,
        'until the end of the file ok': 3
      })
      const notes = service.lines.filter((line) => line.includes('its log says: '))
      expect(notes.join('\n')).toMatch(/RegexExtractor: Error in pattern/)
    },
    RUN_MS
  )

  test(
    'memory that runs out',
    async () => {
      const small = await services.start({
        engine: 'real',
        env: { ...process.env, HEAP: '-Xms96m -Xmx96m' }
      })
      const hoard = 'def all = []; while (true) all.add(new byte[20000000])'
      const plan = plans.makePlan(
        good,
        plans.group('hoard', [plans.script('JSR223Sampler', 'hoard', { groovy: hoard })], { threads: 1 })
      )
      const ended = await finishRun(small, runForm({}, specFields(), plan))
      expect(ended.json.status).toBe('finished')
      expect(ended.json.remote_errors).toMatch(
        /^load lost: JMeter: ran out of memory \("java\.lang\.OutOfMemoryError: Java heap space"\); give it more, for example HEAP=-Xmx2g/
      )
    },
    RUN_MS
  )

  test(
    "a module that leads nowhere: the plan cannot be run, with JMeter's message",
    async () => {
      const ended = await run(
        plans.makePlan(good, plans.group('bad', [plans.sample('x'), plans.missingModule()]))
      )
      expect(ended.json.status).toBe('problem')
      expect(ended.json.remote_errors).toContain('ModuleController:module has no selected Controller')
    },
    RUN_MS
  )

  test(
    'a plan that writes to its data file changes its own copy only',
    async () => {
      const append = `new File('users.csv').append('changed\\n')`
      const plan = plans.makePlan(
        plans.group(
          'one',
          [
            plans.sample(`\${__groovy(new File('users.csv').readLines().size())} rows`),
            plans.script('JSR223Sampler', 'append', { groovy: append })
          ],
          { threads: 1, loops: 1 }
        )
      )
      const first = await run(plan, { 'users.csv': 'ada\n' }, specFields({ instance_quantity: '2' }))
      const { uuid } = (await get(service, `/runs/${first.json.uuid}/repeat`)).json
      const second = await waitForStatus(service, `/runs/${uuid}`, ['finished', 'problem'])
      const counts = { '1 rows ok': 2, 'append ok': 2 }
      expect([await labelsOf(first), await labelsOf(second)]).toEqual([counts, counts])
      const { href } = first.json._embedded.files[1]!
      expect((await get(service, new URL(href).pathname)).text).toBe('ada\n')
    },
    RUN_MS
  )

  test(
    'a slow plan is seen while it runs, and a stop keeps whole rows',
    async () => {
      const watched = await services.start({ ...WITH_PAGES, engine: 'real' })
      const cookie = await visit(watched)
      // Far less than JMeter's own buffer holds, and then nothing for a long time.
      const samples = [plans.sample('quick'), plans.sample('endless', [], 600_000)]
      const slow = plans.group('slow', samples, { threads: 3 })
      const id = await createRun(watched, runForm({}, specFields(), plans.makePlan(slow)))
      const listener = await listen(watched, `/runs/${id}/events`, cookie)
      const seen = await nextWhere(listener, ({ views }) => views[0]?.figures.samples === 3)
      expect(seen.headline).toBe('running')
      await get(watched, `/runs/${id}/stop`)
      const [header = '', ...rows] = (await get(watched, `/runs/${id}/result.csv`)).text.trimEnd().split('\n')
      expect(rows).toHaveLength(3)
      expect(new Set(rows.map((row) => row.split(',').length))).toEqual(new Set([header.split(',').length]))
    },
    RUN_MS
  )
})
