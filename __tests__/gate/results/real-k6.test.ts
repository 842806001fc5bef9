import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { readEarlierVerdict } from '../../../src/gate/results/earlier-verdict.js'
import { judgeFiles } from '../../../src/gate/results/judge-files.js'
import { nameSources } from '../../../src/gate/results/result-sources.js'
import { K6, describeWithK6 } from '../../support/tools/k6.js'

const REQUESTS = 180

const SCRIPT = `
import http from 'k6/http'
import { check, group } from 'k6'
export const options = {
  scenarios: { all: { executor: 'shared-iterations', vus: 3, iterations: ${REQUESTS / 3} } },
  systemTags: ['status', 'method', 'url', 'name', 'group', 'check', 'error', 'error_code', 'expected_response', 'vu']
}
export default function () {
  const home = http.get(__ENV.TARGET + '/home', { tags: { name: 'a, "home"' } })
  check(home, { 'says hello': ({ body }) => body === 'hello' })
  group('basket', () => {
    http.get(__ENV.TARGET + '/item?id=' + __ITER)
    http.get(__ENV.TARGET + '/down')
  })
}
`

interface Summary {
  readonly metrics: Readonly<Record<string, Readonly<Record<string, number>>>>
}

describeWithK6('files of real k6', () => {
  let folder: string
  let server: Server
  let summary: Summary
  /** By the server's count. */
  let hits = 0

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'loadgate-real-k6-'))
    server = createServer((request, response) => {
      hits++
      // From 0 to 60 ms, so that percentiles differ.
      setTimeout(() => response.writeHead(request.url === '/down' ? 503 : 200).end('hello'), (hits * 7) % 60)
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    writeFileSync(join(folder, 'script.js'), SCRIPT)
    const out = ['--out', 'csv=k6.csv', '--out', 'json=k6.json', '--summary-export', 'summary.json']
    await new Promise<void>((done, fail) => {
      execFile(
        K6,
        ['run', '--quiet', '--address=', ...out, 'script.js'],
        {
          cwd: folder,
          env: {
            ...{ PATH: process.env.PATH, HOME: folder, K6_CSV_TIME_FORMAT: 'unix_milli' },
            ...{ K6_NO_USAGE_REPORT: 'true', K6_AUTO_EXTENSION_RESOLUTION: 'false' },
            TARGET: `http://127.0.0.1:${(server.address() as AddressInfo).port}`
          }
        },
        (error) => (error instanceof Error ? fail(error) : done())
      )
    })
    summary = JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8')) as Summary
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
    rmSync(folder, { recursive: true })
  })

  async function judge(name: string): Promise<Outcome> {
    const path = join(folder, name)
    return judgeFiles(nameSources([{ path, shown: name }]), {
      ...{ thresholds: [], apdexTargetMs: 500, onStall: 'fail', warmUpMs: 0, notes: [] },
      ...{ folder, signal: new AbortController().signal, earlier: await readEarlierVerdict([path]) }
    })
  }

  test.each(['k6.csv', 'k6.json'])('%s has the counts of its summary, and of the server', async (name) => {
    const { measurements, verdict } = await judge(name)
    const { http_reqs: requests, http_req_failed: failed, checks } = summary.metrics
    expect(verdict).toBe('passed')
    expect(measurements!.figures({})).toMatchObject({ samples: REQUESTS, failures: failed!.passes })
    expect([hits, requests!.count]).toEqual([REQUESTS, REQUESTS])
    expect(measurements!.figures({ label: 'check: says hello' })!.samples).toBe(checks!.passes)
    expect(measurements!.figures({ label: 'group: basket' })!.samples).toBe(REQUESTS / 3)
    expect(measurements!.figures({ label: 'a, "home"' })!.samples).toBe(REQUESTS / 3)
    expect(measurements!.labels).toHaveLength(5)
  })

  test.each(['k6.csv', 'k6.json'])('%s has its times, but for rounding and interpolation', async (name) => {
    const figures = (await judge(name)).measurements!.figures({})!
    const { min, avg, max } = summary.metrics.http_req_duration!
    expect([figures.minMs, figures.maxMs]).toEqual([min, max].map((ms) => Math.round(ms!)))
    expect(Math.abs(figures.meanMs! - avg!)).toBeLessThanOrEqual(0.5)
    // k6 interpolates between the two samples around the rank; ours is one of them, in whole ms.
    const times = readFileSync(join(folder, 'k6.csv'), 'utf8')
      .split('\n')
      .filter((row) => row.startsWith('http_req_duration,'))
      .map((row) => Number(row.split(',')[2]))
      .sort((one, other) => one - other)
    for (const percent of [90, 95]) {
      const rank = (percent / 100) * (times.length - 1)
      const [below, above] = [times[Math.floor(rank)]!, times[Math.ceil(rank)]!]
      const theirs = summary.metrics.http_req_duration![`p(${percent})`]!
      expect(theirs).toBeGreaterThanOrEqual(below - 1e-3)
      expect(theirs).toBeLessThanOrEqual(above + 1e-3)
      expect([Math.round(below), Math.round(above)]).toContain(figures.percentileMs(percent))
    }
  })
})
