import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanUpStep } from '../../../src/gate/cleanup/post-step.js'
import type { CleanUpPorts } from '../../../src/gate/cleanup/post-step.js'
import type { StepState } from '../../../src/gate/saved-state.js'
import { LogBook, NOTHING_LEFT, makeState } from '../../support/gate/gate-ports.js'
import { ManualClock } from '../../support/manual-clock.js'
import { GateService, faults } from '../../support/gate/gate-service.js'

let service: GateService
let clock: ManualClock
let log: LogBook
let ended: number[]

beforeEach(async () => {
  service = new GateService()
  clock = new ManualClock()
  log = new LogBook()
  ended = []
})

afterEach(() => service.close())

function clean(changes: Partial<StepState>, ports: Partial<CleanUpPorts> = {}): Promise<void> {
  const endProcessGroup = async ({ pid }: { pid: number }): Promise<boolean> => {
    ended.push(pid)
    return true
  }
  const state = makeState({ address: `${service.url}/api`, cleanupDue: true, ...changes })
  return clock.run(cleanUpStep(state, { ...NOTHING_LEFT, log, clock, endProcessGroup, ...ports }))
}

describe('from the saved state alone', () => {
  test('the run is stopped by its id, with the token of the state', async () => {
    service.addRun({ id: 'mine', statuses: ['running'] })
    await clean({ runId: 'mine', token: 'kept' })
    expect(service.runs[0]?.statuses).toEqual(['finished'])
    const authorization = `Basic ${Buffer.from('kept:').toString('base64')}`
    expect(service.seen.map(({ headers }) => headers.authorization)).toEqual(
      service.seen.map(() => authorization)
    )
  })

  test('a run whose reply was lost is stopped by its marker', async () => {
    service.addRun({ id: 'mine', tags: ['loadgate-1'], statuses: ['running'] })
    await clean({ marker: 'loadgate-1' })
    expect(service.runs[0]?.statuses).toEqual(['finished'])
  })

  test('a list that cannot be read is said: a second run may be running', async () => {
    service.addRun({ id: 'mine', tags: ['loadgate-1'], statuses: ['finished'] })
    service.meet('listRuns', ...Array.from({ length: 100 }, () => faults.answer(500, { error: 'the db' })))
    await clean({ runId: 'mine', marker: 'loadgate-1' })
    expect(log.of('warning')).toEqual([
      'The list of runs was not read to its end (listing the runs: the service answered 500), so it is unclear whether the run was created twice, and a second one with its tag loadgate-1 is running. Check the service.'
    ])
    expect(clock.elapsedMs).toBeLessThanOrEqual(60_000)
  })

  test('the grids that were made are terminated', async () => {
    service.grids.set('g1', { id: 'g1', statuses: ['started'], fields: [], isTerminated: false })
    await clean({ madeGrids: ['g1'] })
    expect(service.grids.get('g1')?.isTerminated).toBe(true)
  })

  test('a grid that is kept is left alone, and told', async () => {
    service.grids.set('g1', { id: 'g1', statuses: ['started'], fields: [], isTerminated: false })
    await clean({ keptGrids: ['g1'], cleanupDue: false })
    expect(service.seen).toEqual([])
    expect(log.of('info')).toEqual([
      'Grid g1 is left running, because keep is true. grid-stop terminates it.'
    ])
  })

  test('a grid that main was killed over while it was asked for is told, with what to do', async () => {
    await clean({
      askedGrids: [{ region: 'eu-west-1', nodes: 3, instanceType: 'm5.large', stopAfterMinutes: 45 }]
    })
    expect(log.of('warning')).toEqual([
      'A grid may have been created: eu-west-1, 3 × m5.large. If so, it ends by itself after 45 min (stop_after), or terminate it manually.'
    ])
  })

  test.each([
    ['refusal', 403, { error: 'password=hunter22 is wrong' }],
    ['odd reply', 200, { uuid: 'mine', status: { password: 'hunter22' } }],
    ['reply that is no JSON', 200, 'password=hunter22'],
    ['odd id', 200, { uuid: 'password=hunter22' }]
  ])('a %s is told without the words of the service, which may echo secrets', async (_, status, body) => {
    service.addRun({ id: 'mine', statuses: ['running'] })
    service.grids.set('g1', { id: 'g1', statuses: ['started'], fields: [], isTerminated: false })
    for (const operation of ['showRun', 'stopRun', 'listRuns', 'showGrid', 'terminateGrid'] as const)
      service.meet(operation, ...Array.from({ length: 200 }, () => faults.answer(status, body)))
    await clean({ runId: 'mine', madeGrids: ['g1'] })
    await clean({ marker: 'loadgate-1' })
    expect(log.of('warning')).toHaveLength(3)
    expect(log.lines.join('\n')).toMatch(
      /Run mine may still be running: stopping run mine: the (service|reply)/
    )
    expect(log.lines.join('\n')).not.toContain('hunter22')
  })

  test('the words of a service with a name of its own are used', async () => {
    await clean({ runId: 'mine', serviceName: 'acme' })
    expect(service.seen.every(({ path }) => path.startsWith('/api/acmes/mine'))).toBe(true)
  })

  test.each<[string, Partial<StepState>]>([
    [
      'a run that was detached, or that is somebody else’s',
      { cleanupDue: false, runId: 'mine', madeGrids: ['g1'] }
    ],
    ['the embedded service, which has gone', { address: '', runId: 'mine' }]
  ])('%s is left alone', async (_, changes) => {
    await clean(changes)
    expect(service.seen).toEqual([])
  })
})

describe('stop-on-cancel: false, after a kill', () => {
  const leaveIfKilled = true
  const LEFT = 'stop-on-cancel is false: the run is left running, and its grids end after their stop_after.'
  const grids = (): boolean[] => [...service.grids.values()].map(({ isTerminated }) => isTerminated)

  beforeEach(() => {
    service.grids.set('g1', { id: 'g1', statuses: ['started'], fields: [], isTerminated: false })
  })

  test.each<[string, Partial<StepState>]>([
    ['known by its id', { runId: 'mine', marker: 'loadgate-1' }],
    ['known by its marker', { marker: 'loadgate-1' }],
    ['a repeat', { repeat: { runId: 'r', likeness: {}, knownIds: [], askedMs: 0 } }]
  ])('a run that is %s is left, and so are its grids; the log says so', async (_, changes) => {
    service.addRun({ id: 'mine', tags: ['loadgate-1'], statuses: ['running'] })
    await clean({ ...changes, leaveIfKilled, madeGrids: ['g1'] })
    expect(service.runs[0]?.statuses).toEqual(['running'])
    expect(service.count('stopRun')).toBe(0)
    expect(grids()).toEqual([false])
    expect(log.lines).toEqual([`info: ${LEFT}`])
  })

  test('without grids of its own, nothing is even asked', async () => {
    await clean({ runId: 'mine', leaveIfKilled })
    expect(service.seen).toEqual([])
    expect(log.lines).toEqual([`info: ${LEFT}`])
  })

  test.each<[string, Partial<StepState>]>([
    ['no run was asked for', {}],
    ['the run has ended', { runId: 'ended', marker: 'loadgate-1' }],
    ['the run was never made', { marker: 'loadgate-2' }]
  ])('grids are not left where %s', async (_, changes) => {
    service.addRun({ id: 'ended', tags: ['loadgate-1'], statuses: ['finished'] })
    await clean({ ...changes, leaveIfKilled, madeGrids: ['g1'] })
    expect(grids()).toEqual([true])
  })

  test('a reply about another run, which has ended, says nothing about ours', async () => {
    service.addRun({ id: 'mine', tags: ['loadgate-1'], statuses: ['running'] })
    service.meet('showRun', faults.answer(200, { uuid: 'another', status: 'finished' }))
    await clean({ runId: 'mine', marker: 'loadgate-1', leaveIfKilled, madeGrids: ['g1'] })
    expect(service.runs[0]?.statuses).toEqual(['running'])
    expect(grids()).toEqual([false])
  })

  test("the embedded service's processes are ended all the same", async () => {
    await clean({ processGroups: [{ pid: 11, startTime: '1' }], address: '', leaveIfKilled, runId: 'mine' })
    expect(ended).toEqual([11])
  })

  test('a run that main was about to stop for another reason is stopped', async () => {
    service.addRun({ id: 'mine', statuses: ['running'] })
    await clean({ runId: 'mine', leaveIfKilled: false })
    expect(service.runs[0]?.statuses).toEqual(['finished'])
  })
})

describe('it comes to its end', () => {
  test.each([
    ['a run that will not stop', faults.answer(200, { uuid: 'mine', status: 'running' })],
    ['a service that is down', faults.answer(503)],
    ['a service that asks for a long wait', faults.answer(429, {}, { 'retry-after': '3600' })]
  ])('%s: within 4 minutes, with a warning', async (_, fault) => {
    service.addRun({ id: 'mine', statuses: ['running'] })
    service.meet('stopRun', ...Array.from({ length: 500 }, () => fault))
    await clean({ runId: 'mine' })
    expect(clock.elapsedMs).toBeLessThanOrEqual(4 * 60_000)
    expect(log.of('warning')).toEqual([expect.stringMatching(/^Run mine may still be running/)])
  })

  test('a stop that never answers: within 4 minutes', async () => {
    service.addRun({ id: 'mine', statuses: ['running'] })
    service.meet('stopRun', ...Array.from({ length: 50 }, () => faults.hold))
    const cleaning = clean({ runId: 'mine' })
    await service.reached('stopRun')
    await clock.advance(4 * 60_000)
    await cleaning
    expect(log.of('warning')).toEqual([
      'Run mine may still be running: there was no time left. Stop it manually.'
    ])
  })

  test('nobody at home: a warning, nothing thrown', async () => {
    const gone = new GateService()
    const { url } = gone
    gone.close()
    await clean({ address: `${url}/api`, runId: 'mine', madeGrids: ['g1'] })
    expect(log.of('warning')).toHaveLength(2)
    expect(clock.elapsedMs).toBeLessThanOrEqual(4 * 60_000)
  })

  test('no timer is left', async () => {
    service.addRun({ id: 'mine', statuses: ['running'] })
    await clean({ runId: 'mine' })
    expect(clock.pendingCount).toBe(0)
  })
})

describe('process groups', () => {
  const groups = [
    { pid: 11, startTime: '1' },
    { pid: 12, startTime: '2' }
  ]

  test('are ended, also when nothing else is due', async () => {
    await clean({ processGroups: groups, cleanupDue: false, address: '' })
    expect(ended).toEqual([11, 12])
    expect(log.of('info')).toEqual([
      "The tool's processes (group 11) were stopped.",
      "The tool's processes (group 12) were stopped."
    ])
  })

  test('one that has gone is not told of', async () => {
    await clean({ processGroups: groups, cleanupDue: false }, { endProcessGroup: async () => false })
    expect(log.lines).toEqual([])
  })

  test('one that cannot be ended is warned about, and the rest is still done', async () => {
    service.addRun({ id: 'mine', statuses: ['running'] })
    const endProcessGroup = async ({ pid }: { pid: number }): Promise<boolean> => {
      ended.push(pid)
      if (pid === 11) throw new Error('EPERM')
      return true
    }
    await clean({ processGroups: groups, runId: 'mine' }, { endProcessGroup })
    expect(ended).toEqual([11, 12])
    expect(service.runs[0]?.statuses).toEqual(['finished'])
    expect(log.of('warning')).toEqual([expect.stringContaining('group 11')])
  })
})

describe('the data of the embedded service', () => {
  async function makeScratch(name: string, folder = 'service'): Promise<string> {
    const scratchDir = await mkdtemp(join(tmpdir(), name))
    await mkdir(join(scratchDir, folder, 'runs'), { recursive: true })
    await writeFile(join(scratchDir, folder, 'runs', 'run.json'), '-Jtoken=s3cret')
    await mkdir(join(scratchDir, 'results'))
    return scratchDir
  }

  test.each([true, false])(
    'are removed after a kill, and nothing else is (cleanup due: %p)',
    async (cleanupDue) => {
      const scratchDir = await makeScratch('loadgate-')
      await clean({ serviceDir: join(scratchDir, 'service'), address: '', cleanupDue })
      expect(await readdir(scratchDir)).toEqual(['results'])
      // Twice does no harm.
      await clean({ serviceDir: join(scratchDir, 'service'), address: '', cleanupDue })
      expect(log.of('warning')).toEqual([])
    }
  )

  test("are removed with the step's folder if there is nothing else in it", async () => {
    const scratchDir = await makeScratch('loadgate-')
    await rmdir(join(scratchDir, 'results'))
    await clean({ serviceDir: join(scratchDir, 'service'), address: '' })
    expect(existsSync(scratchDir)).toBe(false)
    await clean({ serviceDir: join(scratchDir, 'service'), address: '' })
    expect(log.of('warning')).toEqual([])
  })

  test.each([
    ['workspace-', 'service'],
    ['loadgate-', 'src']
  ])('are the only thing to remove: %s…/%s stays', async (name, folder) => {
    const scratchDir = await makeScratch(name, folder)
    await clean({ serviceDir: join(scratchDir, folder), address: '' })
    expect((await readdir(scratchDir)).sort()).toEqual(['results', folder].sort())
  })
})

describe('pods of the embedded service', () => {
  const EU = { kubeconfig: '/home/runner/.kube/config', context: 'load-eu', namespace: 'load' }
  const US = { kubeconfig: '/home/runner/.kube/config', context: 'arn:aws:eks:us/my load', namespace: 'us' }
  const INSIDE = { kubeconfig: undefined, context: 'in-cluster', namespace: 'ci' }
  const LOCAL = { address: '', token: '' }
  const MARKER = 'f00d'

  test('are deleted by their marker in each cluster, and said', async () => {
    const asked: unknown[] = []
    const counts = [2, 0, 1]
    const deletePods: CleanUpPorts['deletePods'] = async (address, marker, { isUnclear }) => {
      asked.push([address, marker, isUnclear])
      return counts[asked.length - 1]!
    }
    const clusters = { marker: MARKER, addresses: [EU, US, INSIDE] }
    await clean({ ...LOCAL, cleanupDue: false, clusters }, { deletePods })
    expect(asked).toEqual([
      [EU, MARKER, true],
      [US, MARKER, true],
      [INSIDE, MARKER, true]
    ])
    expect(log.lines).toEqual([
      'info: Deleted 2 Jobs and their pods in namespace load of the cluster load-eu.',
      'info: Deleted 1 Job and its pods in namespace ci of the cluster that this runs in.'
    ])
  })

  test('are left to a person where access is gone, with the command', async () => {
    const clusters = { marker: MARKER, addresses: [EU, US, INSIDE] }
    const deletePods = async (): Promise<number> => Promise.reject(new Error('the token has expired'))
    await clean({ ...LOCAL, clusters }, { deletePods })
    const why = 'the token has expired. They end by their own deadline. Delete them with:'
    expect(log.of('warning')).toEqual([
      `Pods of this step may still be running in namespace load of the cluster load-eu: ${why} kubectl delete job -n load --context load-eu -l loadgate.dev/marker=f00d`,
      `Pods of this step may still be running in namespace us of the cluster arn:aws:eks:us/my load: ${why} kubectl delete job -n us --context 'arn:aws:eks:us/my load' -l loadgate.dev/marker=f00d`,
      `Pods of this step may still be running in namespace ci of the cluster that this runs in: ${why} kubectl delete job -n ci -l loadgate.dev/marker=f00d`
    ])
  })

  test('of a cluster that does not answer do not hold up the rest', async () => {
    const folder = join(await mkdtemp(join(tmpdir(), 'loadgate-')), 'service')
    await mkdir(folder)
    const clusters = { marker: MARKER, addresses: [EU] }
    const deletePods = (): Promise<number> => new Promise(() => undefined)
    await clean({ ...LOCAL, clusters, serviceDir: folder }, { deletePods })
    expect(log.of('warning')).toEqual([
      expect.stringContaining('the cluster did not answer within 60 s. They end by their own deadline.')
    ])
    expect(existsSync(folder)).toBe(false)
  })

  test('that the service has deleted are looked for once more, without an alarm', async () => {
    const clusters = { marker: MARKER, addresses: [EU], isClosed: true }
    const deletePods = async (): Promise<number> => Promise.reject(new Error('Unauthorized'))
    await clean({ ...LOCAL, clusters }, { deletePods })
    expect(log.lines).toEqual([
      'info: Could not check that no pods are left in namespace load of the cluster load-eu: Unauthorized. To be sure: kubectl delete job -n load --context load-eu -l loadgate.dev/marker=f00d'
    ])
  })
})
