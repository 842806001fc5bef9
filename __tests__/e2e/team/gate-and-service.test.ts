import { afterEach, expect, test } from '@jest/globals'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from '../cli-command.js'
import { inRealTime, TeamService } from './team-service.js'

let team: TeamService
const closing: (() => void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) close()
  await team.remove()
})

/** A proxy for everything that is not on this machine, which lets nothing through and notes it. */
async function startProxy(): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(502).end()
  })
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '')
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

test('a gate that knows the service by another address than its external one passes, and asks nobody else', async () => {
  team = await TeamService.create({ config: 'external-url: https://load.example.com\nmax-nodes: 1' })
  await team.start()
  const ann = await team.addUser('ann', 'member')
  const proxy = await startProxy()
  team.gateEnv = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url }
  const gate = team.startGate(ann, 'first', ['--duration', '2s', '--thresholds', 'p95 < 9s'])
  const { code, out, err } = await gate.ended
  expect(out + err).toContain('PASSED')
  expect([code, proxy.asked]).toEqual([0, []])
  // What people open is the external address.
  const { id } = team.verdictOf('first').run
  expect(out + err).toContain(`https://load.example.com/runs/${id}`)
}, 60_000)

test('a gate whose timeout passes in the queue says so, and its run does not stay there', async () => {
  team = await TeamService.create({ config: 'max-nodes: 1' })
  await team.start()
  const ann = await team.addUser('ann', 'member')
  team.startGate(ann, 'first', inRealTime(120))
  await until(() => /route":"\/runs".*201|201.*route":"\/runs"/.test(team.log))
  const second = team.startGate(ann, 'second', ['--timeout', '3s', '--thresholds', 'p95 < 9s'])
  const { code, out, err } = await second.ended
  expect(code).toBe(2)
  expect(out + err).toMatch(/queue.*position 1/)
  expect(team.verdictOf('second')).toMatchObject({
    verdict: 'timed-out',
    reason: expect.stringMatching(
      /^The run did not end within the timeout of 3 s\. \d s of it passed in the service's queue, last at position 1: raise timeout/
    )
  })
  const runs = (await team.listRuns(ann)).map(({ name, status }) => [name, status])
  expect(runs).toEqual([
    ['second', 'finished'],
    ['first', 'running']
  ])
}, 60_000)

test('a gate whose run is stopped in the queue ends at once: there are no samples to wait for', async () => {
  team = await TeamService.create({ config: 'max-nodes: 1' })
  await team.start()
  const ann = await team.addUser('ann', 'member')
  team.startGate(ann, 'first', inRealTime(120))
  await team.waitForRun(ann, 'first', ['running'])
  const second = team.startGate(ann, 'second', ['--duration', '5s', '--thresholds', 'apdex >= 0.5'])
  const { uuid } = await team.waitForRun(ann, 'second', ['queued'])
  await second.shows(/position 1/)
  const stoppedMs = Date.now()
  await team.send('GET', `/runs/${uuid}/stop`, { person: ann })
  const { code, out, err } = await second.ended
  expect(Date.now() - stoppedMs).toBeLessThan(15_000)
  expect(code).toBe(2)
  expect(team.verdictOf('second')).toMatchObject({
    verdict: 'inconclusive',
    reason: expect.stringMatching(/stopped by a caller/)
  })
  expect(out + err).not.toMatch(/not ready|could not be downloaded/)
}, 60_000)

test('stop-early behind a queue: the time there is no time of the run', async () => {
  team = await TeamService.create({ config: 'max-nodes: 1' })
  await team.start()
  const ann = await team.addUser('ann', 'member')
  team.startGate(ann, 'first', inRealTime(10))
  await team.waitForRun(ann, 'first', ['running'])
  const second = team.startGate(ann, 'second', [
    ...['--stop-early', 'true', '--duration', '60s', '--thresholds', 'failures < 5'],
    ...['--override-parameters', '-Jrehearsal.realtime=true -Jrehearsal.errors=50']
  ])
  await team.waitForRun(ann, 'second', ['queued'])
  await team.waitForRun(ann, 'second', ['running'])
  const startedMs = Date.now()
  expect((await second.ended).code).toBe(1)
  const tookSeconds = (Date.now() - startedMs) / 1000
  const { verdict, stopped_early: stop } = team.verdictOf('second') as unknown as {
    verdict: string
    stopped_early: { afterSeconds: number; savedSeconds: number }
  }
  expect(verdict).toBe('failed')
  expect(stop.afterSeconds).toBeLessThanOrEqual(tookSeconds)
  expect(stop.afterSeconds + stop.savedSeconds).toBeCloseTo(60, 0)
}, 90_000)
