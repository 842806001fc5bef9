import { expect, test } from '@jest/globals'
import { createWriteStream } from 'node:fs'
import { PassThrough } from 'node:stream'
import { watchOutput } from '../../src/cli/terminal-log.js'

const errorOf = (code: string): Error => Object.assign(new Error(`${code}: write`), { code })

test('a reader that has gone is no failure', () => {
  const told: string[] = []
  const stream = new PassThrough()
  const output = watchOutput(stream, (words) => told.push(words))
  stream.emit('error', errorOf('EPIPE'))
  expect([output.isLost(), told]).toEqual([false, []])
})

test('a full disk is told once, with what to do', async () => {
  const told: string[] = []
  const stream = createWriteStream('/dev/full')
  const output = watchOutput(stream, (words) => told.push(words))
  expect(output.isLost()).toBe(false)
  stream.write('the answer')
  await new Promise<void>((done) => stream.on('close', done))
  stream.emit('error', errorOf('EIO'))
  expect(output.isLost()).toBe(true)
  expect(told).toEqual([
    expect.stringMatching(
      /^could not write to standard output, so part of it is missing: the disk is full \(ENOSPC.*\); free up space or redirect the output, then run the command again$/
    )
  ])
})

test('any other error counts as well', () => {
  const told: string[] = []
  const stream = new PassThrough()
  const output = watchOutput(stream, (words) => told.push(words))
  stream.emit('error', errorOf('EIO'))
  expect([output.isLost(), told]).toEqual([true, [expect.stringContaining('missing: EIO: write;')]])
})
