import { afterAll, describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServices, finishRun, type FormPart, get, postForm, runForm } from '../../support.js'
import { writeJMeter, writeSample } from '../../stand-in.js'

const services = createServices()
afterAll(() => services.closeAll())

const file = (fileName: string, content: string): FormPart => ({ name: 'run_files[]', fileName, content })

/** Runs with a stand-in for JMeter that writes down its arguments, and then runs these lines. */
async function run(form: readonly FormPart[], lines: readonly string[] = [writeSample('home')]) {
  const dir = services.folder()
  const home = writeJMeter(services.folder(), [
    `out='${dir}'; pwd > '${dir}/folder'; for argument in "$@"; do printf "%s\\n" "$argument"; done > '${dir}/arguments'`,
    ...lines
  ])
  const service = await services.start({ engine: 'real', env: { PATH: process.env.PATH, JMETER_HOME: home } })
  const { json } = await finishRun(service, form)
  const read = (name: string): string => readFileSync(join(dir, name), 'utf8').trimEnd()
  return { json, service, read, given: read('arguments').split('\n'), folder: read('folder') }
}

describe('files that are for JMeter itself', () => {
  test('user.properties is read before everything that the run is given, which wins', async () => {
    const form = [
      ...runForm({ threads: '3', override_parameters: '-Jhost=b' }),
      file('user.properties', 'host=a\nthreads=99\njmeter.save.saveservice.output_format=xml\n')
    ]
    const { json, given, folder } = await run(form)
    expect(json).toMatchObject({ status: 'finished', remote_errors: null })
    const at = given.indexOf('-q')
    expect(given[at + 1]).toBe(join(folder, 'user.properties'))
    for (const later of ['-Jhost=b', '-Jthreads=3', '-Jjmeter.save.saveservice.output_format=csv'])
      expect([later, given.indexOf(later) > at]).toEqual([later, true])
    expect(given.join(' ')).not.toContain('search_paths')
  })

  test.each([
    { what: 'alone', files: [], fields: {}, paths: '' },
    {
      what: 'with paths of a parameter',
      files: [],
      fields: { override_parameters: '-Jsearch_paths=/p' },
      paths: '/p;'
    },
    {
      what: 'with paths of user.properties',
      files: [file('user.properties', 'search_paths=/u')],
      fields: {},
      paths: '/u;'
    }
  ])('jars are found in the folder of the plan, $what', async ({ files, fields, paths }) => {
    const { given, folder } = await run([...runForm(fields), file('plugin.jar', 'PK'), ...files])
    const found = given.filter((argument) => argument.startsWith('-Jsearch_paths='))
    expect(found.at(-1)).toBe(`-Jsearch_paths=${paths}${folder}`)
  })

  test('without them, neither', async () => {
    const { given } = await run(runForm())
    expect(given).not.toContain('-q')
    expect(given.join(' ')).not.toContain('search_paths')
  })

  test('a secret of user.properties is shown nowhere', async () => {
    const secret = 'correct-horse'
    const lines = [writeSample(`as-${secret}`), `echo "logged in with ${secret}"`]
    const form = [...runForm(), file('user.properties', `shop.password = ${secret}\n`)]
    const { json, service } = await run(form, lines)
    expect(service.lines.join('\n')).toContain('logged in with ***')
    const csv = (await get(service, `/runs/${json.uuid}/result.csv`)).text
    expect(csv).toContain('as-***')
    expect(csv + service.lines.join('\n')).not.toContain(secret)
  })

  test('secrets are not on the command line, but in a file that only this user can read', async () => {
    const parameters = '-Jshop.password=a=ü \\"b, -Dkey.token=sys-token, -Jplain=1'
    const show = 'for each in properties system; do ls -l "$PWD.$each" | cut -c1-10; cat "$PWD.$each"; done'
    const { given, folder, read } = await run(runForm({ override_parameters: parameters }), [
      writeSample('home'),
      `(${show}) > "$out/shown" 2>&1`
    ])
    expect(given.join(' ')).not.toMatch(/ü|sys-token/)
    expect(given).toContain('-Jplain=1')
    const [q, s] = [given.indexOf('-q'), given.indexOf('-S')]
    expect([given[q + 1], given[s + 1]]).toEqual([`${folder}.properties`, `${folder}.system`])
    expect(read('shown').split('\n')).toEqual([
      '-rw-------',
      'shop.password=a\\u003d\\u00fc\\u0020\\u005c\\u0022b',
      '-rw-------',
      'key.token=sys\\u002dtoken'
    ])
  })

  test('jmeter.properties is refused: nothing would read it', async () => {
    const service = await services.start({ engine: 'real', env: {} })
    const reply = await postForm(service, '/runs', [...runForm(), file('jmeter.properties', 'a=b')])
    expect(reply.status).toBe(422)
    expect(reply.text).toContain(
      'jmeter.properties would not be used; put what differs from the defaults into user.properties'
    )
  })
})

test("neither JMeter's own summary, which counts something else, nor what it says in each run is in the log", async () => {
  const summary = [
    'summary +     12 in 00:00:05 =    2.4/s Avg:    96 Min:    20 Max:  1589 Err:     2 (16.67%) Active: 2 Started: 2 Finished: 0',
    'summary =     43 in 00:00:02 =   17.6/s Avg:    96 Min:    20 Max:  1589 Err:     2 (4.65%)',
    'Summary Report =   1513 in 01:00:20 =    0,4/s Avg:    96 Min:    20 Max:  1589 Err:     0 (0.00%)',
    'Creating summariser <summary>',
    'Created the tree successfully using /tmp/plan.jmx',
    'Tidying up ...    @ 2026 Nov 18 11:57:14 UTC (1795003034594)'
  ]
  const { service } = await run(runForm(), [
    writeSample('home'),
    ...summary.map((line) => `echo "${line}"`),
    'echo "summary = what a script prints"'
  ])
  expect(service.lines).toEqual([
    expect.stringMatching(/node 1: summary = what a script prints$/),
    expect.stringMatching(/node 1: \.\.\. end of run$/)
  ])
})

const PLAN = `<jmeterTestPlan><hashTree><TestPlan testname="plan"/><hashTree>
<SetupThreadGroup testname="log in"/><hashTree/><ThreadGroup testname="t"/><hashTree/>
</hashTree></hashTree></jmeterTestPlan>`

test('the service counts samples of setUp groups for their labels only', async () => {
  const sample = (label: string, thread: string, isOk: boolean): string =>
    `echo "$(date +%s)000,12,${label},500,Oops,${thread},text,${isOk},,1,1,1,1,null,12,0,1" >> "$samples"`
  const { json, service } = await run(runForm({}, undefined, PLAN), [
    sample('login', 'log in 1-1', false),
    ...['home', 'cart', 'cart'].map((label) => sample(label, 't 1-1', true))
  ])
  expect(json).toMatchObject({ status: 'finished', apdex: '1.0 [500]' })
  const report = await get(service, `/runs/${json.uuid}/report`)
  expect(report.json).toMatchObject({ mean_error_rate: 0 })
  const { summary } = report.json
  expect(summary).toContain('3 transactions passed with 0 failed.')
  expect(summary).toContain(
    '1 sample of setUp and tearDown thread groups counts for its label only, not overall. It failed: "login" (500 Oops).'
  )
})
