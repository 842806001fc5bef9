import { describe, expect, test } from '@jest/globals'
import type { Outcome } from '../../src/analysis/outcome.js'
import { describeOutcome } from '../../src/cli/outcome-text.js'
import { SHOP_LOAD, makePageOutcome } from '../support/data/page-outcome.js'

const measured = makePageOutcome()

function linesOf(changes: Partial<Outcome>, width?: number): string[] {
  return describeOutcome({ ...measured, ...changes }, { place: 'Files: here', width }).split('\n')
}

describe('at the end of a run', () => {
  test('figures per label come first, the slowest label at their top, and the verdict last', () => {
    const lines = linesOf({})
    const at = (start: string): number => lines.findIndex((line) => line.startsWith(start))
    const order = ['times in ms', 'all samples', 'failed ', 'verdict ', 'FAILED', 'Files: here'].map(at)
    expect(order).not.toContain(-1)
    expect(order).toEqual([...order].sort((a, b) => a - b))
    const p95s = lines
      .slice(at('all samples') + 1, lines.indexOf('', at('all samples')))
      .map((line) => Number(line.split(/ {2,}/).at(-3)!.replace(',', '')))
    expect(p95s.length).toBeGreaterThan(1)
    expect(p95s).toEqual([...p95s].sort((a, b) => b - a))
  })

  test.each([
    ['cancelled', 'until the run was cancelled'],
    ['timed-out', 'until the timeout'],
    ['error', 'until the error below']
  ] as const)('%s: what was measured by then, which is said to be a part', (verdict, words) => {
    const lines = linesOf({ verdict })
    const at = lines.indexOf(`Partial results, with the samples ${words}:`)
    expect(at).toBeGreaterThan(0)
    expect(lines[at + 2]).toMatch(/^times in ms /)
    expect(linesOf({ verdict, measurements: undefined }).join()).not.toMatch(/Partial|times in ms/)
  })

  test('timed out: what to do', () => {
    const text = linesOf({ verdict: 'timed-out' }).join('\n')
    expect(text).toMatch(
      /^TIMED-OUT.*\nThe load was still running: raise --timeout .*\$\{__P\(duration,60\)\}\.$/m
    )
    expect(linesOf({ verdict: 'timed-out', measurements: undefined }).join()).not.toContain('--timeout')
  })

  test('what the reason quotes is not said again, as a warning or in the words of the service', () => {
    const error = 'JMeter needs Java, and there is no java on the PATH'
    const text = linesOf({
      ...{ verdict: 'inconclusive', reason: `The service says: ${error}`, measurements: undefined },
      remoteErrors: [error, 'something else'],
      summary: `The run failed: ${error}. No samples were recorded.`
    }).join('\n')
    expect(text.split(error)).toHaveLength(2)
    expect(text).toContain('Warning: The service says: something else')
  })

  test('on a terminal of 80 columns long labels are shortened, and elsewhere they are whole', () => {
    const long = `GET /shop/${'very/'.repeat(20)}long`
    const labels = [long, ...SHOP_LOAD.labels]
    const { measurements } = makePageOutcome({ ...SHOP_LOAD, labels, seconds: 20 })
    const tableOf = (width?: number): string[] => {
      const lines = linesOf({ measurements }, width)
      return lines.filter((line) => /^(times in ms|all samples|GET|POST) /.test(line))
    }
    expect(tableOf(80).length).toBeGreaterThan(3)
    expect(Math.max(...tableOf(80).map(({ length }) => length))).toBeLessThanOrEqual(80)
    expect(tableOf().join()).toContain(long)
  })
})
