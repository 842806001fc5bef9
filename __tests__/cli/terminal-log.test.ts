import { expect, test } from '@jest/globals'
import { ProgressBar } from '../../src/cli/progress-bar.js'
import { createTerminalLog } from '../../src/cli/terminal-log.js'
import { Page } from './command-ports.js'

test('each level has its mark, and debugging is silent', () => {
  const page = new Page()
  const { log } = createTerminalLog(page, undefined)
  log.info('one')
  log.notice('two')
  log.warning('three')
  log.error('four')
  log.debug('five')
  expect(page.lines).toEqual(['one', 'note: two', 'warning: three', 'error: four'])
})

test('secrets are redacted from the moment they are masked', () => {
  const page = new Page()
  const { log, mask, strike } = createTerminalLog(page, undefined)
  mask('')
  mask('s3cret')
  log.warning('refused: s3cret (s3cret)')
  expect(page.text).toBe('warning: refused: *** (***)\n')
  expect(strike('"s3cret"')).toBe('"***"')
})

test('untrusted text cannot control the terminal, nor look like a line of the log', () => {
  const page = new Page()
  createTerminalLog(page, undefined).log.info('bad\u001b[2J\rerror: a\nerror: b')
  expect(page.text).toBe('bad [2J error: a\n  error: b\n')
})

test('lines go above the bar, which is drawn again below them', () => {
  const page = new Page()
  const bar = new ProgressBar(page, () => 0)
  const { log } = createTerminalLog(page, bar)
  bar.show({ status: 'running', elapsedMs: 5000, durationMs: undefined })
  page.text = ''
  log.info('a line')
  bar.end()
  expect(page.text).toBe('\r\u001b[2Ka line\n\r\u001b[2Krunning · 5 s\r\u001b[2K')
})
