import { afterAll, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { basename, join } from 'node:path'
import { createServices, finishRun, runForm, specFields } from '../support.js'
import { writeJMeter, writeSample } from '../stand-in.js'

const services = createServices()
afterAll(() => services.closeAll())

/** A service after a run on two nodes, whose tool has written these lines into its log. */
async function runWithLog(
  lines: readonly string[],
  parameters: Record<string, string> = {}
): Promise<{ service: Awaited<ReturnType<typeof services.start>>; runId: string }> {
  const home = writeJMeter(services.folder(), [
    writeSample('home'),
    ...lines.map((line) => `echo "${line}" >> "$log"`)
  ])
  const service = await services.start({
    engine: 'real',
    env: { PATH: process.env.PATH, JMETER_HOME: home }
  })
  const run = await finishRun(service, runForm(parameters, specFields({ instance_quantity: '2' })))
  return { service, runId: run.json.uuid }
}

describe('the logs of a run', () => {
  test('are copied, one per node, without secrets', async () => {
    const { service, runId } = await runWithLog(
      [
        'Setting JMeter property: shop.password=correct-horse',
        'login with correct-horse failed',
        'Authorization: Bearer abcdefgh',
        'handed-in and kept'
      ],
      { override_parameters: '-Jshop.password=correct-horse' }
    )
    const folder = join(services.folder(), 'logs')
    const copies = await service.keepLogs({ runId, folder, secrets: ['handed-in'] })
    expect(copies.map((path) => basename(path))).toEqual([
      expect.stringMatching(/^[0-9a-f]{24}-1\.log$/),
      expect.stringMatching(/^[0-9a-f]{24}-2\.log$/)
    ])
    for (const path of copies)
      expect(readFileSync(path, 'utf8')).toBe(
        'Setting JMeter property: shop.password=***\nlogin with *** failed\nAuthorization: ***\n*** and kept\n'
      )
  })

  test('are files alone, and of a line without an end only its start is kept', async () => {
    const { service, runId } = await runWithLog(['nothing'], { override_parameters: '-Jkey=correct-horse' })
    const logs = join(service.dataDir, 'runs', runId, 'logs')
    execFileSync('mkfifo', [join(logs, 'pipe.log')])
    symlinkSync('/etc/hostname', join(logs, 'link.log'))
    const long = `first\n${'x'.repeat(2_000_000)}correct-horse${'y'.repeat(4_000_000)}`
    writeFileSync(join(logs, 'long.log'), long)
    const copies = await service.keepLogs({ runId, folder: services.folder(), secrets: [] })
    expect(copies.map((path) => basename(path))).toEqual([expect.anything(), expect.anything(), 'long.log'])
    const kept = readFileSync(copies[2]!, 'utf8')
    expect(kept.length).toBeLessThan(100)
    expect(kept).toMatch(/^first\n… \d+ bytes or slightly more omitted …\n$/)
  })

  test('are cut to what is shown when the run ends', async () => {
    const home = writeJMeter(services.folder(), [
      writeSample('home'),
      'echo first >"$log"; yes some words | head -n 700000 >>"$log"; echo last >>"$log"; truncate -s 60G "$log.holes"'
    ])
    const service = await services.start({
      engine: 'real',
      env: { PATH: process.env.PATH, JMETER_HOME: home }
    })
    const { json } = await finishRun(service, runForm({}, specFields({ instance_quantity: '1' })))
    const logs = service.store.folder.logsDir(json.uuid)
    const [name = '', holes = ''] = readdirSync(logs).sort()
    const text = readFileSync(join(logs, name), 'utf8')
    expect(text.length).toBeLessThanOrEqual(5 * 1024 ** 2)
    expect(text).toMatch(
      /^first\nsome words\n[^]*\n… 24\d{5} bytes or slightly more omitted …\n[^]*\nlast\n$/
    )
    expect(statSync(join(logs, holes)).size).toBeLessThan(100)
    // It is shown as it is, and not cut again.
    const [copy] = await service.keepLogs({ runId: json.uuid, folder: services.folder(), secrets: [] })
    expect(readFileSync(copy!, 'utf8')).toBe(text)
  })

  test('never have the token of the service', async () => {
    const { service, runId } = await runWithLog(['nothing'])
    const [log] = await service.keepLogs({ runId, folder: services.folder(), secrets: [] })
    const original = join(service.dataDir, 'runs', runId, 'logs', basename(log!))
    appendFileSync(original, `GET /x with ${service.token}\n`)
    const [again] = await service.keepLogs({ runId, folder: services.folder(), secrets: [] })
    expect(readFileSync(again!, 'utf8')).toBe('nothing\nGET /x with ***\n')
  })

  test('are cut in the middle where they are long, at line ends', async () => {
    const { service, runId } = await runWithLog(['the first line'])
    const [log] = await service.keepLogs({ runId, folder: services.folder(), secrets: [] })
    const original = join(service.dataDir, 'runs', runId, 'logs', basename(log!))
    truncateSync(original, 300 * 1024 ** 2)
    appendFileSync(original, '\nthe last line\n')
    const [cut] = await service.keepLogs({ runId, folder: services.folder(), secrets: [] })
    expect(statSync(cut!).size).toBeLessThanOrEqual(5 * 1024 ** 2)
    expect(readFileSync(cut!, 'utf8')).toMatch(
      /^the first line\n… \d+ bytes or slightly more omitted …\nthe last line\n$/
    )
  })

  test('of an unknown run are none, and no folder is created', async () => {
    const service = await services.start()
    const folder = join(services.folder(), 'logs')
    expect(await service.keepLogs({ runId: '../..', folder, secrets: [] })).toEqual([])
    expect(existsSync(folder)).toBe(false)
  })
})
