import { afterEach, describe, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { createFolders, createServices, finishRun, type FormPart, postForm, specFields } from '../support.js'

const services = createServices()
const folders = createFolders()
afterEach(async () => {
  await services.closeAll()
  folders.remove()
})

const form = (tool: string, ...fileNames: string[]): FormPart[] => [
  ['run[tool]', tool],
  ...specFields(),
  ...fileNames.map((fileName) => ({ name: 'run_files[]', fileName, content: '' }))
]
const JAVA_TOOLS = ['gatling', 'java-selenium-chrome', 'java-selenium-firefox']

describe.each(JAVA_TOOLS)('a colon in a path, with %s', (tool) => {
  test('in the name of a jar is refused', async () => {
    const service = await services.start({ engine: 'real', env: { PATH: '' } })
    const reply = await postForm(service, '/runs', form(tool, 'Plan.java', 'lib:1.0.JAR', '12:30.csv'))
    expect(reply.status).toBe(422)
    expect(reply.json.error).toBe(
      'lib:1.0.JAR cannot be on a class path, where ":" separates the files; rename the file'
    )
  })

  test('in the data folder is a problem that names it', async () => {
    const dataDir = join(folders.create(), '12:30')
    const service = await services.start({ engine: 'real', env: { PATH: '' }, dataDir })
    const { json } = await finishRun(service, form(tool, 'Plan.java'))
    expect(json.remote_errors).toContain(`The folder ${dataDir}`)
    expect(json.remote_errors).toContain(
      'cannot be on a class path, where ":" separates the folders; let --output, --data or'
    )
  })

  test('in the cache folder is a problem that names it', async () => {
    const env = { PATH: '', XDG_CACHE_HOME: join(folders.create(), 'a:b') }
    const service = await services.start({ engine: 'real', env })
    const { json } = await finishRun(service, form(tool, 'Plan.java'))
    expect(json.remote_errors).toContain(`The folder ${env.XDG_CACHE_HOME} cannot be on a class path`)
    expect(json.remote_errors).toContain('XDG_CACHE_HOME')
  })
})

test('the other tools have no class path of files', async () => {
  const service = await services.start({ engine: 'real', env: { PATH: '' } })
  for (const [tool, plan] of [
    ['jmeter', 'plan.jmx'],
    ['service-chrome', 'plan.ts']
  ] as const)
    expect((await postForm(service, '/runs', form(tool, plan, 'lib:1.0.jar'))).status).toBe(201)
})
