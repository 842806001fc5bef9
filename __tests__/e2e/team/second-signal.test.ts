import { afterEach, expect, test } from '@jest/globals'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../cli-command.js'
import { inRealTime, TeamService } from './team-service.js'

let team: TeamService
afterEach(() => team.remove())

/** How many bytes of samples its nodes have written. */
const samplesOf = (id: string): number => {
  const folder = join(team.dataDir, 'runs', id)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.csv')
  )
  return files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)
}

test('a second signal ends a drain at once, and the next start keeps what there was', async () => {
  team = await TeamService.create({ config: 'drain: 5m' })
  await team.start()
  const ann = await team.addUser('ann', 'member')
  team.startGate(ann, 'long', inRealTime(120))
  await team.waitForRun(ann, 'long', ['running'])
  const { uuid } = (await team.runNamed(ann, 'long'))!
  await until(() => samplesOf(uuid) > 1000)
  team.process.child.kill('SIGTERM')
  await until(() => team.log.includes('draining'))
  expect((await team.send('GET', '/readyz')).status).toBe(503)
  const beganMs = Date.now()
  expect((await team.terminate()).code).toBe(130)
  expect(Date.now() - beganMs).toBeLessThan(5000)
  await team.start()
  const run = await team.waitForRun(ann, 'long', ['finished', 'problem'])
  expect([run.uuid, run.status]).toEqual([uuid, 'problem'])
  const { status, text } = await team.send('GET', `/runs/${uuid}/result.csv`, { person: ann })
  expect(status).toBe(200)
  expect(text.split('\n').length).toBeGreaterThan(2)
  expect((await team.terminate()).code).toBe(0)
}, 60_000)
