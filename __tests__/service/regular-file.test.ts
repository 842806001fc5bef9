import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { hasSamples, readLogLines } from '../../src/service/engines/engine.js'
import { lookAt } from '../../src/service/judging/read-results.js'
import { SampleFollower } from '../../src/service/pages/follow-samples.js'
import {
  findOddity,
  NotRegularError,
  openIfThere,
  openRegular,
  readRegularSync,
  truncateRegular
} from '../../src/service/regular-file.js'
import { mergeSamples } from '../../src/service/samples/merge-samples.js'
import { readThreadNames } from '../../src/service/samples/row-cutter.js'
import { redactSamples } from '../../src/service/samples/row-redactor.js'
import { readOn } from '../../src/service/samples/sample-rows.js'
import { JTL_HEADER } from './stand-in.js'
import { createFolders } from './support.js'

const folders = createFolders()
afterAll(() => folders.remove())

const ROWS = `${JTL_HEADER}\n1700000000000,1,home,200,OK,t 1-1,text,true,,1,1,1,1,null,1,0,1\n`
let dir: string
let file: string
/** Of somebody else. */
let foreign: string

beforeEach(() => {
  dir = folders.create()
  file = join(dir, 'results.csv')
  foreign = join(dir, 'foreign.csv')
  writeFileSync(foreign, ROWS)
})

/** What a plan can put where its results should be. */
const ODDITIES: { kind: string; make: (path: string) => void }[] = [
  { kind: 'a pipe', make: (path) => execFileSync('mkfifo', [path]) },
  { kind: 'a symbolic link', make: (path) => symlinkSync(foreign, path) },
  { kind: 'a folder', make: (path) => mkdirSync(path) },
  { kind: 'a symbolic link', make: (path) => symlinkSync('/dev/zero', path) }
]

const never = new AbortController().signal
const merge = (path = file) =>
  mergeSamples({ files: [path], target: join(dir, 'out', 'merged.csv'), sinkOf: () => () => undefined })

describe.each(ODDITIES)('$kind', ({ kind, make }) => {
  beforeEach(() => make(file))

  test.each([
    { reader: 'openRegular', read: () => openRegular(file) },
    { reader: 'openRegular for writing', read: () => openRegular(file, 'r+') },
    { reader: 'openIfThere', read: () => openIfThere(file) },
    { reader: 'truncateRegular', read: () => truncateRegular(file, 0) },
    { reader: 'readRegularSync', read: async () => readRegularSync(file, 100) },
    { reader: 'the log of a tool', read: () => readLogLines(file, () => undefined) },
    { reader: 'whether there are samples', read: () => hasSamples(file) },
    { reader: 'the names of threads', read: () => readThreadNames(file, () => true, never) },
    { reader: 'the redaction', read: () => redactSamples(file, ['secret-1234']) },
    { reader: 'results to send', read: () => lookAt(file) }
  ])('is not opened by $reader', async ({ read }) => {
    await expect(read()).rejects.toThrow(NotRegularError)
    expect(readFileSync(foreign, 'utf8')).toBe(ROWS)
  })

  test('is nothing for those who follow what grows', async () => {
    const seen: Buffer[] = []
    expect(await readOn({ file, position: 0 }, Buffer.alloc(100), (bytes) => seen.push(bytes) > 0)).toBe(
      false
    )
    expect(seen).toEqual([])
    expect(await new SampleFollower([{ file, grid: 'g', region: 'r' }]).look()).toBeUndefined()
  })

  test('is not merged: the node has no samples, and why', async () => {
    const [found] = await merge()
    expect(found).toMatchObject({ hasRows: false, oddity: kind })
    expect(readFileSync(join(dir, 'out', 'merged.csv'), 'utf8')).toBe('')
    expect(await findOddity(file)).toBe(kind)
  })
})

test('a socket is none either', async () => {
  const server = await new Promise<Server>((resolve) => {
    const created = createServer().listen(file, () => resolve(created))
  })
  await expect(openRegular(file)).rejects.toThrow('a pipe or a socket, not a regular file')
  expect(await findOddity(file)).toBe('a socket')
  await new Promise((resolve) => server.close(resolve))
})

describe('a regular file', () => {
  test('is opened, and its first bytes are read', async () => {
    const handle = await openRegular(foreign)
    expect((await handle.stat()).size).toBe(ROWS.length)
    await handle.close()
    expect(readRegularSync(foreign, 9)).toBe('timeStamp')
    expect(await findOddity(foreign)).toBeUndefined()
  })

  test('that is not there is none, in the words of the system', async () => {
    await expect(openRegular(file)).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await openIfThere(file)).toBeUndefined()
    expect(await findOddity(file)).toBeUndefined()
    expect(await hasSamples(file)).toBe(false)
  })

  test('with a hole of a terabyte is read up to its last row, and the rest is reported', async () => {
    writeFileSync(file, ROWS)
    truncateSync(file, 2 ** 40)
    const [found] = await merge()
    expect(found).toMatchObject({ hasRows: true, isBroken: true })
    expect(readFileSync(join(dir, 'out', 'merged.csv'), 'utf8')).toBe(ROWS)
  })

  test('with a hole is followed, redacted and looked through for threads no further than that', async () => {
    writeFileSync(file, ROWS)
    truncateSync(file, 2 ** 40)
    const follower = new SampleFollower([{ file, grid: 'g', region: 'r' }])
    expect((await follower.look())?.figures({})?.samples).toBe(1)
    expect((await follower.look())?.figures({})?.samples).toBe(1)
    expect(await redactSamples(file, ['secret-1234'])).toBe(ROWS.length)
    const names: string[] = []
    await readThreadNames(file, (name) => names.push(name) > 0, never)
    expect(names).toEqual(['t 1-1'])
  })

  test('of several nodes is merged without the one that is a link', async () => {
    const other = join(dir, 'other.csv')
    writeFileSync(other, ROWS)
    symlinkSync(foreign, file)
    const found = await mergeSamples({
      files: [file, other],
      target: join(dir, 'out', 'merged.csv'),
      sinkOf: () => () => undefined
    })
    expect(found).toMatchObject([{ oddity: 'a symbolic link' }, { hasRows: true }])
    expect(readFileSync(join(dir, 'out', 'merged.csv'), 'utf8')).toBe(ROWS)
    expect([existsSync(foreign), lstatSync(file).isSymbolicLink()]).toEqual([true, true])
  })
})
