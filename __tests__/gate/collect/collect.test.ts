import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { collect, type Collection } from '../../../src/gate/collect/collect.js'
import { startDeadline } from '../../../src/gate/deadline.js'
import { listRemoteErrors } from '../../../src/analysis/evidence/remote-errors.js'
import type { Run } from '../../../src/contract/api.js'
import {
  makeGate,
  makeGrid,
  makeRun,
  makeSettings,
  makeSpecification,
  type TestGate
} from '../../support/gate/gate-ports.js'
import { CSV_HEADER, GateService, faults, makeCsv, type Fault } from '../../support/gate/gate-service.js'

let service: GateService
let gate: TestGate

beforeEach(async () => {
  service = new GateService()
  service.addRun({ id: 'run1' })
  gate = await makeGate(service.url)
})

afterEach(async () => {
  await gate.client.close()
  service.close()
})

function gather(changes: Partial<Run>, timeMs = 600_000): Promise<Collection> {
  const { clock } = gate.ports
  const deadline = startDeadline(clock, timeMs, { error: new Error('the time is over') })
  return clock.run(
    collect(gate, makeRun(changes), { signal: deadline.signal, createdMs: 1_760_000_000_000 }).finally(() =>
      deadline.release()
    )
  )
}

function linkTo(gridId: string, path = 'result.csv'): { name: undefined; region: string; href: string } {
  return {
    name: undefined,
    region: 'us-east-1',
    href: `${service.url}/api/runs/run1/${path}?grid_id=${gridId}`
  }
}

const notReady = Array.from({ length: 1000 }, () => faults.answer(404))

describe('what is brought home', () => {
  test('the report, and the CSV of every grid under its region and id', async () => {
    service.csvs.set('a1', makeCsv(10)).set('b2', makeCsv(20))
    const collection = await gather({
      grids: [
        makeGrid({ id: 'a1' }),
        makeGrid({
          id: 'b2',
          region: 'eu-west-1',
          nodeCount: undefined,
          nodes: [{ address: undefined, state: undefined }]
        })
      ],
      results: [linkTo('a1'), linkTo('b2')]
    })
    expect(collection.report).toEqual({
      summary: service.summary,
      means: { mean_response_time: 100 },
      rehearsal: false,
      warnings: []
    })
    expect(collection.grids).toEqual([
      {
        gridId: 'a1',
        region: 'us-east-1',
        nodeCount: 2,
        path: join(collection.resultsDir, 'us-east-1-a1.csv'),
        bytes: makeCsv(10).length,
        problem: undefined
      },
      {
        gridId: 'b2',
        region: 'eu-west-1',
        nodeCount: 1,
        path: join(collection.resultsDir, 'eu-west-1-b2.csv'),
        bytes: makeCsv(20).length,
        problem: undefined
      }
    ])
    expect(await readFile(collection.grids[1]?.path ?? '', 'utf8')).toBe(makeCsv(20))
    expect(collection.measurements?.figures({})?.samples).toBe(30)
    expect(collection.measurements?.figures({ region: 'eu-west-1' })?.samples).toBe(20)
  })

  test('two grids are fetched side by side', async () => {
    let release = (): void => undefined
    service.meet('result', (res, commit) => {
      release = () => faults.none(res, commit)
    })
    const gathering = gather({ grids: [makeGrid({ id: 'a1' }), makeGrid({ id: 'b2' })] })
    // The first is held, and the second is asked for all the same.
    await service.reached('result', 2)
    release()
    expect((await gathering).grids.map(({ problem }) => problem)).toEqual([undefined, undefined])
  })

  test('the link of the reply is followed, wherever it leads at the service', async () => {
    await gather({ grids: [makeGrid({ id: 'a1' })], results: [linkTo('a1')] })
    expect(service.seen.find(({ operation }) => operation === 'result')?.path).toBe(
      '/api/runs/run1/result.csv?grid_id=a1'
    )
    const elsewhere = { ...linkTo('a1'), href: '/api/runs/run1/results.csv?grid_id=a1&v=2' }
    await gather({ grids: [makeGrid({ id: 'a1' })], results: [elsewhere] }, 1_000)
    expect(service.seen.map(({ path }) => path)).toContain('/api/runs/run1/results.csv?grid_id=a1&v=2')
  })

  test('where there is no link, the address is built', async () => {
    const { grids } = await gather({ grids: [makeGrid({ id: 'a1' })], results: [] })
    expect(service.seen.find(({ operation }) => operation === 'result')?.path).toBe(
      '/api/runs/run1/result.csv?grid_id=a1'
    )
    expect(grids[0]?.problem).toBeUndefined()
  })

  describe('one grid, and one link', () => {
    const follow = async (href: string, grids = [makeGrid({ id: 'a1' })]) => {
      service.runs[0]!.statuses = ['finished']
      service.runs[0]!.document = {
        _embedded: { grids: grids.map(({ id, region }) => ({ uuid: id, region })), results: [{ href }] }
      }
      const { grids: found } = await gather({ grids, results: [{ ...linkTo('a1'), href }] })
      const paths = service.seen.filter(({ path }) => path.includes('result.csv')).map(({ path }) => path)
      return { found: found.map(({ gridId, problem }) => [gridId, problem]), paths: [...new Set(paths)] }
    }

    test.each(['', '?signature=x', '?grid_id=', '?grid_id=%7B7%7D', '?grid=7', '?grid_id[]=7'])(
      'which names no grid that can be read (%p): it is of that grid',
      async (query) => {
        const { found, paths } = await follow(`${service.url}/api/runs/run1/result.csv${query}`)
        expect(found).toEqual([['a1', undefined]])
        expect(paths).toEqual([`/api/runs/run1/result.csv${query}`])
      }
    )

    test('without an address: it is built', async () => {
      expect(await follow('')).toEqual({
        found: [['a1', undefined]],
        paths: ['/api/runs/run1/result.csv?grid_id=a1']
      })
    })

    test('of two that were requested, and one listed so far, it could belong to either', async () => {
      const origin = { kind: 'files' as const, paths: [], grids: [makeSpecification(), makeSpecification()] }
      gate = { ...gate, settings: { ...gate.settings, origin } }
      const { paths } = await follow(`${service.url}/api/runs/run1/result.csv`)
      expect(paths).toEqual(['/api/runs/run1/result.csv?grid_id=a1'])
    })

    test('of two grids it could belong to either: the addresses are built', async () => {
      const both = [makeGrid({ id: 'a1' }), makeGrid({ id: 'b2' })]
      const { paths } = await follow(`${service.url}/api/runs/run1/result.csv`, both)
      expect(paths).toEqual(['/api/runs/run1/result.csv?grid_id=a1', '/api/runs/run1/result.csv?grid_id=b2'])
    })
  })

  test('results without grids are taken by their links', async () => {
    const { grids } = await gather({
      grids: [],
      results: [linkTo('a1'), { ...linkTo('b2'), region: undefined }]
    })
    expect(grids.map(({ gridId, region, problem }) => [gridId, region, problem])).toEqual([
      ['a1', 'us-east-1', undefined],
      ['b2', 'unknown', undefined]
    ])
  })

  test('several CSVs of one grid, one for each node', async () => {
    const node = (number: number) => ({ ...linkTo('a1'), href: `${linkTo('a1').href}&node=${number}` })
    service.runs[0]!.statuses = ['finished']
    service.runs[0]!.document = {
      _embedded: { grids: [{ uuid: 'a1', region: 'us-east-1' }], results: [node(2), node(1)] }
    }
    service.csvs.set('?grid_id=a1&node=1', makeCsv(3)).set('?grid_id=a1&node=2', makeCsv(4))
    const collection = await gather({ grids: [makeGrid({ id: 'a1' })], results: [node(1), node(2), node(1)] })
    expect(collection.grids.map(({ gridId, path }) => [gridId, basename(path ?? '')])).toEqual([
      ['a1', 'us-east-1-a1.csv'],
      ['a1', 'us-east-1-a1.2.csv']
    ])
    expect(collection.measurements?.figures({ grid: 'a1' })?.samples).toBe(7)
    expect([...collection.spansMs]).toEqual([['a1', 3_100]])
    expect(service.downloads).toBe(2)
  })

  test('a CSV once, whose link is signed anew for each look', async () => {
    const signed = (by: string) => ({ ...linkTo('a1'), href: `${linkTo('a1').href}&signature=${by}` })
    service.runs[0]!.statuses = ['finished']
    service.runs[0]!.document = {
      _embedded: { grids: [{ uuid: 'a1', region: 'us-east-1' }], results: [signed('y')] }
    }
    const { measurements } = await gather({ grids: [makeGrid({ id: 'a1' })], results: [signed('x')] })
    expect(measurements?.figures({})?.samples).toBe(10)
    expect(service.downloads).toBe(1)
  })

  test('a CSV whose link has expired when the download is tried again', async () => {
    const signed = (by: number) => ({ ...linkTo('a1'), href: `${linkTo('a1').href}&sig=${by}` })
    const served = service.runs[0]!
    served.statuses = ['finished']
    let looks = 0
    const look: Fault = (res, commit) => {
      served.document = {
        _embedded: { grids: [{ uuid: 'a1', region: 'us-east-1' }], results: [signed(++looks)] }
      }
      faults.none(res, commit)
    }
    service.meet('showRun', ...Array.from({ length: 50 }, () => look))
    service.meet('result', (res) => {
      res.writeHead(200, { 'content-type': 'text/csv', 'content-length': '100000' })
      res.write(makeCsv(5))
      setTimeout(() => res.destroy(), 20)
    })
    const { measurements } = await gather({ grids: [makeGrid({ id: 'a1' })], results: [signed(0)] })
    expect(measurements?.figures({})?.samples).toBe(10)
    const paths = (method: string) =>
      service.seen
        .filter((seen) => seen.method === method && seen.path.includes('sig='))
        .map(({ path }) => Number(path.replace(/.*sig=/, '')))
    // How often it looks for a newer link depends on how much of the CSV arrived before the connection broke.
    const [gets, heads] = [paths('GET'), paths('HEAD')]
    expect(gets.length).toBeGreaterThan(1)
    expect(heads).toHaveLength(1)
    const links = [...gets, ...heads]
    expect(links).toEqual([...new Set(links)].sort((one, other) => one - other))
  })

  test('a run without either has no measurements', async () => {
    service.ownGrids = []
    const { grids, measurements, report } = await gather({})
    expect(grids).toEqual([])
    expect(measurements).toBeUndefined()
    expect(report).toBeDefined()
  })
})

describe('names from the service never become paths', () => {
  test.each([
    ['../../x', '_x-a1.csv'],
    ['/etc/passwd', '_etc_passwd-a1.csv'],
    ['a\\b:c*?"<>|\n', 'a_b_c_-a1.csv'],
    ['', 'unknown-a1.csv'],
    ['..', '_-a1.csv'],
    ['x'.repeat(300), `${'x'.repeat(60)}-a1.csv`]
  ])('region %p', async (region, name) => {
    const { grids, resultsDir } = await gather({ grids: [makeGrid({ id: 'a1', region })] })
    expect(await readdir(resultsDir)).toEqual([name])
    expect(grids[0]).toMatchObject({ path: join(resultsDir, name), region })
  })

  test('a grid_id in a link that would leave its folder', async () => {
    const link = { ...linkTo('a1'), href: `${service.url}/api/runs/run1/result.csv?grid_id=..%2F..%2Fx` }
    const { grids } = await gather({ results: [link] })
    expect(grids.map(({ gridId, path }) => [gridId, basename(path ?? '')])).toEqual([
      ['result-1', 'us-east-1-result-1.csv']
    ])
  })
})

describe('what cannot be had is told, not thrown', () => {
  test('one of two CSVs: the other is kept and read', async () => {
    service.meet('result', faults.answer(401))
    const { grids, measurements } = await gather({ grids: [makeGrid({ id: 'a1' }), makeGrid({ id: 'b2' })] })
    const [lost] = grids.filter(({ problem }) => problem !== undefined)
    expect(lost).toMatchObject({ path: undefined, bytes: 0, problem: expect.stringContaining('401') })
    expect(measurements?.sources).toHaveLength(1)
    expect(gate.ports.log.of('warning')).toEqual([
      expect.stringMatching(/^The CSV of grid \w+ \(us-east-1\) could not be downloaded: .*401/)
    ])
  })

  test('a CSV that is never ready: as long as there is time, and no longer', async () => {
    service.meet('result', ...notReady)
    const { grids } = await gather({ grids: [makeGrid({ id: 'a1' })] }, 600_000)
    expect(grids[0]?.problem).toMatch(/^no complete CSV within the collection time; the last answer: .*404/)
    expect(gate.ports.clock.elapsedMs).toBe(600_000)
    expect(gate.ports.log.of('info')).toHaveLength(1)
    expect(existsSync(join(gate.ports.scratchDir, 'results', 'us-east-1-a1.csv'))).toBe(false)
  })

  test('a report that is not ready is asked for again', async () => {
    service.meet(
      'report',
      faults.answer(404),
      faults.answer(503),
      faults.dropBefore,
      faults.answer(200, '<html>')
    )
    expect((await gather({})).report).toBeDefined()
    expect(service.count('report')).toBe(5)
    const told = gate.ports.log.of('info').filter((line) => line.startsWith('The report'))
    expect(told).toHaveLength(1)
  })

  test.each([302, 403, 404, 409, 422, 500])(
    'a report that meets %d once is there all the same',
    async (status) => {
      service.meet('report', faults.answer(status, '', { location: 'http://sign-in.example/' }))
      const { report, reportProblem } = await gather({})
      expect([report?.summary, reportProblem]).toEqual([service.summary, undefined])
      expect(service.count('report')).toBe(2)
    }
  )

  test.each([302, 403, 422])('a report that meets %d for ever: for a minute', async (status) => {
    service.meet(
      'report',
      ...Array.from({ length: 1000 }, () => faults.answer(status, { error: 'not for you' }))
    )
    const { reportProblem, grids } = await gather({ grids: [makeGrid()] })
    expect(reportProblem).toMatch(new RegExp(`^reading the report of run run1: .*${status}: not for you`))
    expect(grids[0]?.problem).toBeUndefined()
    expect(gate.ports.clock.elapsedMs).toBeGreaterThanOrEqual(60_000)
    expect(gate.ports.clock.elapsedMs).toBeLessThan(70_000)
  })

  test.each([401, 410])('a report that meets %d is asked for once', async (status) => {
    service.meet('report', ...Array.from({ length: 9 }, () => faults.answer(status)))
    const { report, reportProblem } = await gather({})
    expect(report).toBeUndefined()
    expect(reportProblem).toContain(String(status))
    expect(service.count('report')).toBe(1)
  })

  test('a report that is never ready: the CSVs are there all the same', async () => {
    service.meet('report', ...notReady)
    const { report, reportProblem, grids } = await gather({ grids: [makeGrid()] }, 60_000)
    expect(report).toBeUndefined()
    expect(reportProblem).toMatch(/404/)
    expect(grids[0]?.problem).toBeUndefined()
    expect(gate.ports.clock.elapsedMs).toBe(60_000)
  })

  test.each([null, undefined, 7, { text: 'all well' }, ['all well']])(
    'a report whose summary stays %p is taken without it after a while, and told',
    async (summary) => {
      service.meet('report', ...Array.from({ length: 1000 }, () => faults.answer(200, { summary, mean: 1 })))
      const { report, reportProblem, grids, doubts } = await gather({ grids: [makeGrid()] })
      expect(report).toEqual({ summary: undefined, means: expect.anything(), rehearsal: false, warnings: [] })
      expect([reportProblem, grids[0]?.problem]).toEqual([undefined, undefined])
      expect(doubts).toEqual([expect.stringMatching(/^The report of the run has no summary\./)])
      expect(gate.ports.clock.elapsedMs).toBeGreaterThanOrEqual(10_000)
      expect(gate.ports.clock.elapsedMs).toBeLessThan(30_000)
    }
  )

  test('a summary that comes a little later is waited for', async () => {
    service.meet('report', faults.answer(200, { summary: null }), faults.answer(200, { summary: null }))
    const { report, doubts } = await gather({ grids: [makeGrid()] })
    expect([report?.summary, doubts]).toEqual([service.summary, []])
  })

  test('a report without a summary, and none at all after it: the one that came counts', async () => {
    service.meet('report', faults.answer(200, { summary: null }), ...notReady)
    const { report, reportProblem, doubts } = await gather({ grids: [makeGrid()] }, 60_000)
    expect([report?.summary, reportProblem, doubts?.length]).toEqual([undefined, undefined, 1])
  })
})

describe('what is there a little later', () => {
  test.each([302, 403, 404, 409, 422, 502])('a CSV that meets %d once', async (status) => {
    service.meet('result', faults.answer(status, '', { location: 'http://sign-in.example/' }))
    const { grids, measurements } = await gather({ grids: [makeGrid()] })
    expect(grids[0]?.problem).toBeUndefined()
    expect(measurements?.figures({})?.samples).toBe(10)
    expect(gate.ports.log.of('warning')).toEqual([])
  })

  describe('an apdex', () => {
    const say = (...texts: (string | null)[]) => {
      const served = service.runs[0]!
      served.statuses = ['finished']
      for (const apdex of texts)
        service.meet('showRun', (res, commit) => {
          served.document = { apdex }
          faults.none(res, commit)
        })
    }
    beforeEach(() => {
      const { thresholds } = makeSettings({ thresholdLines: 'apdex >= 0.5' })
      gate = { ...gate, settings: { ...gate.settings, thresholds } }
    })

    test.each(['N/A', '-', 'pending', 'calculating 45%', 'NaN [500]', '', 'null'])(
      'in place of which %p stands at first',
      async (text) => {
        say(text, text, null, '0.91 [500]')
        const { run, doubts } = await gather({ apdex: text, grids: [makeGrid()] })
        expect([run.apdex, doubts]).toEqual(['0.91 [500]', []])
      }
    )

    test.each([302, 403, 404, 422])('which is asked for again after %d', async (status) => {
      service.meet('showRun', ...Array.from({ length: 5 }, () => faults.answer(status)))
      say('0.91 [500]')
      expect((await gather({ apdex: null, grids: [makeGrid()] })).run.apdex).toBe('0.91 [500]')
    })

    test('which the service refuses to tell: for a minute, and with its words', async () => {
      service.meet('showRun', ...Array.from({ length: 1000 }, () => faults.answer(403, { error: 'no seat' })))
      const { run, doubts } = await gather({ apdex: null, grids: [makeGrid()] })
      expect(run.apdex).toBeNull()
      expect(doubts).toEqual([expect.stringMatching(/^The run could not be read again: .*403: no seat/)])
      expect(gate.ports.clock.elapsedMs).toBeGreaterThanOrEqual(60_000)
      // The last look, once everything is home, bears it for a minute too.
      expect(gate.ports.clock.elapsedMs).toBeLessThan(140_000)
    })

    test('for which the token is not good any more is not waited for', async () => {
      service.meet('showRun', ...Array.from({ length: 1000 }, () => faults.answer(401)))
      const { doubts } = await gather({ apdex: null, grids: [makeGrid()] })
      expect(doubts).toEqual([expect.stringContaining('401')])
      expect(gate.ports.clock.elapsedMs).toBeLessThan(5_000)
    })

    test('which never comes is waited for two minutes, and the log says so', async () => {
      service.runs[0]!.statuses = ['finished']
      service.runs[0]!.document = { apdex: null }
      expect((await gather({ apdex: null, grids: [makeGrid()] })).run.apdex).toBeNull()
      expect(gate.ports.clock.elapsedMs).toBeGreaterThanOrEqual(120_000)
      expect(gate.ports.clock.elapsedMs).toBeLessThan(130_000)
      expect(gate.ports.log.of('info')).toContainEqual(
        "Run run1 has ended; waiting for the service's apdex, for 2 min at most."
      )
    })

    test('which comes after the results is waited for as long, however late they are', async () => {
      service.runs[0]!.statuses = ['finished']
      service.meet('showRun', (res, commit) => {
        service.runs[0]!.document = { apdex: null, _embedded: { grids: [], results: [] } }
        faults.none(res, commit)
      })
      const gathering = gather({ apdex: null })
      await service.reached('showRun', 20)
      service.runs[0]!.document = { apdex: null }
      const resultsMs = gate.ports.clock.elapsedMs
      await service.reached('showRun', 24)
      service.runs[0]!.document = {}
      expect((await gathering).run.apdex).toBe('0.93 [500]')
      expect(resultsMs).toBeGreaterThan(130_000)
    })

    test('of another form is not waited for long', async () => {
      service.runs[0]!.statuses = ['finished']
      service.runs[0]!.document = { apdex: '83%' }
      expect((await gather({ apdex: '83%', grids: [makeGrid()] })).run.apdex).toBe('83%')
      expect(gate.ports.clock.elapsedMs).toBeLessThan(30_000)
    })

    test('that was told is not lost for what comes in its place later', async () => {
      say('N/A')
      expect((await gather({ apdex: '0.91 [500]', grids: [makeGrid()] })).run.apdex).toBe('0.91 [500]')
    })
  })

  test('a link that is named after its grid, at an address that nobody could build', async () => {
    const named = { ...linkTo('a1'), href: `${service.url}/api/runs/run1/report?grid_id=a1` }
    service.runs[0]!.document = {
      status: 'finished',
      _embedded: { grids: [{ uuid: 'a1', region: 'us-east-1', status: 'started' }], results: [named] }
    }
    service.meet('result', ...notReady)
    service.meet('report', faults.none, faults.answer(200, makeCsv(7), { 'content-type': 'text/csv' }))
    const { grids, measurements } = await gather({ grids: [makeGrid({ id: 'a1' })], results: [] }, 60_000)
    expect(grids[0]?.problem).toBeUndefined()
    expect(measurements?.figures({})?.samples).toBe(7)
  })

  test.each([202, 203, 207])('a CSV in place of which comes %d', async (status) => {
    service.csvs.set('grid1', makeCsv(40))
    service.meet('result', faults.answer(status, makeCsv(5), { 'content-type': 'text/csv' }))
    const { measurements } = await gather({ grids: [makeGrid()] })
    expect(measurements?.figures({})?.samples).toBe(40)
  })

  test('rows behind a header', async () => {
    const bare = faults.answer(200, `${CSV_HEADER}\n`, { 'content-type': 'text/csv' })
    service.meet('result', bare, bare, bare)
    const { measurements } = await gather({ grids: [makeGrid()] })
    expect(measurements?.figures({})?.samples).toBe(10)
  })

  test('a header that stays alone is asked for again for half a minute', async () => {
    service.csvs.set('grid1', `${CSV_HEADER}\n`)
    const { grids, measurements } = await gather({ grids: [makeGrid()] })
    expect(grids[0]).toMatchObject({ bytes: CSV_HEADER.length + 1, problem: undefined })
    expect(measurements?.sources[0]?.rows).toBe(0)
    expect(gate.ports.clock.elapsedMs).toBeGreaterThanOrEqual(30_000)
    expect(gate.ports.clock.elapsedMs).toBeLessThan(60_000)
  })

  describe('is not waited for at a loadgate: it reports the end when everything is in place', () => {
    beforeEach(async () => {
      service.meet('listRuns', (res, commit) => {
        res.setHeader('x-loadgate-version', '1.0.0')
        faults.none(res, commit)
      })
      await gate.client.listRuns()
      const { thresholds } = makeSettings({ thresholdLines: 'apdex >= 0.5' })
      gate = { ...gate, settings: { ...gate.settings, thresholds } }
      service.runs[0]!.statuses = ['finished']
      service.runs[0]!.document = { apdex: null }
    })

    test('neither rows behind a header nor an apdex', async () => {
      service.csvs.set('grid1', `${CSV_HEADER}\n`)
      const { grids, measurements } = await gather({ apdex: null, grids: [makeGrid()] })
      expect(grids[0]).toMatchObject({ bytes: CSV_HEADER.length + 1, problem: undefined })
      expect(measurements?.sources[0]?.rows).toBe(0)
      expect(gate.ports.clock.elapsedMs).toBe(0)
    })

    test('but what is no CSV at all may come from something in front of it', async () => {
      service.meet('result', faults.answer(200, ''), faults.answer(200, '<html>'))
      const { measurements } = await gather({ apdex: null, grids: [makeGrid()] })
      expect(measurements?.figures({})?.samples).toBe(10)
    })
  })

  test('the results of a link without a grid are not counted again when the grid is named', async () => {
    const nameless = { ...linkTo('a1'), href: `${service.url}/api/runs/run1/result.csv` }
    const { grids, measurements } = await gather({ apdex: null, results: [nameless] }, 60_000)
    expect(grids.map(({ gridId }) => gridId)).toEqual(['grid1'])
    expect(measurements?.figures({})?.samples).toBe(10)
  })
})

describe('what becomes known after the first look that shows the end', () => {
  const later = (document: Record<string, unknown>) => {
    service.runs[0]!.statuses = ['finished']
    service.runs[0]!.document = document
  }

  test('a bad end', async () => {
    later({ status: 'problem' })
    expect((await gather({ grids: [makeGrid()] })).run.status).toBe('problem')
  })

  test('what went wrong, beside what was known', async () => {
    later({ remote_errors: ['load lost: half of it'] })
    const { run } = await gather({ grids: [makeGrid()], remoteErrors: '["a node was slow"]' })
    expect(listRemoteErrors(run.remoteErrors)).toEqual(['a node was slow', 'load lost: half of it'])
  })

  test('is asked for once the CSVs are home', async () => {
    later({})
    await gather({ grids: [makeGrid()] })
    const order = service.order()
    expect(order.lastIndexOf('showRun')).toBeGreaterThan(order.lastIndexOf('result'))
  })

  test('a bad end is not undone', async () => {
    later({ status: 'finished', apdex: '0.9 [500]' })
    expect((await gather({ grids: [makeGrid()], status: 'problem' })).run.status).toBe('problem')
  })

  test('the embedded service is not asked again', async () => {
    gate = { ...gate, settings: { ...gate.settings, target: { kind: 'local' } } }
    await gather({ grids: [makeGrid()] })
    expect(service.count('showRun')).toBe(0)
  })

  test('a service that is away by then changes nothing', async () => {
    later({})
    service.meet('showRun', ...Array.from({ length: 1000 }, () => faults.answer(503)))
    const { run, grids } = await gather({ grids: [makeGrid()] })
    expect([run.status, grids[0]?.problem]).toEqual(['finished', undefined])
  })
})

describe('a CSV that grows after the run has finished', () => {
  const csv = (rows: number) => faults.answer(200, makeCsv(rows), { 'content-type': 'text/csv' })

  test('is downloaded again, until it does not', async () => {
    service.meet('result', csv(4), csv(6), csv(9))
    service.meet('resultSize', csv(6), csv(9), csv(9))
    const { grids, measurements } = await gather({ grids: [makeGrid()] })
    expect(measurements?.figures({})?.samples).toBe(9)
    expect(await readFile(grids[0]?.path ?? '', 'utf8')).toBe(makeCsv(9))
    expect([service.count('result'), service.count('resultSize')]).toEqual([3, 3])
    expect(gate.ports.log.of('info')).toEqual([
      'The CSV of grid grid1 has grown since it was downloaded; downloading it again.'
    ])
  })

  test('without end is no whole result', async () => {
    let rows = 1
    const growing = Array.from({ length: 2000 }, () => (res: Parameters<typeof faults.none>[0]) => {
      csv(rows++)(res, () => ({ status: 500, body: '' }))
    })
    service.meet('result', ...growing)
    service.meet('resultSize', ...growing)
    const { grids, measurements } = await gather({ grids: [makeGrid()] }, 120_000)
    expect(grids[0]).toMatchObject({ path: undefined, problem: expect.stringMatching(/collection time/) })
    expect(measurements).toBeUndefined()
    expect(await readdir(join(gate.ports.scratchDir, 'results'))).not.toContain('us-east-1-grid1.csv')
    expect(gate.ports.clock.elapsedMs).toBeLessThan(130_000)
  })

  test('and cannot be had any more is no whole result', async () => {
    service.meet('result', csv(4), ...notReady)
    service.meet('resultSize', csv(6))
    const { grids } = await gather({ grids: [makeGrid()] }, 60_000)
    expect(grids[0]?.problem).toMatch(/^no complete CSV within the collection time/)
  })

  test.each([401, 403, 404, 405, 302])(
    'is not what %d says when it is asked about: one request, and no alarm',
    async (status) => {
      service.meet('result', csv(4))
      service.meet('resultSize', ...Array.from({ length: 9 }, () => faults.answer(status)))
      const { grids, measurements } = await gather({ grids: [makeGrid()] })
      expect([grids[0]?.problem, measurements?.figures({})?.samples]).toEqual([undefined, 4])
      expect([service.count('result'), service.count('resultSize')]).toEqual([1, 1])
      expect(gate.ports.clock.elapsedMs).toBeLessThan(1_000)
    }
  )

  test('is seen though the service is away at first', async () => {
    service.meet('result', csv(4), csv(6))
    service.meet('resultSize', faults.answer(503), faults.dropBefore, csv(6), csv(6))
    const { measurements } = await gather({ grids: [makeGrid()] })
    expect(measurements?.figures({})?.samples).toBe(6)
  })

  test('is not waited for long where no answer comes', async () => {
    service.meet('result', csv(4))
    service.meet('resultSize', faults.hold)
    const gathering = gather({ grids: [makeGrid()] })
    await service.reached('resultSize')
    await gate.ports.clock.advance(10_000)
    expect((await gathering).measurements?.figures({})?.samples).toBe(4)
  })

  test('is not asked about at the embedded service, nor after a bad end', async () => {
    await gather({ status: 'problem', grids: [makeGrid()] })
    gate = { ...gate, settings: { ...gate.settings, target: { kind: 'local' } } }
    await gather({ grids: [makeGrid()] })
    expect([service.count('result'), service.count('resultSize')]).toEqual([2, 0])
  })
})

test('a grid with fewer nodes than requested is a gap', async () => {
  const { gaps } = await gather({ grids: [makeGrid({ id: 'a1', nodeCount: 1 })] })
  expect(gaps).toEqual(['The service says that grid a1 has 1 of the 2 nodes requested.'])
})

describe('one CSV for two grids', () => {
  const both = { grids: [makeGrid({ id: 'a1' }), makeGrid({ id: 'b2' })] }
  beforeEach(() => {
    service.ownGrids = both.grids.map(({ id, region }) => ({ id, region }))
  })

  test('is not the results of both', async () => {
    service.csvs.set('a1', makeCsv(10)).set('b2', makeCsv(10))
    const { foreign, doubts } = await gather(both)
    expect(foreign).toEqual([
      'the results of grid b2 begin with the same rows as those of grid a1, and cannot be the results of both'
    ])
    expect(doubts).toEqual([])
  })

  test('is another one if it differs by a digit', async () => {
    service.csvs.set('a1', makeCsv(10, 100)).set('b2', makeCsv(10, 101))
    expect(await gather(both)).toMatchObject({ foreign: [], doubts: [] })
  })

  test('is recognized however it was cut and started over', async () => {
    service.csvs.set('a1', makeCsv(10)).set('b2', makeCsv(10))
    service.meet('result', (res) => {
      res.writeHead(200, { 'content-type': 'text/csv', 'content-length': '100000' })
      res.write(makeCsv(5, 7))
      setTimeout(() => res.destroy(), 20)
    })
    expect((await gather(both)).foreign).toHaveLength(1)
  })

  test.each([
    ['20 rows, of more', 40, 30, 1],
    ['all rows of the shorter one', 3, 500, 1],
    ['a single row', 1, 10, 1]
  ])('is recognized by %s', async (_, rows, others, count) => {
    service.csvs.set('a1', makeCsv(rows)).set('b2', makeCsv(others))
    expect((await gather(both)).foreign).toHaveLength(count)
  })

  test('of headers alone is another matter', async () => {
    service.csvs.set('a1', `${CSV_HEADER}\n`).set('b2', `${CSV_HEADER}\n`)
    expect((await gather(both)).foreign).toEqual([])
  })

  test('of one grid, under two links', async () => {
    service.csvs.set('a1', makeCsv(10))
    const links = [linkTo('a1'), { ...linkTo('a1'), href: `${linkTo('a1').href}&node=2` }]
    expect((await gather({ grids: [makeGrid({ id: 'a1' })], results: links })).foreign).toEqual([
      'two results of grid a1 begin with the same rows'
    ])
  })
})

test('the span of a tidy CSV reaches to the end of its last bucket, and one bucket of slack', async () => {
  const row = (second: number) => `${1_760_000_010_000 + second * 1000},passed,__all,1,1,1,1,us-east-1,9`
  const header = 'Time,Measurement,Label,Account,Run,Project,Grid,Region,Value'
  service.csvs.set('grid1', `${[header, row(0), row(10), row(20)].join('\n')}\n`)
  const { spansMs } = await gather({ grids: [makeGrid()] })
  expect([...spansMs]).toEqual([['grid1', 40_000]])
})

describe('the grids of a repeated run', () => {
  const repeated = { uuid: 'old', status: 'finished', _embedded: { grids: [{ uuid: 'x' }, { uuid: 'y' }] } }
  beforeEach(() => {
    gate = { ...gate, settings: { ...gate.settings, origin: { kind: 'repeat', runId: 'old' } } }
  })

  test('are asked for until the service answers', async () => {
    service.meet(
      'showRun',
      ...Array.from({ length: 9 }, () => faults.answer(500)),
      faults.answer(200, repeated)
    )
    const { missingGrids, gaps } = await gather({ grids: [makeGrid()] }, 200_000)
    expect([missingGrids, gaps]).toEqual([['a grid'], []])
  })

  test.each([302, 403, 404, 422])('are asked for again after %d', async (status) => {
    service.meet(
      'showRun',
      ...Array.from({ length: 9 }, () => faults.answer(status)),
      faults.answer(200, repeated)
    )
    const { missingGrids, gaps, report } = await gather({ grids: [makeGrid()] })
    expect([missingGrids, gaps, report?.summary]).toEqual([['a grid'], [], service.summary])
  })

  test('that stay unknown keep nothing else from coming home', async () => {
    service.meet('showRun', ...Array.from({ length: 1000 }, () => faults.answer(403, { error: 'no seat' })))
    const { gaps, grids, report } = await gather({ grids: [makeGrid()] })
    expect(gaps).toEqual([
      expect.stringMatching(/run old, which this run repeats, could not be read: .*no seat/)
    ])
    expect([report?.summary, grids[0]?.problem]).toEqual([service.summary, undefined])
    expect(gate.ports.clock.elapsedMs).toBeLessThan(140_000)
  })

  test('that stay unknown are a gap', async () => {
    service.meet('showRun', ...Array.from({ length: 1000 }, () => faults.answer(500)))
    const { gaps, grids } = await gather({ grids: [makeGrid()] })
    expect(gaps).toEqual([expect.stringMatching(/^The expected grids are unknown: run old, .*500/)])
    expect(grids[0]?.problem).toBeUndefined()
  })
})

describe('what is read while it arrives', () => {
  test('a download that starts over is read anew', async () => {
    service.csvs.set('grid1', makeCsv(40))
    service.meet('result', (res) => {
      res.writeHead(200, { 'content-type': 'text/csv', 'content-length': '100000' })
      res.write(makeCsv(5))
      setTimeout(() => res.destroy(), 20)
    })
    const { measurements } = await gather({ grids: [makeGrid()] })
    expect(measurements?.figures({})?.samples).toBe(40)
  })

  test('a last row that is cut is seen', async () => {
    service.csvs.set('grid1', makeCsv(10).slice(0, -20))
    const { measurements } = await gather({ grids: [makeGrid()] })
    expect(measurements?.sources[0]?.problems).not.toEqual([])
  })

  test('a header without rows has no sample', async () => {
    service.csvs.set('grid1', `${CSV_HEADER}\n`)
    const { measurements } = await gather({ grids: [makeGrid()] })
    expect(measurements?.figures({})).toBeUndefined()
  })
})
