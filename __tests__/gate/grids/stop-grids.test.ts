import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { stopGrids } from '../../../src/gate/grids/start-and-stop.js'
import { CancelledError } from '../../../src/gate/errors.js'
import { GateService, faults, type ServedGrid } from '../../support/gate/gate-service.js'
import { gridServiceAt, makeGridPorts, type GridPorts } from '../../support/gate/grid-ports.js'

let service: GateService
let ports: GridPorts

beforeEach(async () => {
  service = new GateService()
  ports = makeGridPorts()
})

afterEach(() => service.close())

/** A grid with the statuses that it has once it is terminated. */
function addGrid(id: string, statuses: string[] = ['stopped']): ServedGrid {
  const grid = { id, statuses, fields: [], isTerminated: false }
  service.grids.set(id, grid)
  return grid
}

function begin(ids: readonly string[], url = service.url): Promise<void> {
  return stopGrids(ports, { service: gridServiceAt(url), ids, timeoutMs: 600_000 })
}

const stop = (ids: readonly string[], url?: string): Promise<void> => ports.clock.run(begin(ids, url))

test('each is terminated, and its end is waited for', async () => {
  const grids = [addGrid('a', ['started', 'stopping', 'stopped']), addGrid('b', ['Invoiced'])]
  await stop(['a', 'b'])
  expect(grids.every(({ isTerminated }) => isTerminated)).toBe(true)
  expect(service.count('showGrid')).toBe(4)
  expect(ports.log.of('info').sort()).toEqual([
    'Grid a has ended (stopped).',
    'Grid b has ended (Invoiced).',
    `The API of the service is at ${service.url}/api.`
  ])
})

test('no grids: a notice, and no request', async () => {
  await stopGrids(ports, undefined)
  expect(ports.log.of('notice')).toEqual(['There are no grids to stop: the input grids is empty.'])
})

describe('a grid that the service does not know', () => {
  test('is gone already', async () => {
    await stop(['gone'])
    expect(ports.log.of('info').slice(1)).toEqual(['Grid gone no longer exists.'])
  })

  test('is not gone if the address answers 404 to everything', async () => {
    addGrid('a')
    await expect(stop(['a'], `${service.url}/elsewhere`)).rejects.toThrow(
      /Grid a may still be running: .*Check the id and base-url/
    )
  })

  test('404 from something in front of the service: asked again, and terminated', async () => {
    const grid = addGrid('a', ['started', 'started', 'stopped'])
    service.meet('terminateGrid', faults.answer(404), faults.answer(404))
    await stop(['a'])
    expect(grid.isTerminated).toBe(true)
  })
})

describe('a grid that may still be running fails the step', () => {
  test('one that does not end in time: named with its status and what to do; the others are stopped', async () => {
    addGrid('slow', ['stopping'])
    const other = addGrid('other')
    const failure = String(await stop(['slow', 'other']).catch((thrown: unknown) => thrown))
    expect(failure).toContain(
      'Grid slow may still be running: it did not end within 10 min (timeout); its last status was "stopping". Terminate it on the service'
    )
    expect(failure).not.toContain('Grid other')
    expect(other.isTerminated).toBe(true)
  })

  test('a token that is refused: in the words of the service', async () => {
    addGrid('a', ['started'])
    service.meet('terminateGrid', faults.answer(401, { error: 'who are you' }))
    await expect(stop(['a'])).rejects.toThrow(/^Grid a may still be running: .*401: who are you/)
  })

  test('a service that is down all the time', async () => {
    addGrid('a')
    service.meet(
      'terminateGrid',
      ...Array.from({ length: 500 }, () => faults.answer(503, { error: 'asleep' }))
    )
    await expect(stop(['a'])).rejects.toThrow(/within 10 min \(timeout\).*503: asleep/)
    expect(ports.clock.elapsedMs).toBeLessThan(610_000)
  })
})

test('a service that is down for two minutes is waited for', async () => {
  addGrid('a')
  service.meet('showGrid', ...Array.from({ length: 55 }, () => faults.answer(503)))
  await stop(['a'])
  expect(ports.clock.elapsedMs).toBeGreaterThan(120_000)
})

test('a cancelled job: the grids are terminated all the same, if that is quick', async () => {
  const grid = addGrid('a')
  ports.cancellation.abort(new CancelledError('SIGINT'))
  await stop(['a'])
  expect(grid.isTerminated).toBe(true)
})

test('a cancelled job: if it takes longer, the step says what may be running', async () => {
  addGrid('a', ['stopping'])
  const stopping = stop(['a']).catch((thrown: unknown) => thrown)
  await service.reached('showGrid')
  ports.cancellation.abort(new CancelledError('SIGINT'))
  expect(String(await stopping)).toMatch(/Grid a may still be running: cancelled by SIGINT; its last status/)
})
