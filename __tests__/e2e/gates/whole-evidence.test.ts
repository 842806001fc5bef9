import { describe, expect, test } from '@jest/globals'
import type { ServerResponse } from 'node:http'
import { json, sampleCsv } from '../../support/fake-service.js'
import { GRID, onStage, testOnStage } from '../../support/gate/gate-stage.js'
import type { Stage } from '../../support/gate/gate-stage.js'
import type { StepResult } from '../../support/step/step.js'

type OnStage = (stage: Stage) => Promise<void>

/** The run has ended as soon as it is looked at. */
const whenEnded =
  (run: OnStage): OnStage =>
  (stage) => {
    stage.service.statuses = ['finished']
    return run(stage)
  }
const testEnded = (name: string, run: OnStage): void => testOnStage(name, whenEnded(run))

function onResult(
  stage: Stage,
  answer: (response: ServerResponse, range: string | undefined, turn: number) => void
): void {
  let turn = 0
  stage.service.faults.push((seen, response) => {
    if (!seen.path.includes('/result.csv')) return false
    answer(response, seen.headers.range, ++turn)
    return true
  })
}

function verdictOf(stage: Stage, result: StepResult): Record<string, unknown> {
  return JSON.parse(String(stage.artifactOf(result).get('verdict.json'))) as Record<string, unknown>
}

describe('a CSV that comes in shorter parts than were asked for', () => {
  const csv = Buffer.from(sampleCsv())
  const rowEnds = [...csv.entries()].flatMap(([at, byte]) => (byte === 10 ? [at + 1] : []))

  testEnded('is judged whole', async (stage) => {
    stage.step.inputs.thresholds = 'samples == 10\nmax == 1s'
    onResult(stage, (response, range, turn) => {
      const headers = { 'content-type': 'text/csv', etag: '"v1"' }
      if (turn === 1) {
        response.writeHead(200, { ...headers, 'content-length': csv.length })
        response.write(csv.subarray(0, rowEnds[2]), () => setTimeout(() => response.destroy(), 50))
        return
      }
      const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1])
      const to = rowEnds.find((end) => end > from + 100) ?? csv.length
      response
        .writeHead(206, {
          ...headers,
          'content-range': `bytes ${from}-${to - 1}/${csv.length}`,
          'content-length': to - from
        })
        .end(csv.subarray(from, to))
    })

    const result = await stage.step.main()

    expect(result.log).toContain('Load gate passed: All 2 thresholds hold.')
    expect(result.code).toBe(0)
    const [name, stored] = [...stage.artifactOf(result)].find(([path]) => path.endsWith('.csv'))!
    expect(name).toMatch(/^results\/us-east-1-/)
    expect(stored.equals(csv)).toBe(true)
  })
})

describe('what is no CSV', () => {
  const CASES: [string, string, RegExp][] = [
    ['a sentence', 'results are being prepared', /expected CSV, got "results are being prepared"/],
    ['a blank line', '\n', /expected CSV, got a blank line/],
    ['half a header', 'timeStamp,elapsed,label,respo', /the CSV header is incomplete: "timeStamp,elapsed/],
    ['a page', '<html><title>Hold on</title></html>', /an HTML page titled "Hold on"/]
  ]
  const THRESHOLDS = ['apdex >= 0.85', '']

  test.concurrent.each(
    CASES.flatMap(([name, body, words]) => THRESHOLDS.map((lines) => ({ name, body, words, lines })))
  )('$name in its place is never green (thresholds: "$lines")', ({ body, words, lines }) =>
    onStage(
      whenEnded(async (stage) => {
        Object.assign(stage.step.inputs, { thresholds: lines, timeout: '15s' })
        onResult(stage, (response) => response.writeHead(200, { 'content-type': 'text/csv' }).end(body))

        const result = await stage.step.main()

        expect(result.outputs.verdict).toBe('inconclusive')
        expect(result.code).toBe(1)
        expect(result.log).toMatch(words)
      })
    )()
  )

  testEnded('is asked for again until the CSV is there', async (stage) => {
    stage.step.inputs.thresholds = 'samples == 10'
    onResult(stage, (response, _, turn) => {
      const body = ['being prepared', '\n', 'timeStamp,elapsed,la'][turn - 1] ?? sampleCsv()
      response.writeHead(200, { 'content-type': 'text/csv' }).end(body)
    })

    const result = await stage.step.main()

    expect(result.outputs.verdict).toBe('passed')
  })
})

describe('load that was lost', () => {
  testEnded('two grids requested and one listed: the missing one is named', async (stage) => {
    Object.assign(stage.step.inputs, {
      timeout: '15s',
      grids: `${GRID}\n${GRID.replace('us-east-1', 'eu-west-1')}`
    })
    stage.service.faults.push(() => {
      for (const run of stage.service.runList) run.grids.splice(1)
      return false
    })

    const result = await stage.step.main()

    expect(result.outputs.verdict).toBe('inconclusive')
    expect(result.log).toContain("a grid in eu-west-1 is missing from the service's list (1 found)")
  })

  testEnded('lines that say so make it inconclusive', async (stage) => {
    stage.service.remoteErrors = 'node 2 was late\nload lost: grid g2 was cut off by its stop_after of 1 min'

    const result = await stage.step.main()

    expect(result.outputs.verdict).toBe('inconclusive')
    expect(result.log).toContain('Part of the load was lost: grid g2 was cut off by its stop_after of 1 min')
  })

  testEnded('other words of the service are shown everywhere, with a warning', async (stage) => {
    stage.service.remoteErrors = ['node 2 was late', '::error::boo']

    const result = await stage.step.main()

    expect(result.outputs.verdict).toBe('passed')
    expect(result.log).toContain('::warning::The service reports an error for the run: node 2 was late')
    expect(result.log).not.toMatch(/^::error::/m)
    expect(result.summary).toContain('The service says: node 2 was late')
    expect(verdictOf(stage, result)).toMatchObject({ remote_errors: ['node 2 was late', '::error::boo'] })
    expect(String(stage.artifactOf(result).get('report.html'))).toContain('The service says: node 2 was late')
  })

  testEnded('they weigh more where the load was not reached', async (stage) => {
    Object.assign(stage.step.inputs, { threads: '50' })
    stage.service.remoteErrors = ['1 of 2 nodes did not start']

    const result = await stage.step.main()

    expect(result.outputs.verdict).toBe('inconclusive')
    expect(result.log).toContain('::warning::The load reached 1 thread of the 50 threads requested.')
    expect(result.log).toContain('The service says: 1 of 2 nodes did not start')
    expect(result.summary).toContain('The load reached 1 thread of the 50 threads requested.')
    expect(verdictOf(stage, result).warnings).toHaveLength(1)
  })
})

testEnded('an apdex that is null for three looks is waited for', async (stage) => {
  let looks = 0
  stage.service.faults.push((seen) => {
    if (/runs\/[^/]+$/.test(seen.path)) looks++
    for (const run of stage.service.runList) run.apdex = looks > 3 ? '0.95 [900]' : null
    return false
  })

  const result = await stage.step.main()

  expect(result.outputs).toMatchObject({ verdict: 'passed', apdex: '0.95' })
  // The fourth has it; the last one comes after the CSVs are home.
  expect(looks).toBe(5)
})

describe('times of failed requests', () => {
  testEnded('hold no threshold', async (stage) => {
    stage.service.csv = () => sampleCsv({ failAll: true })
    stage.step.inputs.thresholds = 'p95 < 2s'

    const result = await stage.step.main()

    expect(result.outputs.verdict).toBe('inconclusive')
    expect(result.log).toContain('10 of 10 samples failed')
  })

  testEnded('beside a broken error rate it is failed', async (stage) => {
    stage.service.csv = () => sampleCsv({ failAll: true })
    stage.step.inputs.thresholds = 'p95 < 2s\nerror_rate < 1%'

    const result = await stage.step.main()

    expect(result.outputs.verdict).toBe('failed')
    expect(result.log).toContain('Load gate failed: 1 threshold is broken: error_rate is 100 %')
  })
})

testEnded('a reply about another run is none', async (stage) => {
  let isFirst = true
  stage.service.faults.push((seen, response) => {
    if (!/runs\/[^/]+$/.test(seen.path) || !isFirst) return false
    isFirst = false
    json(response, 200, { uuid: 'another', status: 'finished', apdex: '1.0 [500]' })
    return true
  })

  const result = await stage.step.main()

  expect(result.outputs).toMatchObject({ verdict: 'passed', apdex: '0.95' })
})
