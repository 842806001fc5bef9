import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { translateFile } from '../../../src/gate/results/translate-file.js'

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-translate-'))
  path = join(folder, 'a.csv.gz')
  const rows = Array.from({ length: 10_000 }, (_, i) => `${1_700_000_000_000 + i},5,home,true\n`)
  writeFileSync(path, gzipSync(`timeStamp,elapsed,label,success\n${rows.join('')}`))
})
afterEach(() => rmSync(folder, { recursive: true }))

const translate = (target: string, mostUnpackedBytes?: number) =>
  translateFile(path, {
    ...{ target, isCopied: true, signal: new AbortController().signal },
    ...(mostUnpackedBytes !== undefined && { mostUnpackedBytes })
  })

test('a gzip that unpacks to more than the limit is refused', async () => {
  await expect(translate(join(folder, 'out.csv'), 100_000)).rejects.toThrow(
    /a\.csv\.gz unpacks to more than .* GiB, which is the most that is read/
  )
  expect(await translate(join(folder, 'out.csv'), 1_000_000)).toMatchObject({ refusal: undefined })
})

test('a full disk is named, with the file that did not fit', async () => {
  await expect(translate('/dev/full')).rejects.toThrow(
    /^There is not enough space to write the samples of .*a\.csv\.gz to \/dev\/full: .*ENOSPC.*Free some/
  )
})
