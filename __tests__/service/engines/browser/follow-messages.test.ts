import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
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
