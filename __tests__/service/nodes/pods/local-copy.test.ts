import { afterEach, expect, test } from '@jest/globals'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NodeError } from '../../../../src/service/nodes/load-node.js'
import { LocalCopy } from '../../../../src/service/nodes/pods/work/follow-file.js'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'copy-'))
  folders.push(folder)
  return folder
}

test('a full disk is told with the file and what to do', async () => {
  const folder = makeFolder()
  const file = join(folder, 'east-1.csv')
  symlinkSync('/dev/full', file)
  const copy = await LocalCopy.continue(file)
  copy.add(Buffer.from('row\n')).catch(() => undefined)
  const failure = copy.finish(false)
  await expect(failure).rejects.toBeInstanceOf(NodeError)
  await expect(failure).rejects.toThrow(
    new RegExp(
      `^What it measured cannot be written to ${file} on this machine: .*ENOSPC: no space left on device, write.*\\. ` +
        `Free space in ${folder}, and run again\\.$`
    )
  )
  await expect(copy.add(Buffer.from('row\n'))).rejects.toThrow('Free space in')
  await copy.close()
})

test.each(['add', 'finish'] as const)('so is a file that cannot be opened: %s', async (act) => {
  const folder = makeFolder()
  writeFileSync(join(folder, 'blocked'), '')
  const copy = await LocalCopy.continue(join(folder, 'blocked', 'x.csv'))
  const done = (async () => {
    if (act === 'add') await copy.add(Buffer.from('x'))
    await copy.finish(act === 'finish')
  })()
  await expect(done).rejects.toThrow(
    new RegExp(
      `^What it measured cannot be written to ${folder}/blocked/x\\.csv on this machine: .*Check that`
    )
  )
})

test('a file is opened once, and closed, whoever asks for it first', async () => {
  const file = join(makeFolder(), 'samples.csv')
  const copy = await LocalCopy.start(file)
  const written = copy.add(Buffer.from('rows\n'))
  await Promise.all([copy.finish(true), copy.finish(true), written])
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
