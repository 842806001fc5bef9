import { afterAll, describe, expect, test } from '@jest/globals'
import { appendFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type LogEntry, readLogEntries } from '../../../../src/service/engines/jmeter/losses.js'
import { createFolders } from '../../support.js'

const folders = createFolders()
afterAll(() => folders.remove())

function writeLog(text: string): string {
  const file = join(folders.create(), 'jmeter.log')
  writeFileSync(file, text)
  return file
}

async function entriesOf(text: string): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  await readLogEntries(writeLog(text), (entry) => entries.push(entry))
  return entries
}

describe('the entries of a log', () => {
  test('have a level, words, and the ends of their exception', async () => {
    const text = [
      '2026-11-15 07:40:04,623 ERROR o.a.j.t.JMeterThread: Test failed!',
      'java.lang.RuntimeException: outer',
      '\tat org.a.B.c(B.java:1) ~[x.jar:1]',
      'Caused by: java.lang.IllegalStateException: INFO in the middle',
      '\tat org.a.B.d(B.java:2)',
      'Caused by: java.io.IOException: inner',
      '\t... 3 more',
      '2026-11-15 07:40:04,625 INFO o.a.j.t.JMeterThread: Thread finished: bad 2-1',
      ''
    ].join('\n')
    expect(await entriesOf(text)).toEqual([
      {
        level: 'ERROR',
        text: 'o.a.j.t.JMeterThread: Test failed!',
        exception: 'java.lang.RuntimeException: outer',
        rootCause: 'java.io.IOException: inner'
      },
      { level: 'INFO', text: 'o.a.j.t.JMeterThread: Thread finished: bad 2-1', exception: '', rootCause: '' }
    ])
  })

  test.each([
    '[main] WARN  o.a.j.X: words',
    'WARN o.a.j.X: words',
    '07:40:04.6 [bad 2-1] WARN - o.a.j.X: words'
  ])('of another layout: %s', async (line) => {
    expect(await entriesOf(line)).toMatchObject([{ level: 'WARN', text: 'o.a.j.X: words' }])
  })

  test('begin with a time where the first one does: words of several lines may look like entries', async () => {
    const text = [
      '2026-11-15 07:40:04,623 INFO o.a.j.u.JMeterUtils: Setting Locale to en_EN',
      '2026-11-15 07:40:04,624 WARN o.a.j.e.J.post: answer:',
      'ERROR o.a.j.t.JMeterThread: Test failed!',
      '2026-11-15 07:40:04,625 INFO o.a.j.t.JMeterThread: Thread finished: a 1-1'
    ].join('\n')
    expect((await entriesOf(text)).map(({ level }) => level)).toEqual(['INFO', 'WARN', 'INFO'])
  })

  test('of a missing file are none', async () => {
    await readLogEntries(join(folders.create(), 'none'), () => expect('an entry').toBe('none'))
  })
})

/** The maximum additional memory for reading, in MB. */
async function peakMb(read: () => Promise<unknown>): Promise<number> {
  const memoryMb = (): number => process.memoryUsage().rss / 1024 ** 2
  const before = memoryMb()
  let peak = before
  const timer = setInterval(() => (peak = Math.max(peak, memoryMb())), 5)
  await read()
  clearInterval(timer)
  return Math.max(peak, memoryMb()) - before
}

describe('a log of 400 MB', () => {
  const first = '2026-01-01 00:00:00,000 ERROR o.a.j.First: at the start\n'
  const last = '2026-01-01 00:00:00,000 ERROR o.a.j.Last: at the end\n'
  const file = writeLog(first)
  // Zeros without a line end, which cost no space on the disk.
  truncateSync(file, 400 * 1024 ** 2)
  appendFileSync(file, `\n${last}`)

  test('is read in little memory, from its start to its end', async () => {
    const texts: string[] = []
    expect(await peakMb(() => readLogEntries(file, ({ text }) => texts.push(text)))).toBeLessThan(200)
    expect(texts).toEqual(['o.a.j.First: at the start', 'o.a.j.Last: at the end'])
  })

  test('is read no further once there is no time for it', async () => {
    const controller = new AbortController()
    const texts: string[] = []
    const reading = readLogEntries(file, ({ text }) => texts.push(text), controller.signal)
    setImmediate(() => controller.abort())
    await reading
    expect(texts).not.toContain('o.a.j.Last: at the end')
  })
})
