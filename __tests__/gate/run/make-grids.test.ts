import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { settleGrids } from '../../../src/gate/run/make-grids.js'
import { CancelledError } from '../../../src/gate/errors.js'
import type { GridChoice } from '../../../src/client/documents/requests.js'
import { makeGate, makeSpecification } from '../../support/gate/gate-ports.js'
import type { TestGate } from '../../support/gate/gate-ports.js'
import { GateService, faults } from '../../support/gate/gate-service.js'

let service: GateService
let gate: TestGate

beforeEach(async () => {
  service = new GateService()
  gate = await makeGate(service.url)
})

afterEach(async () => {
  await gate.client.close()
  service.close()
})

function settle(grids: GridChoice[], signal = new AbortController().signal): Promise<readonly GridChoice[]> {
  return gate.ports.clock.run(settleGrids(gate, grids, signal))
}

const mixed = (): GridChoice[] => [
  makeSpecification(),
  { id: 'theirs' },
  makeSpecification({ region: 'eu-west-1', options: { aws_tags: 'a=b' } })
]

describe('a list of one kind goes into the run as it is', () => {
  test.each<[string, GridChoice[]]>([
    ['specifications', [makeSpecification(), makeSpecification({ region: 'eu-west-1' })]],
    ['references', [{ id: 'a' }, { id: 'b' }]],
    ['one specification', [makeSpecification()]]
  ])('%s', async (_, grids) => {
    expect(await settle(grids)).toEqual(grids)
    expect(service.seen).toEqual([])
    expect(gate.saved.state).toMatchObject({ madeGrids: [], cleanupDue: false })
  })
})

describe('a mixed list', () => {
  test.each([{ region: '' }, { instanceType: '' }])(
    'has specifications with other keys: %j',
    async (part) => {
      const grids = [makeSpecification(part), makeSpecification()]
      expect(await settle(grids)).toEqual([{ id: 'made1' }, { id: 'made2' }])
    }
  )

  test('becomes grids first, then references only, in the order of the list', async () => {
    expect(await settle(mixed())).toEqual([{ id: 'made1' }, { id: 'theirs' }, { id: 'made2' }])
    expect(service.count('createGrid')).toBe(2)
    expect(service.grids.get('made2')?.fields).toEqual([
      ['grid[infrastructure]', 'demand'],
      ['grid[region]', 'eu-west-1'],
      ['grid[instance_quantity]', '2'],
      ['grid[instance_type]', 'm4.large'],
      ['grid[stop_after]', '60'],
      ['grid[aws_tags]', 'a=b']
    ])
  })

  test('a creation that is answered with the id of a grid in the list is an error, and that grid is not ours', async () => {
    service.meet('createGrid', faults.answer(201, { uuid: 'theirs', status: 'queued' }))
    await expect(settle(mixed())).rejects.toThrow('the id of another grid, theirs')
    expect(gate.saved.state).toMatchObject({ madeGrids: [], cleanupDue: false })
  })

  test('waits until each that was made has started; theirs is not asked about', async () => {
    await settle(mixed())
    const shown = service.seen.filter(({ operation }) => operation === 'showGrid').map(({ path }) => path)
    expect(shown.filter((path) => path.endsWith('made1'))).toHaveLength(3)
    expect(shown.filter((path) => path.endsWith('made2'))).toHaveLength(3)
    expect(shown.filter((path) => path.endsWith('theirs'))).toEqual([])
    expect(gate.ports.log.of('info')).toContain('Grid made1 is started')
  })

  test('each is in the saved state as soon as it is made, before the next is asked for', async () => {
    service.meet('createGrid', faults.none, faults.hold)
    const controller = new AbortController()
    const settling = settle(mixed(), controller.signal)
    await service.reached('createGrid', 2)
    expect(gate.ports.states.at(-1)).toMatchObject({ madeGrids: ['made1'], cleanupDue: true })
    controller.abort(new CancelledError('SIGINT'))
    await expect(settling).rejects.toBeInstanceOf(CancelledError)
  })

  test('each is in the saved state before it is asked for, and no longer than until the reply', async () => {
    service.meet('createGrid', faults.none, faults.hold)
    const controller = new AbortController()
    const settling = settle(mixed(), controller.signal)
    await service.reached('createGrid', 2)
    const states = gate.ports.states.map(({ askedGrids, madeGrids }) => [
      madeGrids.length,
      askedGrids?.map(({ region, nodes, stopAfterMinutes }) => [region, nodes, stopAfterMinutes])
    ])
    expect(states).toEqual([
      [0, undefined],
      [0, [['us-east-1', 2, 60]]],
      [1, []],
      [1, [['eu-west-1', 2, 60]]]
    ])
    expect(gate.ports.states[1]).toMatchObject({ cleanupDue: true })
    controller.abort(new CancelledError('SIGINT'))
    await expect(settling).rejects.toBeInstanceOf(CancelledError)
    expect(gate.ports.log.of('warning')).toEqual([expect.stringContaining('eu-west-1, 2 × m4.large')])
    expect(gate.saved.state).toMatchObject({ askedGrids: [], cleanupDue: true })
  })

  test('one that was refused leaves nothing to clean up', async () => {
    service.meet('createGrid', faults.answer(422))
    await expect(settle(mixed())).rejects.toMatchObject({ status: 422 })
    expect(gate.saved.state).toMatchObject({ askedGrids: [], cleanupDue: false })
  })

  test.each(['Started', 'STARTED', ' started '])(
    'one that is "%s" is waited for no longer',
    async (status) => {
      service.nextGridStatuses = ['Queued', status]
      expect(await settle([makeSpecification(), { id: 'theirs' }])).toEqual([
        { id: 'made1' },
        { id: 'theirs' }
      ])
      expect(service.count('showGrid')).toBe(2)
    }
  )

  test.each(['stopped', 'invoiced', 'Stopped', ' INVOICED'])(
    'one that ends as %s before it starts is an error',
    async (status) => {
      service.nextGridStatuses = ['queued', status]
      await expect(settle(mixed())).rejects.toThrow(
        /^Grid made\d ended with status " ?(stopped|invoiced)" before a run could use it$/i
      )
      expect(gate.saved.state.madeGrids).toEqual(['made1', 'made2'])
    }
  )

  test('one that starts slowly is not asked about all the time', async () => {
    service.nextGridStatuses = [...Array.from({ length: 30 }, () => 'starting'), 'started']
    await settle([makeSpecification(), { id: 'theirs' }])
    expect(gate.ports.clock.elapsedMs).toBeGreaterThan(150_000)
    expect(Math.max(...gate.ports.clock.sleeps)).toBeLessThanOrEqual(10_000)
  })

  test('a service that is away for two minutes is waited for', async () => {
    service.meet('showGrid', ...Array.from({ length: 50 }, () => faults.answer(503)))
    expect(await settle([makeSpecification(), { id: 'theirs' }])).toEqual([{ id: 'made1' }, { id: 'theirs' }])
    expect(gate.ports.clock.elapsedMs).toBeGreaterThan(120_000)
  })

  test('404 of a grid that was made just now is a matter of moments', async () => {
    service.meet('showGrid', ...Array.from({ length: 4 }, () => faults.answer(404)))
    expect(await settle([makeSpecification(), { id: 'theirs' }])).toEqual([{ id: 'made1' }, { id: 'theirs' }])
  })

  test('404 for ever is an error after a minute', async () => {
    service.meet('showGrid', ...Array.from({ length: 200 }, () => faults.answer(404)))
    await expect(settle([makeSpecification(), { id: 'theirs' }])).rejects.toMatchObject({ status: 404 })
    expect(gate.ports.clock.elapsedMs).toBeGreaterThanOrEqual(60_000)
    expect(gate.ports.clock.elapsedMs).toBeLessThan(75_000)
  })

  test('a reply that names the grid and makes no sense otherwise is enough to end it by', async () => {
    service.meet('createGrid', (res, commit) => {
      commit()
      faults.answer(201, { uuid: 'made1', status: 7, nodes: 'none' })(res, commit)
    })
    expect(await settle([makeSpecification(), { id: 'theirs' }])).toEqual([{ id: 'made1' }, { id: 'theirs' }])
    expect(gate.saved.state.madeGrids).toEqual(['made1'])
  })

  test('a word for a state that only holds a known one is another state', async () => {
    service.nextGridStatuses = ['not started', 'restarted', 'started']
    await settle([makeSpecification(), { id: 'theirs' }])
    expect(service.count('showGrid')).toBe(3)
  })

  test('the deadline ends the waiting', async () => {
    service.nextGridStatuses = ['starting']
    const controller = new AbortController()
    const settling = settle(mixed(), controller.signal)
    await service.reached('showGrid', 4)
    const reason = new Error('late')
    controller.abort(reason)
    await expect(settling).rejects.toBe(reason)
  })
})

describe('a lost reply to POST /grids', () => {
  test.each([
    ['a reset before it was made', faults.dropBefore],
    ['a reset after it was made', faults.dropAfter],
    ['502', faults.answerAfter(502)],
    ['success without JSON', faults.answer(201, 'ok')]
  ])('%s: never sent again, and a warning names region, size and stop_after', async (_, fault) => {
    service.meet('createGrid', fault)
    await expect(settle(mixed())).rejects.toThrow('creating a grid in us-east-1')
    expect(service.order()).toEqual(['createGrid'])
    expect(gate.ports.log.of('warning')).toEqual([
      expect.stringMatching(
        /^A grid may have been created: us-east-1, 2 × m4\.large\. If so, it ends by itself after 60 min \(stop_after\)/
      )
    ])
  })

  test('a cancelled job is such a loss too', async () => {
    service.meet('createGrid', faults.holdAfter)
    const controller = new AbortController()
    const settling = settle(mixed(), controller.signal)
    await service.reached('createGrid')
    controller.abort(new CancelledError('SIGINT'))
    await expect(settling).rejects.toBeInstanceOf(CancelledError)
    expect(gate.ports.log.of('warning')).toHaveLength(1)
  })

  test('429 made nothing: it is tried again after the time the service asks for', async () => {
    service.meet('createGrid', faults.answer(429, {}, { 'retry-after': '7' }))
    await settle([makeSpecification(), { id: 'theirs' }])
    expect(service.count('createGrid')).toBe(2)
    expect(service.grids.size).toBe(1)
    expect(gate.ports.clock.sleeps).toContain(7_000)
  })

  test.each([401, 422])('%d made nothing: no warning, no second try', async (status) => {
    service.meet('createGrid', faults.answer(status))
    await expect(settle(mixed())).rejects.toMatchObject({ status })
    expect(service.order()).toEqual(['createGrid'])
    expect(gate.ports.log.of('warning')).toEqual([])
  })
})
