import { afterAll, describe, expect, test } from '@jest/globals'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeJMeter, writeSample } from './stand-in.js'
import { createRun, createServices, get, until, waitForStatus } from './support.js'

const services = createServices()
afterAll(() => services.closeAll())

const SECRET = 'root:$6$very-secret-hash'

async function start(lines: (secretFile: string) => readonly string[]) {
  const secretFile = join(services.folder(), 'shadow')
  writeFileSync(secretFile, `${SECRET}\n`)
  const home = writeJMeter(services.folder(), lines(secretFile))
  const service = await services.start({ engine: 'real', env: { ...process.env, JMETER_HOME: home } })
  return { service, id: await createRun(service) }
}

const replaced = (what: string): string[] => [writeSample('one'), 'rm -f "$samples"', what]

describe('a plan that replaces its results', () => {
  test.each([
    { name: 'a pipe', lines: () => replaced('mkfifo "$samples"') },
    { name: 'a symbolic link', lines: (file: string) => replaced(`ln -s "${file}" "$samples"`) },
    { name: 'a folder', lines: () => replaced('mkdir "$samples"') }
  ])('by $name has a problem that says so, and nothing of it is read', async ({ name, lines }) => {
    const { service, id } = await start(lines)
    const { json } = await waitForStatus(service, `/runs/${id}`, ['problem'])
    expect(json.remote_errors).toContain(
      `are ${name}, not a regular file: the plan replaced them, so they were not read`
    )
    const csv = await get(service, `/runs/${id}/result.csv`)
    expect(csv.text).not.toContain(SECRET)
    expect((await get(service, `/runs/${id}/report`)).text).not.toContain(SECRET)
  })

  test.each([
    { name: 'a pipe', what: () => 'mkfifo "$log"' },
    { name: 'a symbolic link', what: (file: string) => `ln -s "${file}" "$log"` }
  ])('s log by $name has a problem too', async ({ name, what }) => {
    const { service, id } = await start((file) => [writeSample('one'), 'rm -f "$log"', what(file)])
    const { json } = await waitForStatus(service, `/runs/${id}`, ['problem'])
    expect(json.remote_errors).toContain(`.log is ${name}, not a regular file`)
    expect((await get(service, `/runs/${id}/archive`)).text).not.toContain(SECRET)
  })

  test('by a pipe while it runs: whoever follows it gets an answer', async () => {
    const ready = join(services.folder(), 'ready')
    const go = join(services.folder(), 'go')
    const { service, id } = await start(() => [
      ...replaced('mkfifo "$samples"'),
      `echo > "${ready}"; until [ -e "${go}" ]; do sleep 0.05; done`
    ])
    await until(() => existsSync(ready))
    const { json } = await get(service, `/runs/${id}`)
    const [grid] = json._embedded.grids
    // More than the threads that Node has for files.
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => get(service, `/runs/${id}/result.csv?grid_id=${grid!.uuid}`))
    )
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 404))
    expect((await get(service, `/runs/${id}`)).json.status).toBe('running')
    writeFileSync(go, '')
    await waitForStatus(service, `/runs/${id}`, ['problem'])
  })

  test('by its samples and a hole of a gigabyte keeps the samples, and reports the rest', async () => {
    const { service, id } = await start(() => [writeSample('one'), 'truncate -s 1G "$samples"'])
    const { json } = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
    expect(json.remote_errors).toContain('end in the middle of a row')
    expect((await get(service, `/runs/${id}/result.csv`)).text).toContain(',one,')
  })
})

test('a folder of logs that leads elsewhere has no logs', async () => {
  const { service, id } = await start((file) => [
    writeSample('one'),
    `logs=$(dirname "$log"); rm -rf "$logs"; ln -s "$(dirname "${file}")" "$logs"`
  ])
  await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
  expect((await get(service, `/runs/${id}/archive`)).text).not.toContain(SECRET)
  expect((await get(service, `/runs/${id}/logs/shadow`)).status).toBe(404)
})

test('a plan that prints without end is shown up to a limit, and the service answers meanwhile', async () => {
  const home = writeJMeter(services.folder(), [
    writeSample('one'),
    // 20 MB without a line feed, then a million lines.
    'head -c 20000000 /dev/zero | tr "\\\\0" x; echo',
    'yes | head -n 1000000',
    'echo the last words; trap - EXIT; exit 3'
  ])
  const service = await services.start({ engine: 'real', env: { ...process.env, JMETER_HOME: home } })
  const id = await createRun(service)
  const { json } = await waitForStatus(service, `/runs/${id}`, ['problem'])
  expect(json.remote_errors).toContain('the last words')
  expect(service.lines.length).toBeLessThan(2100)
  expect(service.lines.join('\n')).toContain('JMeter prints a lot; the rest is not shown')
  expect(Math.max(...service.lines.map((line) => line.length))).toBeLessThan(9000)
})
