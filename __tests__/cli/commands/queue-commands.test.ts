import { afterAll, expect, test } from '@jest/globals'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommandLine } from '../../../src/cli/commands.js'
import { openQueue } from '../../../src/service/accounts/open-queue.js'
import { openStore } from '../../../src/service/serve.js'
import { makeRun } from '../../service/store/records.js'
import { createFolders } from '../../service/support.js'
import { makeCommandPorts } from '../command-ports.js'

const folders = createFolders()
afterAll(() => folders.remove())

function makeService(): { dataDir: string; type: (...words: string[]) => Promise<string> } {
  const workspace = folders.create()
  writeFileSync(join(workspace, 'service.yml'), 'listen: 127.0.0.1:8443\ndata: data\n')
  return {
    dataDir: join(workspace, 'data'),
    type: async (...words) => {
      const ports = makeCommandPorts({
        workspace,
        openQueue: (folder) => new Promise((resolve) => resolve(openQueue(folder, () => undefined)))
      })
      expect(await runCommandLine(['queue', ...words], ports)).toBe(0)
      return ports.screen.out.text
    }
  }
}

const CONFIG = ['--config', 'service.yml']

test('shows who waits, holds the queue and lets it go, which the audit log knows', async () => {
  const { dataDir, type } = makeService()
  const store = openStore(dataDir, { log: () => undefined })
  const run = makeRun({ request: { name: 'nightly', project: 'shop' }, user: { id: 1, name: 'anna' } })
  store.create({ run, grids: [] })
  store.close()
  expect(await type(...CONFIG)).toMatch(/^The queue is not held\.\n.*run.*\n.*nightly/s)
  expect(await type('resume', ...CONFIG)).toBe('The queue is not held.\n')
  await type('hold', ...CONFIG)
  const shown = await type('--json', '--data', 'data')
  expect(JSON.parse(shown)).toEqual({
    held: 'an admin has held it',
    runs: [
      { id: run.id, name: 'nightly', project: 'shop', user: 'anna', created: '1970-01-01T00:00:00.001Z' }
    ]
  })
  expect(await type(...CONFIG)).toContain('The queue is held: an admin has held it. `loadgate stop <id>`')
  expect(await type('resume', ...CONFIG)).toContain('no longer held; 1 waiting run can start')
  expect(JSON.parse(await type('--json', ...CONFIG))).toMatchObject({ held: null })
  const lines = readFileSync(join(dataDir, 'audit.jsonl'), 'utf8').trim().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { action: string }).action)).toEqual([
    'queue.hold',
    'queue.resume'
  ])
})

test('needs to know where the data is, and makes no folder of a mistyped one', async () => {
  const { type } = makeService()
  await expect(type()).rejects.toThrow('give the config file of the service with --config <file>')
  await expect(type(...CONFIG, '--data', 'data')).rejects.toThrow('leave out --data')
  await expect(type('resume', '--data', 'typo')).rejects.toThrow('there is no data of a service in')
})
