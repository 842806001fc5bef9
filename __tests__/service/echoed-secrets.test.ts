import { afterAll, expect, test } from '@jest/globals'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HTML, listen, visit, WITH_PAGES } from './pages/page-support.js'
import { runEndlessly, writeJMeter, writeSample } from './stand-in.js'
import { Store } from '../../src/service/store/store.js'
import { createRun, createServices, finishRun, get, runForm, specFields, until } from './support.js'

const SECRET = 's3cr3t-key'
const services = createServices()
afterAll(() => services.closeAll())

const echo = `echo "$(date +%s)000,12,home,500,no ${SECRET},t 1-1,text,false,,1,1,1,1,http://h/?k=${SECRET},12,0,1" >> "$samples"`
const withSecret = (fields: Record<string, string> = {}, nodes = '1') =>
  runForm(
    {
      override_parameters: `-Japi.token=${SECRET} -Jauth.flow=check & out -Jlogin.password=password`,
      ...fields
    },
    specFields({ instance_quantity: nodes })
  )

async function start(lines: readonly string[]) {
  const home = writeJMeter(services.folder(), lines)
  const env = { PATH: process.env.PATH, JMETER_HOME: home }
  const dataDir = services.folder()
  // As inside a step: only there samples are moved after the end.
  const store = new Store(dataDir)
  return services.start({ engine: 'real', env, dataDir, store, ...WITH_PAGES })
}

test.each(['1', '2'])('a secret that %s node(s) echo is in no results and on no page', async (nodes) => {
  const service = await start([echo, writeSample('check & out'), writeSample('lost password')])
  const run = await finishRun(service, withSecret({}, nodes))
  const { text } = await get(service, `/runs/${run.json.uuid}/result.csv`)
  expect(text.match(/,no \*{10},.*,http:\/\/h\/\?k=\*{10},/g)).toHaveLength(Number(nodes))
  expect(text).not.toContain(SECRET)
  // A word from the plan and a common one are not secrets.
  expect(text).toContain(',check & out,')
  expect(text).toContain(',lost password,')
  const cookie = await visit(service)
  const page = await get(service, `/runs/${run.json.uuid}`, { token: null, headers: { ...HTML, cookie } })
  expect(page.text).toContain('no **********')
  expect(page.text).not.toContain(SECRET)
})

test('a value that was marked as secret, whatever its name, is in no results, in no log and on no page', async () => {
  const service = await start([echo, `echo "read ${SECRET} and foo=17" >> "$log"`])
  const fields = { override_parameters: `-Jbar=${SECRET} -Jfoo=17`, secret_parameters: 'foo,bar' }
  const run = await finishRun(service, runForm(fields, specFields()))
  const { text } = await get(service, `/runs/${run.json.uuid}/result.csv`)
  expect(text).toMatch(/,no \*{10},/)
  expect(text).not.toContain(SECRET)
  const cookie = await visit(service)
  const page = await get(service, `/runs/${run.json.uuid}`, { token: null, headers: { ...HTML, cookie } })
  expect(page.text).toContain('no **********')
  expect(page.text).not.toContain(SECRET)
  const [log] = await service.keepLogs({ runId: run.json.uuid, folder: services.folder(), secrets: [] })
  expect(readFileSync(log!, 'utf8')).toBe('read *** and ***\n')
})

test('a secret of an uploaded environment file is in no results and in no log', async () => {
  const service = await start([echo, `echo "read ${SECRET}" >> "$log"`])
  const content = `# for the plan\nPLAIN=visible\nAPI_TOKEN="${SECRET}"\n`
  const files = [{ name: 'run_files[]', fileName: 'environment', content }]
  const run = await finishRun(service, [...runForm(), ...files])
  const { text } = await get(service, `/runs/${run.json.uuid}/result.csv`)
  expect(text).toMatch(/,no \*{10},/)
  expect(text).not.toContain(SECRET)
  const [log] = await service.keepLogs({ runId: run.json.uuid, folder: services.folder(), secrets: [] })
  expect(readFileSync(log!, 'utf8')).toBe('read ***\n')
})

test('a secret is redacted on the live page, and in samples that are moved as they are', async () => {
  const pidFile = join(services.folder(), 'pids')
  const service = await start([echo, ...runEndlessly(pidFile)])
  const id = await createRun(service, withSecret())
  await until(() => existsSync(pidFile))
  const listener = await listen(service, `/runs/${id}/events`, await visit(service))
  while (!JSON.stringify(await listener.next()).includes('no **********'));
  expect(listener.text()).not.toContain(SECRET)
  listener.close()
  await service.close({ withinMs: 0 })
  const folder = join(service.dataDir, 'kept')
  await service.keepSamples(folder)
  const [name = ''] = readdirSync(folder)
  const kept = readFileSync(join(folder, name), 'utf8')
  expect(kept).toContain('no **********')
  expect(kept).not.toContain(SECRET)
})
