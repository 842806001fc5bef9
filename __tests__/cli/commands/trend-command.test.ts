import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RecordedRun } from '../../../src/contract/baseline.js'
import { encodeBaseline } from '../../../src/analysis/baseline/document/baseline-document.js'
import type { Trend } from '../../../src/analysis/baseline/build-trend.js'
import { UsageError } from '../../../src/cli/arguments.js'
import { runCommandLine } from '../../../src/cli/commands.js'
import { makeDocument, makeRuns, makeScope } from '../../support/baseline/make-recorded.js'
import { makeCommandPorts } from '../command-ports.js'

let workspace: string

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'loadgate-trend-'))
})
afterEach(() => rm(workspace, { recursive: true }))

interface Terminal {
  readonly columns?: number
  readonly isTTY?: boolean
  readonly isUnicode?: boolean
}

async function draw(
  runs: readonly RecordedRun[],
  terminal: Terminal = {},
  ...flags: string[]
): Promise<string> {
  const { columns = 80, isTTY = true, isUnicode = true } = terminal
  await writeFile(join(workspace, 'main.json.gz'), encodeBaseline(makeDocument(runs)))
  const ports = makeCommandPorts({ workspace, isUnicode })
  Object.assign(ports.screen.out, { columns, isTTY })
  expect(await runCommandLine(['trend', '.', ...flags], ports)).toBe(0)
  return ports.screen.out.text
}

/** The p95 of run `i` is 200 + 10 i. */
const RUNS = makeRuns(8, (i) => ({
  scopes: [makeScope({ percentilesMs: { '95': 200 + 10 * i } })],
  unusable: i === 3 ? 'it was cancelled' : null,
  fingerprint: { threads: i < 2 ? '5' : '10' }
}))

/** The signs of points, from the first run to the last, in the chart of p95. */
function signsOf(text: string, signs: RegExp): string {
  const chart = text.slice(text.indexOf('p95'), text.indexOf('throughput'))
  const found = chart
    .split('\n')
    .slice(1)
    .flatMap((line) => [...line.matchAll(signs)].map(({ 0: sign, index }) => ({ sign, index })))
  return found
    .sort((a, b) => a.index - b.index)
    .map(({ sign }) => sign)
    .join('')
}

describe('the trend in a terminal', () => {
  test('has a chart for p95, throughput and error rate, with the band, and says what is special', async () => {
    const text = await draw(RUNS)
    expect(text).toMatch(
      /^The last 8 runs on main, 2023-11-14 to 2023-11-15\n\np95, expected \d+ ms to \d+ ms\n/
    )
    expect(text).toMatch(/^throughput, expected .*\/s to .*\/s$/m)
    expect(text).toMatch(/^error rate, expected .* % to .* %$/m)
    expect(signsOf(text, /[●○◆]/g)).toBe('●●●○●●●●')
    expect(text).toMatch(/┤ {4}┊(?=.*░)/)
    expect(text).not.toMatch(/┤.*░.*┊/)
    expect(text).toContain('● run   ○ not usable   ░ expected next   ┊ not comparable before')
    expect(text).toMatch(
      /\nNot comparable before c2e0000: threads: 10, was 5\nNot usable, c3e0000: it was cancelled\n$/
    )
  })

  test.each<[string, Terminal]>([
    ['not a terminal', { isTTY: false }],
    ['a terminal without Unicode', { isUnicode: false }]
  ])('in ASCII on %s', async (_, terminal) => {
    const text = await draw(RUNS, terminal)
    expect(text).not.toMatch(/[^\n -~]/)
    expect(signsOf(text, /[*o]/g)).toBe('***o****')
  })

  test('puts higher figures higher', async () => {
    const rows = (await draw(RUNS)).split('\n').slice(2, 11)
    const rowOf = (at: number) => rows.findIndex((row) => /[●○]/.test(row.slice(at, at + 1)))
    const places = [
      ...new Set(rows.flatMap((row) => [...row.matchAll(/[●○]/g)].map(({ index }) => index)))
    ].sort((a, b) => a - b)
    const heights = places.map(rowOf)
    expect(heights).toEqual([...heights].sort((a, b) => b - a))
    expect(heights[0]).toBeGreaterThan(heights.at(-1)!)
  })

  test.each([30, 40, 60])('fits %d columns, with the newest runs', async (columns) => {
    const text = await draw(makeRuns(50), { columns })
    expect(
      Math.max(
        ...text
          .split('\n')
          .slice(2)
          .map(({ length }) => length)
      )
    ).toBeLessThanOrEqual(columns)
    const drawn = signsOf(text, /●/g).length
    expect(drawn).toBeGreaterThan(5)
    const day = (at: number): string => new Date(makeRuns(50).at(at)!.atMs).toISOString().slice(0, 10)
    expect(text.split('\n')[0]).toBe(`The last ${drawn} runs on main, ${day(-drawn)} to ${day(-1)}`)
  })

  test('has the last thirty runs', async () => {
    expect(signsOf(await draw(makeRuns(50), { columns: 200 }), /●/g)).toHaveLength(30)
  })

  test('of one run, of runs without figures', async () => {
    expect(await draw(makeRuns(1))).toMatch(/^The only run on main/)
    expect(await draw(makeRuns(2, () => ({ scopes: [] })))).toContain('p95: not recorded')
  })

  test('shows nothing raw', async () => {
    const hostile = '\u001b[2J\u009b\n::error::x\u202e'
    const text = await draw(
      makeRuns(2, (i) => ({ unusable: hostile, fingerprint: { CPU: hostile + String(i) } }))
    )
    // eslint-disable-next-line no-control-regex -- control characters are what is looked for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    expect(text).not.toMatch(/^::/m)
  })

  test('as JSON', async () => {
    const trend = JSON.parse(await draw(RUNS, {}, '--json')) as Trend
    expect(trend.points.map(({ p95Ms }) => p95Ms)).toEqual(RUNS.map((_, i) => 200 + 10 * i))
    expect(trend.points.map(({ isAfterChange }) => isAfterChange).indexOf(true)).toBe(2)
    expect(Object.keys(trend.bands)).toEqual(['p95Ms', 'throughput', 'errorRate'])
  })

  test('without a run is a usage error', async () => {
    await expect(draw([])).rejects.toThrow(UsageError)
    await expect(draw([])).rejects.toThrow('has no runs yet')
  })
})
