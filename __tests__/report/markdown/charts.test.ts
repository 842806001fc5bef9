import { describe, expect, test } from '@jest/globals'
import { renderCharts } from '../../../src/report/markdown/charts.js'
import { makeSeries } from '../../support/data/make-series.js'
import { diagramsIn } from '../../support/mermaid.js'

const whole = makeSeries({
  points: 600,
  p95Ms: (index) => 400 + (index % 100) * 3,
  failures: (index) => (index % 100 === 0 ? 3 : 0)
})

describe('the charts', () => {
  test('are response time, throughput and failures, each with its series named in text', () => {
    const text = renderCharts(whole, { rehearsal: false })
    expect(diagramsIn(text).map((diagram) => /title "(.*)"/.exec(diagram)?.[1])).toEqual([
      'Response time in ms',
      'Throughput in samples per second',
      'Failed samples'
    ])
    expect(text).toContain(
      'p95 is the upper line (orange), p50 the lower one (blue); one point every 10 seconds.'
    )
    expect(text).toContain('**Failures**: 18 failed samples (red); one point every 10 seconds.')
  })

  test('have as many values as points, p50 before p95', () => {
    const [responseTime] = diagramsIn(renderCharts(whole, { rehearsal: false }))
    const [p50, p95] = [...responseTime!.matchAll(/line \[(.*)\]/g)].map(([, values]) => values!.split(', '))
    expect(p50).toHaveLength(60)
    expect(p95).toHaveLength(60)
    expect(p50![0]).toBe('207')
    expect(p95![0]).toBe('414')
    expect(responseTime).toContain('y-axis 0 --> 684')
    expect(responseTime).toContain('x-axis "seconds" 0 --> 590')
  })

  test.each([
    ['no series', undefined],
    ['one bucket', makeSeries({ points: 1 })],
    ['no sample in any bucket', makeSeries({ points: 5, throughput: () => 0, p95Ms: () => null })]
  ])('are nothing with %s', (_name, series) => {
    expect(renderCharts(series, { rehearsal: true })).toBe('')
  })

  test('no failure is said in words', () => {
    const text = renderCharts(makeSeries({ points: 5 }), { rehearsal: false })
    expect(diagramsIn(text)).toHaveLength(2)
    expect(text).toContain('**Failures**: none.')
  })

  test('without percentiles there is no chart of them', () => {
    const text = renderCharts(makeSeries({ points: 5, p95Ms: () => null }), { rehearsal: false })
    expect(diagramsIn(text)).toHaveLength(1)
    expect(text).not.toContain('p95')
  })

  test('an axis has a length, even when every value is 0', () => {
    const [responseTime] = diagramsIn(
      renderCharts(makeSeries({ points: 5, p95Ms: () => 0 }), { rehearsal: false })
    )
    expect(responseTime).toContain('y-axis 0 --> 1\n')
  })

  test('gaps are mentioned', () => {
    const text = renderCharts(makeSeries({ points: 5, p95Ms: (index) => (index === 2 ? null : 100) }), {
      rehearsal: false
    })
    expect(text).toContain('Gaps without samples are drawn as straight lines.')
    expect(renderCharts(whole, { rehearsal: false })).not.toContain('straight on')
  })

  test('times in which nothing was answered are marked by a line that is high', () => {
    const series = makeSeries({ points: 12, p95Ms: (index) => 100 + index, failures: () => 1 })
    const text = renderCharts(series, {
      rehearsal: false,
      stalls: [
        [2500, 1200],
        [8000, 300]
      ]
    })
    const [responseTime, throughput, failures] = diagramsIn(text).map((diagram) =>
      [...diagram.matchAll(/line \[(.*)\]/g)].map(([, values]) => values)
    )
    expect(responseTime).toHaveLength(3)
    expect(responseTime?.[0]).toBe('0, 0, 111, 111, 0, 0, 0, 0, 111, 0, 0, 0')
    expect(throughput?.[0]).toBe('0, 0, 10, 10, 0, 0, 0, 0, 10, 0, 0, 0')
    expect(failures).toHaveLength(1)
    expect(text.match(/Nothing was answered where the grey line is high\./g)).toHaveLength(2)
    expect(diagramsIn(text)[0]).toContain('"#8b949e, #2f81f7, #d9730d"')
  })

  test('of a rehearsal say so, each of them', () => {
    const text = renderCharts(whole, { rehearsal: true })
    expect(text).toMatch(/^### Over time \(rehearsal, synthetic samples\)/)
    for (const diagram of diagramsIn(text)) expect(diagram).toContain('rehearsal, synthetic samples"')
  })
})
