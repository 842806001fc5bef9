import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readRun } from '../service/support.js'
import { runEndlessly, writeJMeter, writeSample } from '../service/stand-in.js'
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.js'
import { isAlive, killAll, runCommand, startCommand, until } from './cli-command.js'
import type { Command } from './cli-command.js'
import { removeFolder } from '../support/remove-folder.js'

const probe = mkdtempSync(join(tmpdir(), 'loadgate-disk-'))
const probed = mountSmallDisk(probe)
probed?.unmount()
removeFolder(probe)
/** Where it is required, a test that cannot mount a disk fails instead. */
const lacksMount = probed === undefined && process.env.LOADGATE_REQUIRE_MOUNT === undefined
const describeOnDisk = lacksMount ? describe.skip : describe
const note = lacksMount ? ' (skipped: this process may not mount one)' : ''

const TOKEN = 'a-token-for-this-test'
let folder: string
let disk: SmallDisk
let command: Command | undefined
let pids: number[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-disk-'))
  command = undefined
  pids = []
  writeFileSync(join(folder, 'plan.jmx'), '<HTTPSamplerProxy testname="home" enabled="true">')
  const mounted = mountSmallDisk(join(folder, 'disk'))
  if (mounted === undefined) throw new Error('no disk can be mounted here; it needs root')
  disk = mounted
})
afterEach(async () => {
  command?.child.kill('SIGKILL')
  await command?.ended
  killAll(pids)
  disk.unmount()
  removeFolder(folder)
})

describeOnDisk(`a full disk${note}`, () => {
  test('after Ctrl-C of a run: the samples are kept, and nothing is named that is not there', async () => {
    const pidFile = join(folder, 'pids')
    const JMETER_HOME = writeJMeter(join(folder, 'jmeter'), runEndlessly(pidFile))
    const args = ['run', '--files', 'plan.jmx', '--output', 'disk/out']
    command = startCommand(args, { cwd: folder, env: { JMETER_HOME } })
    await until(() => existsSync(pidFile))
    pids = readFileSync(pidFile, 'utf8').trim().split(' ').map(Number)
    disk.fill()
    command.child.kill('SIGINT')
    const { code, out } = await command.ended
    expect([code, pids.map(isAlive)]).toEqual([130, [false, false]])
    expect(out).toMatch(/^CANCELLED: /m)
    // The page is larger than what the end of the service has freed.
    expect(readdirSync(join(folder, 'disk', 'out'))).not.toContain('report.html')
    expect(out).not.toContain('The report')
    expect(out).toContain(`In ${join(folder, 'disk', 'out')} there are only the CSVs so far`)
    const kept = readdirSync(join(folder, 'disk', 'out', 'results')).filter((name) => name.endsWith('.csv'))
    expect(kept.map((name) => readFileSync(join(folder, 'disk', 'out', 'results', name), 'utf8'))).toEqual([
      expect.stringContaining(',endless,')
    ])
  })

  test('at the end of a run of two nodes: the service goes on, the run has ended, and its results come later', async () => {
    const goOn = join(folder, 'go-on')
    const rows = `i=0; while [ $i -lt 200 ]; do ${writeSample('home')}; i=$((i+1)); done`
    const lines = [rows, `touch "${folder}/ready-$$"`, `while [ ! -e '${goOn}' ]; do sleep 0.05; done`]
    const env = { JMETER_HOME: writeJMeter(join(folder, 'jmeter'), lines), LOADGATE_TOKEN: TOKEN }
    command = startCommand(['serve', '--data', 'disk/data'], { cwd: folder, env })
    const [, url] = await command.shows(/^Address: (\S+)$/m)
    const ask = async (...args: string[]): Promise<unknown> => {
      const all = [...args, '--base-url', url!, '--json']
      return JSON.parse((await runCommand(all, { cwd: folder, env })).out)
    }
    const grids =
      '[{ region: r, instance_quantity: 2, instance_type: small, infrastructure: demand, stop_after: 9 }]'
    const started = await ask('run', '--files', 'plan.jmx', '--grids', grids, '--wait', 'false')
    const id = (started as Record<string, string>)['run-id']!
    const isReady = (): boolean =>
      readdirSync(folder).filter((name) => name.startsWith('ready-')).length === 2
    await until(isReady)
    disk.fill()
    writeFileSync(goOn, '')
    let run = (await ask('run', id)) as Record<string, string>
    while (run.status === 'running') run = (await ask('run', id)) as Record<string, string>
    expect(run).toMatchObject({ status: 'problem', remote_errors: expect.stringContaining('ENOSPC') })
    disk.free()
    const [csv] = (await ask('results', id, '--output', 'results')) as { path: string }[]
    expect(readFileSync(csv!.path, 'utf8').match(/,home,/g)).toHaveLength(400)
    command.child.kill('SIGTERM')
    expect((await command.ended).code).toBe(0)
    expect(readRun(join(folder, 'disk/data'), id)).toMatchObject({ status: 'problem', samples: 400 })
  })
})
