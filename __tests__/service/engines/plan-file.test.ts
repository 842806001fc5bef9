import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { findIncludingPlan, findPlan } from '../../../src/service/engines/plan-file.js'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from '../../../src/service/server.js'
import {
  createFolders,
  createServices,
  type Doc,
  finishRun,
  type FormPart,
  get,
  PLAN,
  postForm,
  specFields
} from '../support.js'

describe('which file is the plan', () => {
  test.each([
    ['jmeter', ['users.csv', 'plan.jmx'], 'plan.jmx'],
    ['jmeter', ['plan.JMX', 'part.jmx', 'users.csv'], 'plan.JMX'],
    ['jmeter', ['plan.xml', 'users.csv'], 'plan.xml'],
    ['gatling', ['users.csv', 'lib.jar', 'Shop.scala'], 'Shop.scala'],
    ['gatling', ['environment', 'shop.jar'], 'shop.jar'],
    ['gatling', ['lib.jar', 'Shop.java'], 'Shop.java'],
    ['gatling', ['users.csv', 'Shop.java', 'Pages.java'], 'Shop.java'],
    ['java-selenium-firefox', ['lib.jar', 'Shop.java', 'Pages.java'], 'Shop.java'],
    ['service-chrome', ['users.csv', 'types.d.ts', 'shop.ts'], 'shop.ts'],
    ['service-chrome', ['shop.ts', 'pages.ts'], 'shop.ts']
  ])('%s of %j: %s', (tool, fileNames, name) => {
    expect(findPlan(tool, fileNames)).toEqual({ name })
  })

  test.each([['service-chrome', ['users.csv', 'a.ts', 'b.js', 'c.ts'], 'a.ts, b.js and c.ts']])(
    '%s of %j: nobody can tell',
    (tool, fileNames, names) => {
      expect(findPlan(tool, fileNames)).toEqual({
        problem: `${names} can all be the plan: send the plan as the first file`
      })
    }
  )
})

describe('which of several plans for JMeter runs', () => {
  const folders = createFolders()
  afterAll(() => folders.remove())

  const include = (path: string, enabled = true): string =>
    `<IncludeController enabled="${enabled}"><stringProp name="IncludeController.includepath">${path}</stringProp></IncludeController><hashTree/>`
  const planWith = (xml = ''): string => PLAN.replace('<HTTPSamplerProxy', `${xml}<HTTPSamplerProxy`)
  const fragment = (xml = ''): string =>
    `<jmeterTestPlan><hashTree><TestFragmentController/><hashTree>${xml}</hashTree></hashTree></jmeterTestPlan>`
  async function find(files: Readonly<Record<string, string | Buffer>>): Promise<string | undefined> {
    const folder = folders.create()
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
    const found = await findIncludingPlan('jmeter', Object.keys(files), folder)
    return found && ('name' in found ? found.name : found.problem)
  }

  const INCLUDING = planWith(include('parts/part.jmx'))
  test.each<[what: string, files: Record<string, string | Buffer>, plan: string | undefined]>([
    ['a plan alone', { 'u.csv': 'a', 'plan.jmx': PLAN }, undefined],
    ['a part without threads before it', { 'part.jmx': fragment(), 'plan.jmx': PLAN }, 'plan.jmx'],
    ['a part with threads before it', { 'part.jmx': PLAN, 'plan.jmx': INCLUDING }, 'plan.jmx'],
    ['a path of Windows', { 'b.jmx': PLAN, 'a.jmx': planWith(include('c:\\parts\\b.jmx')) }, 'a.jmx'],
    ['a folder in a variable', { 'b.jmx': PLAN, 'a.jmx': planWith(include('${dir}/b.jmx')) }, 'a.jmx'],
    ['a name in a variable', { 'b.jmx': PLAN, 'a.jmx': planWith(include('${part}')) }, 'a.jmx'],
    [
      'parts of parts',
      { 'c.jmx': PLAN, 'b.jmx': fragment(include('c.jmx')), 'a.jmx': planWith(include('b.jmx')) },
      'a.jmx'
    ],
    ['only the part has threads', { 'b.jmx': PLAN, 'a.jmx': fragment(include('b.jmx')) }, 'a.jmx'],
    ['UTF-16', { 'part.jmx': PLAN, 'plan.jmx': Buffer.from(INCLUDING, 'utf16le') }, 'plan.jmx'],
    [
      'UTF-16 with a mark',
      { 'part.jmx': PLAN, 'plan.jmx': Buffer.from(`\ufeff${INCLUDING}`, 'utf16le') },
      'plan.jmx'
    ],
    ['a broken part', { 'part.jmx': '<a>', 'plan.jmx': PLAN }, 'plan.jmx']
  ])('%s', async (_, files, plan) => {
    expect(await find(files)).toBe(plan)
  })

  test.each<[what: string, one: string, other: string]>([
    ['none includes another', PLAN, PLAN],
    ['a comment names what would', planWith(`<!-- ${include('b.jmx')} -->`), PLAN],
    ['what would is disabled', planWith(include('b.jmx', false)), PLAN],
    ['another file is included', planWith(include('c.jmx')), PLAN],
    ['each includes the other', planWith(include('b.jmx')), planWith(include('a.jmx'))],
    ['both include what a variable says', planWith(include('${x}')), planWith(include('${x}'))],
    ['neither has threads', fragment(), fragment()]
  ])('%s: nobody can tell', async (_, one, other) => {
    expect(await find({ 'u.csv': 'a', 'a.jmx': one, 'b.jmx': other })).toBe(
      'a.jmx and b.jmx are plans, and a run has one: send one of them, or a plan that includes the others by an Include Controller'
    )
  })
})

describe('over HTTP', () => {
  const services = createServices()
  let service: Service
  beforeAll(async () => {
    service = await services.start()
  })
  afterAll(() => services.closeAll())

  const file = (fileName: string, content: string): FormPart => ({ name: 'run_files[]', fileName, content })
  const form = (...files: FormPart[]): FormPart[] => [['run[tool]', 'jmeter'], ...specFields(), ...files]
  const namesOf = (run: Doc): string[] => run._embedded.files.map(({ name }) => name)

  test('a data file may come first: the plan runs', async () => {
    const run = await finishRun(service, form(file('users.csv', 'a,b\n'), file('plan.jmx', PLAN)))
    expect([run.json.status, namesOf(run.json)]).toEqual(['finished', ['plan.jmx', 'users.csv']])
    const { text } = await get(service, new URL(run.json._embedded.results[0]!.href).pathname)
    expect(text).toContain(',home,')
    expect(text).not.toContain('users.csv')
  })

  test('two plans are refused by name', async () => {
    const reply = await postForm(service, '/runs', form(file('a.jmx', PLAN), file('b.jmx', PLAN)))
    expect([reply.status, reply.json.error]).toEqual([
      422,
      'a.jmx and b.jmx are plans, and a run has one: send one of them, or a plan that includes the others by an Include Controller'
    ])
  })

  test('the plan comes first among the files, wherever it was sent', async () => {
    const include =
      '<IncludeController><stringProp name="IncludeController.includepath">a.jmx</stringProp></IncludeController><hashTree/>'
    const plan = PLAN.replace('<HTTPSamplerProxy', `${include}<HTTPSamplerProxy`)
    const files = [file('u.csv', 'a'), file('a.jmx', PLAN), file('b.jmx', plan)]
    const run = await postForm(service, '/runs', form(...files))
    expect([run.status, namesOf(run.json)]).toEqual([201, ['b.jmx', 'a.jmx', 'u.csv']])
  })

  test.each([
    ['jmeter', 'tool jmeter runs .jmx plans, not u.csv; the name of the plan must end in .jmx'],
    ['gatling', 'u.csv is not a plan for Gatling: the plan must be a simulation as'],
    [
      'java-selenium-chrome',
      'java-selenium-chrome: the plan must be Java source (.java), and "u.csv" is not'
    ],
    ['service-chrome', 'u.csv is not a script for service-chrome, which is TypeScript or JavaScript']
  ])('%s without a plan', async (tool, words) => {
    const real = await services.start({ engine: 'real' })
    const parts: FormPart[] = [['run[tool]', tool], ...specFields(), file('u.csv', 'a'), file('v.csv', 'b')]
    const reply = await postForm(real, '/runs', parts)
    expect([reply.status, reply.json.error]).toEqual([422, expect.stringContaining(words)])
    expect(reply.json.error).not.toContain('first file')
  })
})
