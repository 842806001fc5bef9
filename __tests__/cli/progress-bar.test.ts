import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { ProgressBar, ProgressLines, drawBar } from '../../src/cli/progress-bar.js'
import { ManualClock } from '../support/manual-clock.js'
import { Page } from './command-ports.js'

describe('drawing', () => {
  test.each([
    { elapsedMs: 0, durationMs: undefined, drawn: 'running · 0 s' },
    { elapsedMs: 0, durationMs: 10_000, drawn: `running [${'░'.repeat(24)}] 0 s of 10 s` },
    {
      elapsedMs: 5000,
      durationMs: 10_000,
      drawn: `running [${'█'.repeat(12)}${'░'.repeat(12)}] 5 s of 10 s`
    },
    { elapsedMs: 12_000, durationMs: 10_000, drawn: `running [${'█'.repeat(24)}] 12 s of 10 s` }
  ])('$elapsedMs of $durationMs ms', ({ drawn, ...progress }) => {
    expect(drawBar({ status: 'running', ...progress })).toBe(drawn)
  })

  test('one of several runs says which one it is', () => {
    const progress = { stage: 'round 3 of 10: base', status: 'running', elapsedMs: 0, durationMs: undefined }
    expect(drawBar(progress)).toBe('round 3 of 10: base · running · 0 s')
  })

  test("one in the service's queue says at which position", () => {
    const progress = { status: 'queued', queuePosition: 3, elapsedMs: 40_000, durationMs: undefined }
    expect(drawBar(progress)).toBe("waiting in the service's queue, position 3 · 40 s")
  })
})

test('where there is no terminal: a line every 30 s, whether or not there are polls, until the end', async () => {
  const clock = new ManualClock()
  const lines: string[] = []
  const progress = new ProgressLines(clock, (line) => lines.push(line))
  progress.show({ status: 'starting', elapsedMs: 0, durationMs: undefined })
  await clock.advance(65_000)
  progress.show({ status: 'running', elapsedMs: 2_000, durationMs: 300_000 })
  await clock.advance(89_999)
  expect(lines).toEqual([
    ...['starting: 30 s', 'starting: 60 s'],
    ...['running: 27 s of 5 min', 'running: 57 s of 5 min', 'running: 87 s of 5 min']
  ])
  progress.show({ stage: 'round 1 of 2: base', status: 'queued', elapsedMs: 0, durationMs: undefined })
  await clock.advance(30_000)
  expect(lines.at(-1)).toBe('round 1 of 2: base · queued: 25 s')
  progress.end()
  await clock.advance(0)
  expect(clock.pendingCount).toBe(0)
})

describe('a bar on a terminal', () => {
  let nowMs: number
  let page: Page
  let bar: ProgressBar
  const lastLine = (): string | undefined => page.text.split('\r\u001b[2K').at(-1)

  beforeEach(() => {
    jest.useFakeTimers()
    nowMs = 0
    page = new Page()
    bar = new ProgressBar(page, () => nowMs)
  })
  afterEach(() => {
    bar.end()
    jest.useRealTimers()
  })

  test('advances between two polls of the run', () => {
    bar.show({ status: 'running', elapsedMs: 2000, durationMs: undefined })
    expect(lastLine()).toBe('running · 2 s')
    nowMs = 3000
    jest.advanceTimersByTime(200)
    expect(lastLine()).toBe('running · 5 s')
  })

  test('is erased at the end, and stays away', () => {
    bar.show({ status: 'running', elapsedMs: 2000, durationMs: undefined })
    bar.end()
    expect(lastLine()).toBe('')
    const { text } = page
    jest.advanceTimersByTime(1000)
    bar.above(() => undefined)
    expect(page.text).toBe(text)
  })

  test('gives its place to a note, and takes it back', () => {
    bar.note('Installing: 1 of 3')
    expect(lastLine()).toBe('Installing: 1 of 3')
    bar.show({ status: 'queued', elapsedMs: 2000, durationMs: undefined })
    bar.note('Installing: 2 of 3')
    jest.advanceTimersByTime(200)
    expect(lastLine()).toBe('Installing: 2 of 3')
    bar.above(() => page.write('a line\n'))
    expect(page.text.endsWith(`\r\u001b[2Ka line\n\r\u001b[2KInstalling: 2 of 3`)).toBe(true)
    bar.note(undefined)
    expect(lastLine()).toBe('queued · 2 s')
  })

  test('leaves nothing of a note that ends before there is a bar', () => {
    bar.note('Installing: 1 of 3')
    bar.note(undefined)
    expect(lastLine()).toBe('')
  })

  test('is never wider than the terminal, because a line that wraps cannot be erased', () => {
    page.columns = 20
    bar.show({ status: 'running', elapsedMs: 2000, durationMs: 60_000 })
    expect(lastLine()).toHaveLength(19)
  })

  test('is drawn completely on a terminal that does not know its width', () => {
    page.columns = 0
    bar.show({ status: 'running', elapsedMs: 2000, durationMs: undefined })
    expect(lastLine()).toBe('running · 2 s')
  })

  test('writes nothing when there was nothing to show', () => {
    bar.above(() => page.write('a line\n'))
    bar.end()
    expect(page.text).toBe('a line\n')
  })
})
