import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { followMessages } from '../../../../src/service/engines/browser/run-script.js'
import { createTell, type Message } from '../../../../src/service/programs/element/messages.js'
import { until } from '../../support.js'
import { removeFolder } from '../../../support/remove-folder.js'

let folder: string
let file: string
let heard: Message[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-messages-'))
  file = join(folder, 'messages')
  heard = []
})
afterEach(() => removeFolder(folder))

const follow = (): { end: () => void } => followMessages(file, (message) => void heard.push(message))

test('messages arrive while the process runs, and those of its last moment too', async () => {
  const following = follow()
  const tell = createTell(file)
  tell({ kind: 'beat' })
  await until(() => heard.length === 1)
  const texts = Array.from({ length: 300 }, (_, index) => `${index} ü\n`.repeat(500))
  for (const text of texts) tell({ kind: 'loss', text })
  rmSync(file)
  tell({ kind: 'end' })
  following.end()
  expect(heard).toEqual([{ kind: 'beat' }, ...texts.map((text) => ({ kind: 'loss', text })), { kind: 'end' }])
})

test('one that was cut off by a kill is none, and one that cannot be read is a problem', () => {
  const following = follow()
  appendFileSync(file, '{"kind":"lo{"kind":"beat"}\n{"kind":"end"}')
  following.end()
  expect(heard).toEqual([{ kind: 'problem', text: expect.stringContaining('cannot be read') }])
})

test('a link or a pipe in its place is not opened', () => {
  symlinkSync('/etc/hostname', file)
  expect(follow).toThrow(`${file} is a symbolic link, not a regular file`)
  rmSync(file)
  execFileSync('mkfifo', [file])
  expect(follow).toThrow(`${file} is a pipe, not a regular file`)
})

const onLinux = process.platform === 'linux' ? test : test.skip

onLinux('a file that cannot be read is one problem, and ends nothing else', async () => {
  // The memory of this process: a regular file, and nothing is at its start.
  file = '/proc/self/mem'
  const following = follow()
  await until(() => heard.length > 0)
  following.end()
  expect(heard).toEqual([{ kind: 'problem', text: expect.stringMatching(/cannot be read: .*EIO/) }])
})
