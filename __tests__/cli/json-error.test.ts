import { describe, expect, test } from '@jest/globals'
import { CancelledError, DeadlineError, SettingsError } from '../../src/gate/errors.js'
import { UsageError } from '../../src/cli/arguments.js'
import { asksForJson, describeError } from '../../src/cli/terminal-log.js'

const read = (thrown: unknown, secrets: readonly string[] = []): unknown =>
  JSON.parse(describeError(thrown, secrets))

describe('describeError', () => {
  test.each([
    ['usage', new UsageError('no such flag'), ['no such flag']],
    ['input', new SettingsError(['threads: a', 'files: b']), ['threads: a', 'files: b']],
    ['timed-out', new DeadlineError('too late'), ['too late']],
    ['cancelled', new CancelledError('SIGINT'), ['cancelled by SIGINT']],
    ['error', new Error('refused'), ['refused']],
    ['error', 'just text', ['just text']]
  ])('%s', (kind, thrown, problems) => {
    expect(read(thrown)).toMatchObject({ error: { kind, problems } })
  })

  test('has the message that people read', () => {
    const thrown = new SettingsError(['threads: a'])
    expect(read(thrown)).toMatchObject({ error: { message: thrown.message } })
  })

  test('has no secret, not even one that JSON escapes, and moves no cursor', () => {
    const secret = 'a"b\\c'
    const text = describeError(new SettingsError([`\u001b[31m${secret}`, `again ${secret}`]), [secret])
    expect(JSON.parse(text)).toMatchObject({ error: { problems: [' [31m***', 'again ***'] } })
    expect(text).not.toContain(JSON.stringify(secret).slice(1, -1))
    expect(text).not.toContain('\u001b')
  })
})

test.each([
  [['run', '--json'], true],
  [['--json'], true],
  [['frob', '--json', '--nothing'], true],
  [['run', '--', '--json'], false],
  [['run', '--name=--json'], false],
  [[], false]
])('%j asks for JSON: %s', (args, expected) => {
  expect(asksForJson(args)).toBe(expected)
})
