import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { startGrids } from '../../../src/gate/grids/start-and-stop.js'
import type { GridStartSettings } from '../../../src/gate/grids/grid-settings.js'
import { CancelledError, DeadlineError } from '../../../src/gate/errors.js'
import { TOKEN, makeSpecification } from '../../support/gate/gate-ports.js'
import { GateService, faults } from '../../support/gate/gate-service.js'
import { gridServiceAt, makeGridPorts, type GridPorts } from '../../support/gate/grid-ports.js'

let service: GateService
let ports: GridPorts

beforeEach(async () => {
  service = new GateService()
  ports = makeGridPorts()
})

afterEach(() => service.close())

function begin(changes: Partial<GridStartSettings> = {}): Promise<void> {
  return startGrids(ports, {
    service: gridServiceAt(service.url),
    grids: [makeSpecification(), makeSpecification({ region: 'eu-west-1' })],
    timeoutMs: 900_000,
    keep: false,
    ...changes
  })
}

const start = (changes: Partial<GridStartSettings> = {}): Promise<void> => ports.clock.run(begin(changes))
const terminated = (): string[] =>
  [...service.grids.values()].filter(({ isTerminated }) => isTerminated).map(({ id }) => id)
const ONE = '[{"uuid":"made1"}]'
const BOTH = '[{"uuid":"made1"},{"uuid":"made2"}]'

describe('grids that start', () => {
  test('are created once each and waited for; the output has them as soon as they are created', async () => {
    await start()
    expect(service.count('createGrid')).toBe(2)
    expect(ports.outputs).toEqual([ONE, BOTH])
    expect(service.order().slice(0, 4)).toEqual(['unknown', 'account', 'createGrid', 'createGrid'])
    expect(ports.log.of('info')).toEqual(
      expect.arrayContaining(['Grid made1 is started', 'Grid made2 is started'])
    )
    expect(terminated()).toEqual([])
  })

  test('what only a service of loadgate has defaults for is refused by others before anything is created', async () => {
    const grids = [makeSpecification({ region: '', leftOut: ['region'] })]
    await expect(start({ grids })).rejects.toThrow('grids: element 1: missing region. Nothing was created.')
    expect(service.count('createGrid')).toBe(0)
  })

  test('the output has the first one before the second is requested', async () => {
    service.meet('createGrid', faults.none, faults.hold)
    const starting = begin().catch((thrown: unknown) => thrown)
    await service.reached('createGrid', 2)
    expect(ports.outputs).toEqual([ONE])
    ports.cancellation.abort(new CancelledError('SIGINT'))
    await ports.clock.advance(2_000)
    expect(await starting).toBeInstanceOf(CancelledError)
  })

  test('are left to the post step, which finds them in the state', async () => {
    await start()
    expect(ports.states.at(-1)).toMatchObject({
      address: `${service.url}/api`,
      token: TOKEN,
      madeGrids: ['made1', 'made2'],
      askedGrids: [],
      cleanupDue: true
    })
  })

  test('with keep they are left to grid-stop', async () => {
    await start({ keep: true })
    expect(ports.states.at(-1)).toMatchObject({
      madeGrids: [],
      keptGrids: ['made1', 'made2'],
      cleanupDue: false
    })
    expect(ports.log.of('info').at(-1)).toContain('grid-stop')
  })

  test('each request is in the state before it is sent', async () => {
    await start({ keep: true })
    expect(
      ports.states.map(({ address, askedGrids = [], madeGrids }) => [
        address.slice(service.url.length),
        askedGrids.length,
        madeGrids.length
      ])
    ).toEqual([
      ['', 0, 0],
      ['/api', 0, 0],
      ['/api', 1, 0],
      ['/api', 0, 1],
      ['/api', 1, 1],
      ['/api', 0, 2],
      ['/api', 0, 0]
    ])
  })

  test('nothing is created if the state cannot be saved', async () => {
    ports = makeGridPorts({
      saveState: () => {
        throw new Error('ENOSPC')
      }
    })
    await expect(start()).rejects.toThrow('ENOSPC')
    expect(service.seen).toEqual([])
  })
})

describe('a start that fails terminates what it created, also with keep', () => {
  test.each(['stopped', 'invoiced'])('a grid that ends as %s', async (status) => {
    service.nextGridStatuses = ['queued', status]
    await expect(start({ keep: true })).rejects.toThrow(
      /^Grid made\d ended with status "(stopped|invoiced)" before a run could use it$/
    )
    expect(terminated()).toEqual(['made1', 'made2'])
    expect(ports.states.at(-1)).toMatchObject({ madeGrids: [], cleanupDue: false })
    expect(ports.states.at(-1)?.keptGrids).toBeUndefined()
  })

  test('a grid that is late: the error says which one and how far it came', async () => {
    service.nextGridStatuses = ['queued', 'starting']
    const failure = await start({ keep: true, timeoutMs: 300_000 }).catch((thrown: unknown) => thrown)
    expect(failure).toBeInstanceOf(DeadlineError)
    expect(String(failure)).toContain(
      'The grids did not start within 5 min (grid made1 is starting, grid made2 is starting)'
    )
    expect(terminated()).toEqual(['made1', 'made2'])
    expect(ports.clock.elapsedMs).toBeLessThan(310_000)
  })

  test('two requests that are answered with the same id: there are fewer grids than requested', async () => {
    const same = { uuid: 'made1', status: 'queued' }
    service.meet('createGrid', faults.none, faults.answer(201, same))
    await expect(start()).rejects.toThrow(
      'creating a grid in eu-west-1: the service answered with the id of another grid, made1'
    )
    expect(ports.outputs).toEqual([ONE])
    expect(terminated()).toEqual(['made1'])
    expect(ports.log.of('warning')).toEqual([
      expect.stringContaining('A grid may have been created: eu-west-1')
    ])
  })

  test('a look that answers with another grid', async () => {
    const other = { uuid: 'someone-else', status: 'started' }
    service.meet('showGrid', ...Array.from({ length: 300 }, () => faults.answer(200, other)))
    await expect(start({ timeoutMs: 60_000 })).rejects.toThrow('another grid, someone-else')
    expect(terminated()).toEqual(['made1', 'made2'])
  })

  test.each([
    ['500', faults.answer(500, { error: 'out of disk' }), /reading grid made\d: .*500: .*out of disk/],
    ['404', faults.answer(404, {}), /reading grid made\d: .*404/],
    ['another document', faults.answer(200, []), /The last request failed: reading grid made\d: /]
  ])('looks that are all answered with %s: the error says so', async (_, fault, words) => {
    service.meet('showGrid', ...Array.from({ length: 300 }, () => fault))
    const failure = String(await start({ timeoutMs: 60_000 }).catch((thrown: unknown) => thrown))
    expect(failure).toMatch(words)
    expect(failure).toContain('grid made1 was queued when it was created, and the service has not said more')
    expect(failure).not.toContain('ncrease timeout')
  })

  test('looks that are never answered: the error does not claim that they are queued', async () => {
    service.meet('showGrid', faults.hold, faults.hold)
    const starting = begin({ timeoutMs: 8_000 }).catch((thrown: unknown) => thrown)
    await service.reached('showGrid', 2)
    await ports.clock.advance(8_000)
    expect(String(await ports.clock.run(starting))).toContain(
      'grid made1 was queued when it was created, and the service has not said more since'
    )
  })

  test('a request to create one that is never answered: the error claims neither that it was created nor that it was not', async () => {
    service.meet('createGrid', faults.holdAfter)
    const starting = begin({ timeoutMs: 8_000 }).catch((thrown: unknown) => thrown)
    await service.reached('createGrid')
    await ports.clock.advance(8_000)
    await ports.clock.advance(2_000)
    expect(String(await starting)).toBe(
      'DeadlineError: The grids did not start within 8 s (1 requested without a reply, 1 not requested). Increase timeout if they need longer.'
    )
    expect(ports.log.of('warning')).toEqual([expect.stringContaining('A grid may have been created')])
  })

  test('a second grid that is refused', async () => {
    service.meet('createGrid', faults.none, faults.answer(422, { error: 'no such region' }))
    await expect(start()).rejects.toThrow(/422: .*no such region/)
    expect(terminated()).toEqual(['made1'])
    expect(ports.log.of('warning')).toEqual([])
    expect(ports.states.at(-1)).toMatchObject({ madeGrids: [], cleanupDue: false })
  })

  test('a first grid that is refused leaves nothing to do', async () => {
    service.meet('createGrid', faults.answer(401))
    await expect(start()).rejects.toMatchObject({ status: 401 })
    expect(service.order()).toEqual(['unknown', 'account', 'createGrid'])
    expect(ports.states.at(-1)).toMatchObject({ cleanupDue: false })
    expect(ports.outputs).toEqual([])
  })

  test('an output that cannot be written', async () => {
    ports = makeGridPorts({
      setOutput: () => {
        throw new Error('no output file')
      }
    })
    await expect(start()).rejects.toThrow('no output file')
    expect(service.count('createGrid')).toBe(1)
    expect(terminated()).toEqual(['made1'])
    expect(ports.log.of('warning')).toEqual([])
  })

  test('one that cannot be terminated is named, and stays in the state for the post step', async () => {
    service.nextGridStatuses = ['stopped']
    service.meet('terminateGrid', ...Array.from({ length: 300 }, () => faults.answer(503)))
    await expect(start()).rejects.toThrow('ended with status')
    expect(ports.log.of('warning').sort()).toEqual([
      expect.stringContaining('Grid made1 may still be running'),
      expect.stringContaining('Grid made2 may still be running')
    ])
    expect(ports.states.at(-1)).toMatchObject({ madeGrids: ['made1', 'made2'], cleanupDue: true })
  })
})

describe('a lost reply', () => {
  test.each([
    ['a reset after it was created', faults.dropAfter],
    ['502 after it was created', faults.answerAfter(502)]
  ])('%s: never sent again; what may be there is told, the rest is terminated', async (_, fault) => {
    service.meet('createGrid', faults.none, fault)
    await expect(start()).rejects.toThrow('creating a grid in eu-west-1')
    expect(service.count('createGrid')).toBe(2)
    expect(terminated()).toEqual(['made1'])
    expect(ports.log.of('warning')).toEqual([
      expect.stringMatching(
        /^A grid may have been created: eu-west-1, 2 × m4\.large\..*60 min \(stop_after\)/
      )
    ])
  })
})

describe('a cancelled job', () => {
  const cancel = (): void => ports.cancellation.abort(new CancelledError('SIGTERM'))

  test('while the grids start: they are terminated', async () => {
    service.nextGridStatuses = ['starting']
    const starting = start({ keep: true }).catch((thrown: unknown) => thrown)
    await service.reached('showGrid', 3)
    cancel()
    expect(await starting).toBeInstanceOf(CancelledError)
    expect(terminated()).toEqual(['made1', 'made2'])
    expect(ports.states.at(-1)).toMatchObject({ madeGrids: [], cleanupDue: false })
  })

  test('while one is being created: its reply is waited for a little, so that it can be terminated', async () => {
    let reply = (): void => undefined
    service.meet('createGrid', (res, commit) => {
      reply = () => faults.none(res, commit)
    })
    const starting = begin().catch((thrown: unknown) => thrown)
    await service.reached('createGrid')
    cancel()
    await ports.clock.advance(1_500)
    reply()
    expect(await ports.clock.run(starting)).toBeInstanceOf(CancelledError)
    expect(service.count('createGrid')).toBe(1)
    expect(terminated()).toEqual(['made1'])
    expect(ports.outputs).toEqual([ONE])
    expect(ports.log.of('warning')).toEqual([])
  })

  test('while one is being created, and no reply comes: it is told', async () => {
    service.meet('createGrid', faults.hold)
    const starting = begin().catch((thrown: unknown) => thrown)
    await service.reached('createGrid')
    cancel()
    await ports.clock.advance(2_000)
    expect(await starting).toBeInstanceOf(CancelledError)
    expect(ports.log.of('warning')).toEqual([expect.stringContaining('A grid may have been created')])
  })
})
