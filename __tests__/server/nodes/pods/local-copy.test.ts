import { afterEach, expect, test } from '@jest/globals'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LocalCopy } from '../../../../src/server/nodes/pods/local-copy.js'

const folder = mkdtempSync(join(tmpdir(), 'local-copy-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a file is opened once, and closed, whoever asks for it first', async () => {
  const file = join(folder, 'samples.csv')
  const copy = await LocalCopy.start(file)
  const written = copy.add(Buffer.from('rows\n'))
  await Promise.all([copy.create(), copy.create(), written])
  await copy.flush()
  expect(openCount(file)).toBe(1)
  await copy.close()
  expect(openCount(file)).toBe(0)
  expect(readFileSync(file, 'utf8')).toBe('rows\n')
})

/** How many of this process's file descriptors are of the file. */
function openCount(file: string): number {
  return readdirSync('/proc/self/fd').filter((name) => targetOf(name) === file).length
}

function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    return ''
  }
}
