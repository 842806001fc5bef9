import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UploadError } from '../../../src/client/errors.js'
import type { Upload } from '../../../src/client/http/failures.js'
import { multipartOf } from '../../../src/client/http/multipart.js'
import { readMultipart } from '../../support/raw-multipart.js'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multipart-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function makeFile(name: string, content: string | Buffer = 'x'): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

async function bytesOf(upload: Upload): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of upload.open()) chunks.push(chunk)
  return Buffer.concat(chunks)
}

test('fields come first and in order, then the files in order, each with its bytes', async () => {
  const data = Buffer.from([0, 13, 10, 45, 45, 255, 0])
  const files = [await makeFile('plan.jmx', '<jmeterTestPlan/>'), await makeFile('data.bin', data)]
  const upload = await multipartOf(
    'asking',
    [
      { name: 'run[name]', value: 'Zwölf "Boxkämpfer"\r\n--x' },
      { name: 'run[notes]', value: '' }
    ],
    files.map((path) => ({ name: 'run_files[]', path }))
  )
  const parts = readMultipart(upload.contentType, await bytesOf(upload))
  expect(parts.map(({ name, fileName, body }) => [name, fileName, body.toString('latin1')])).toEqual([
    ['run[name]', undefined, Buffer.from('Zwölf "Boxkämpfer"\r\n--x').toString('latin1')],
    ['run[notes]', undefined, ''],
    ['run_files[]', 'plan.jmx', '<jmeterTestPlan/>'],
    ['run_files[]', 'data.bin', data.toString('latin1')]
  ])
})

describe('the length that is promised is the length that is sent', () => {
  test.each([
    ['no files', []],
    ['an empty file', ['']],
    ['multibyte text', ['äöü🚀', 'x']],
    ['more than one read', ['x'.repeat(700_001)]]
  ])('%s', async (_, contents) => {
    const files = await Promise.all(contents.map((content, index) => makeFile(`däta${index}.csv`, content)))
    const upload = await multipartOf(
      'asking',
      [{ name: 'run[name]', value: 'ünï' }],
      files.map((path) => ({ name: 'run_files[]', path }))
    )
    expect((await bytesOf(upload)).length).toBe(upload.length)
  })
})

describe('a hostile file name stays within its quotes and its line', () => {
  test.each([
    ['a"\r\nX: 1.jmx', 'a%22%0D%0AX: 1.jmx'],
    ['a"; name="run[tool].jmx', 'a%22; name=%22run[tool].jmx'],
    ['a\n\n--boundary.jmx', 'a%0A%0A--boundary.jmx'],
    ["l'été 1.jmx", "l'été 1.jmx"]
  ])('%j', async (name, sent) => {
    const upload = await multipartOf('asking', [], [{ name: 'run_files[]', path: await makeFile(name) }])
    const [part, ...more] = readMultipart(upload.contentType, await bytesOf(upload))
    expect(more).toEqual([])
    expect(part?.headers).toEqual([
      `Content-Disposition: form-data; name="run_files[]"; filename="${sent}"`,
      'Content-Type: application/octet-stream'
    ])
  })

  test('only the base name is sent', async () => {
    const upload = await multipartOf('asking', [], [{ name: 'f', path: await makeFile('plan.jmx') }])
    expect((await bytesOf(upload)).toString()).not.toContain(folder)
  })
})

describe('a file that is not what it was', () => {
  test.each<[string, (path: string) => Promise<void>]>([
    ['grows', (path) => appendFile(path, 'more')],
    ['shrinks', (path) => truncate(path, 3)],
    ['vanishes', (path) => rm(path)]
  ])('%s: an error that names it', async (_, change) => {
    const path = await makeFile('plan.jmx', 'x'.repeat(100))
    const upload = await multipartOf('creating the run', [], [{ name: 'run_files[]', path }])
    await change(path)
    const sent = bytesOf(upload)
    await expect(sent).rejects.toThrow(UploadError)
    await expect(sent).rejects.toThrow(/creating the run: plan\.jmx/)
  })

  test('is missing from the start: an error that names it', async () => {
    const files = [{ name: 'run_files[]', path: join(folder, 'gone.jmx') }]
    await expect(multipartOf('creating the run', [], files)).rejects.toThrow(UploadError)
    await expect(multipartOf('creating the run', [], files)).rejects.toThrow(/gone\.jmx/)
  })

  test('never sends more than was promised', async () => {
    const path = await makeFile('plan.jmx', 'x'.repeat(100))
    const upload = await multipartOf('asking', [], [{ name: 'run_files[]', path }])
    await appendFile(path, 'y'.repeat(1_000_000))
    let bytes = 0
    const send = async (): Promise<void> => {
      for await (const chunk of upload.open()) bytes += chunk.length
    }
    await expect(send()).rejects.toThrow(UploadError)
    expect(bytes).toBeLessThanOrEqual(upload.length)
  })
})

test('a body can be opened again, and is the same', async () => {
  const path = await makeFile('plan.jmx', 'x'.repeat(300_000))
  const upload = await multipartOf('asking', [{ name: 'a', value: 'b' }], [{ name: 'f', path }])
  expect((await bytesOf(upload)).equals(await bytesOf(upload))).toBe(true)
})

test('no two bodies share a boundary', async () => {
  const [first, second] = await Promise.all([multipartOf('a', [], []), multipartOf('a', [], [])])
  expect(first.contentType).not.toBe(second.contentType)
})
