import { afterAll, describe, expect, test } from '@jest/globals'
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mergeSamples, type NodeSamples } from '../../../src/service/samples/merge-samples.js'
import { ByteScanner } from '../../../src/analysis/results/scan/byte-scanner.js'
import { mergeScans } from '../../../src/analysis/results/figures/merge.js'
import { makeRandom } from '../../support/data/seeded-random.js'
import { writeStalled } from '../../support/stalls/stalled-run.js'
import { createFolders } from '../support.js'

const folders = createFolders()
afterAll(() => folders.remove())

interface Merged {
  readonly merged: string
  readonly seen: string[]
  readonly found: NodeSamples[]
}

async function merge(...contents: (string | null)[]): Promise<Merged> {
  const dir = folders.create()
  const files = contents.map((content, index) => {
    const file = join(dir, `${index}.csv`)
    if (content !== null) writeFileSync(file, content)
    return file
  })
  const seen = contents.map(() => '')
  const target = join(dir, 'results', 'merged.csv')
  const found = await mergeSamples({
    files,
    target,
    sinkOf: (index) => (rows) => {
      seen[index] = (seen[index] ?? '') + Buffer.from(rows).toString()
    }
  })
  return { merged: readFileSync(target, 'utf8'), seen, found }
}

describe('merging the samples of nodes', () => {
  test.each([
    { name: 'one node', files: ['h\n1\n2\n'], merged: 'h\n1\n2\n' },
    { name: 'two nodes, one header', files: ['h\n1\n', 'h\n2\n'], merged: 'h\n1\n2\n' },
    { name: 'a cut last row', files: ['h\n1\n2,cu', 'h\n3\n'], merged: 'h\n1\n3\n' },
    { name: 'a line feed in quotes', files: ['h\n1,"a\nb"\n'], merged: 'h\n1,"a\nb"\n' },
    { name: 'a row cut within quotes', files: ['h\n1\n2,"a\nb', 'h\n3\n'], merged: 'h\n1\n3\n' },
    { name: 'doubled quotes', files: ['h\n1,"a ""b""\nc"\n2\n'], merged: 'h\n1,"a ""b""\nc"\n2\n' },
    {
      name: 'a quote within a field',
      files: ['h\n1,5" wide\n2\n', 'h\n3\n'],
      merged: 'h\n1,5" wide\n2\n3\n'
    },
    { name: 'text after a quoted field', files: ['h\n"a"b"c\n2\n'], merged: 'h\n"a"b"c\n2\n' },
    { name: 'a node that never wrote', files: [null, 'h\n1\n'], merged: 'h\n1\n' },
    { name: 'a node that wrote nothing', files: ['', 'h\n1\n'], merged: 'h\n1\n' },
    { name: 'a node with a header only', files: ['h\n', 'h\n1\n'], merged: 'h\n1\n' },
    { name: 'nobody', files: [null], merged: '' }
  ])('$name', async ({ files, merged }) => {
    expect((await merge(...files)).merged).toBe(merged)
  })

  test('every node is read with its own header', async () => {
    expect((await merge('h\n1\n', 'h\n2\n3')).seen).toEqual(['h\n1\n', 'h\n2\n'])
  })

  test('rows longer than what is read at once', async () => {
    const row = `1,"${'x\n'.repeat(900_000)}"\n`
    expect((await merge(`h\n${row}${row}cut`)).merged).toBe(`h\n${row}${row}`)
  })
})

describe('what remains', () => {
  test.each([
    { name: 'nothing', file: 'h\n1\n', found: { hasRows: true, restBytes: 0, isBroken: false } },
    { name: 'a cut row', file: 'h\n1\n2,cu', found: { hasRows: true, restBytes: 4, isBroken: false } },
    { name: 'a header only', file: 'h\n', found: { hasRows: false, restBytes: 0, isBroken: false } },
    { name: 'half a header', file: 'time', found: { hasRows: false, restBytes: 4, isBroken: false } },
    { name: 'no file', file: null, found: { hasRows: false, restBytes: 0, isBroken: false } }
  ])('$name', async ({ file, found }) => {
    expect((await merge(file)).found).toEqual([{ ...found, hasOtherColumns: false }])
  })

  test('a quote without an end: what follows is left out, and counted', async () => {
    const rest = `2,"never closed\n${'3,b\n'.repeat(5_000_000)}`
    const { merged, found } = await merge(`h\n1\n${rest}`)
    expect(merged).toBe('h\n1\n')
    expect(found).toEqual([
      { hasRows: true, restBytes: Buffer.byteLength(rest), isBroken: true, hasOtherColumns: false }
    ])
  })

  test('rows with other columns are not joined to those of the first node', async () => {
    const { merged, found } = await merge('a,b\n1,2\n', 'b,a\n3,4\n', 'a,b\n5,6\n')
    expect(merged).toBe('a,b\n1,2\n5,6\n')
    expect(found.map(({ hasOtherColumns }) => hasOtherColumns)).toEqual([false, true, false])
  })
})

describe('a merge', () => {
  const prepare = (): { dir: string; files: string[]; target: string } => {
    const dir = folders.create()
    const files = ['1.csv', '2.csv'].map((name) => join(dir, name))
    for (const file of files) writeFileSync(file, 'h\n1\n')
    return { dir, files, target: join(dir, 'merged.csv') }
  }
  const ignore = () => () => undefined

  const testOnLinux = process.platform === 'linux' ? test : test.skip
  testOnLinux('without space leaves the nodes’ files, and works once there is space', async () => {
    const { dir, files, target } = prepare()
    symlinkSync('/dev/full', `${target}.part`)
    await expect(mergeSamples({ files, target, sinkOf: ignore })).rejects.toThrow('ENOSPC')
    expect(readdirSync(dir).sort()).toEqual(['1.csv', '2.csv'])
    await mergeSamples({ files, target, sinkOf: ignore })
    expect(readFileSync(target, 'utf8')).toBe('h\n1\n1\n')
  })

  test('that has no time leaves them too', async () => {
    const { dir, files, target } = prepare()
    const signal = AbortSignal.abort(new Error('no time'))
    await expect(mergeSamples({ files, target, sinkOf: ignore, signal })).rejects.toThrow('no time')
    expect(readdirSync(dir).sort()).toEqual(['1.csv', '2.csv'])
  })

  test('whose nodes’ files are gone already reads the result, and leaves it', async () => {
    const { dir, target } = prepare()
    writeFileSync(target, 'h\n1\n2\n')
    const seen: string[] = []
    const sinkOf = () => (rows: Uint8Array) => void seen.push(Buffer.from(rows).toString())
    await mergeSamples({ files: [join(dir, 'gone')], target, sinkOf })
    expect([readFileSync(target, 'utf8'), seen]).toEqual(['h\n1\n2\n', ['h\n1\n2\n']])
  })

  test('moves the file of a single node, which takes no space', async () => {
    const { files, target } = prepare()
    await mergeSamples({ files: files.slice(0, 1), target, sinkOf: ignore })
    expect([existsSync(files[0]!), readFileSync(target, 'utf8')]).toEqual([false, 'h\n1\n'])
  })
})

describe('active threads of several nodes', () => {
  const HEADER = 'timeStamp,elapsed,label,success,allThreads,Latency\n'
  const row = (second: number, threads: number | string, label = 'home'): string =>
    `${second * 1000},10,${label},true,${threads},9\n`
  const threadsOf = (csv: string): string[] =>
    [...csv.matchAll(/,true,([^,\n]*),9\n/g)].map(([, threads]) => threads!)

  test('are the sum over the nodes at that time', async () => {
    const first = HEADER + [row(1, 5), row(2, 5), row(3, 5), row(6, 1)].join('')
    const second = HEADER + [row(2, 3), row(4, 4)].join('')
    // 0 before a node's first sample and after its last one; in between the last number that is known.
    expect(threadsOf((await merge(first, second)).merged)).toEqual(['5', '8', '8', '1', '8', '9'])
  })

  test('count at the end of a sample, where they were taken', async () => {
    const slow = `${HEADER}1000,5000,home,true,2,9\n`
    expect(threadsOf((await merge(slow, HEADER + row(6, 3))).merged)).toEqual(['5', '5'])
    expect(threadsOf((await merge(slow, HEADER + row(1, 3))).merged)).toEqual(['2', '3'])
  })

  test('of a single node stay as they are, byte for byte', async () => {
    const csv = `${HEADER}${row(1, '007')}\r\n${row(2, '')}`
    expect((await merge(csv)).merged).toBe(csv)
    expect((await merge(csv, null)).merged).toBe(csv)
  })

  test('are found by the header’s name, past quoted fields, whatever the line ends', async () => {
    const header = '"allThreads",label,elapsed,timeStamp\r\n'
    const rows = (threads: number): string =>
      `${threads},"a, ""b"" 9\n,9,",10,1000\r\n${threads},5" wide,10,1000\r\n`
    const { merged } = await merge(header + rows(9), header + rows(1))
    expect(merged).toBe(header + rows(10) + rows(10))
  })

  test.each([
    { name: 'no such column', header: 'timeStamp,elapsed,label,success,Latency\n', row: '1,2,a,true,3\n' },
    { name: 'no time', header: 'elapsed,label,success,allThreads\n', row: '2,a,true,3\n' },
    { name: 'an empty number', header: HEADER, row: '1000,2,a,true,,9\n' },
    { name: 'no number', header: HEADER, row: '1000,2,a,true,x,9\n' },
    { name: 'a row of another width', header: HEADER, row: '1000,2,a,true,3\n' }
  ])('are unknown with $name: nothing is changed', async ({ header, row }) => {
    expect((await merge(header + row, header + row)).merged).toBe(header + row + row)
  })

  test('are the sum of the nodes’ own in the figures, for random files', async () => {
    const random = makeRandom(10)
    const below = (limit: number): number => Math.floor(random() * limit)
    const labels = ['home', '"a,b"', '"say ""hi"""', '"two\nlines"', '5" wide']
    for (let round = 0; round < 30; round++) {
      const peaks = Array.from({ length: 2 + below(3) }, () => 1 + below(120))
      // Each node has all its threads in every second, so that the sum is known.
      const files = peaks.map((peak) => {
        const rows = Array.from({ length: 40 }, (_, i) =>
          row(1000 + Math.floor(i / 4), peak, labels[below(5)])
        )
        return HEADER + rows.join('')
      })
      const scanner = new ByteScanner({ grid: 'g', region: 'r' })
      scanner.push(Buffer.from((await merge(...files)).merged))
      const { series, sources } = mergeScans([scanner.end()])
      expect(sources[0]).toMatchObject({ rows: 40 * peaks.length, problems: [] })
      const sum = peaks.reduce((total, peak) => total + peak)
      expect([...new Set(series!.activeThreads)]).toEqual([sum])
    }
  })
})

describe('threads of several nodes that have the same names', () => {
  const HEADER = 'timeStamp,elapsed,threadName,label\n'
  const named = (name: string): string => `1000,10,${name},home\n`

  test.each([
    { name: 'a plain name', thread: 'Users 1-1', first: 'node1-Users 1-1', second: 'node2-Users 1-1' },
    { name: 'a name in quotes', thread: '"a, b 1-1"', first: '"node1-a, b 1-1"', second: '"node2-a, b 1-1"' },
    { name: 'quotes in a name', thread: '"a ""b"""', first: '"node1-a ""b"""', second: '"node2-a ""b"""' },
    { name: 'a quote within it', thread: '5" wide', first: 'node1-5" wide', second: 'node2-5" wide' },
    { name: 'two lines', thread: '"a\nb"', first: '"node1-a\nb"', second: '"node2-a\nb"' },
    { name: 'other letters', thread: 'Käufer 用户', first: 'node1-Käufer 用户', second: 'node2-Käufer 用户' },
    { name: 'no name', thread: '', first: '', second: '' },
    { name: 'an empty name in quotes', thread: '""', first: '""', second: '""' }
  ])('$name', async ({ thread, first, second }) => {
    const { merged, seen } = await merge(HEADER + named(thread), HEADER + named(thread))
    expect(merged).toBe(HEADER + named(first) + named(second))
    expect(seen).toEqual([HEADER + named(thread), HEADER + named(thread)])
  })

  test('are told apart by the number of the node in its grid, whichever have rows', async () => {
    const { merged } = await merge(null, HEADER + named('t'), 'other\n1\n', HEADER, HEADER + named('t'))
    expect(merged).toBe(HEADER + named('node2-t') + named('node5-t'))
  })

  test.each([
    { name: 'of a single node', files: [HEADER + named('t 1-1')] },
    { name: 'of the only node that wrote', files: [HEADER + named('t 1-1'), null, ''] }
  ])('$name stay as they are', async ({ files }) => {
    expect((await merge(...files)).merged).toBe(files[0])
  })

  test('wherever the column is and whatever the line ends; rows that cannot be read stay', async () => {
    const header = 'allThreads;label;elapsed;timeStamp;threadName\r\n'
    const rows = (threads: number, thread: string): string =>
      `${threads};"a;b";10;1000;${thread}\r\n${threads};a;10;1000;"${thread}"\r\n1;a;t\r\n`
    const { merged } = await merge(header + rows(2, 't'), header + rows(3, 't'))
    expect(merged).toBe(header + rows(5, 'node1-t') + rows(5, 'node2-t'))
  })

  test('are rewritten in every block of a large file', async () => {
    const rows = (name: string): string => named(name).repeat(100_000)
    const { merged } = await merge(HEADER + rows('t'), HEADER + rows('t'))
    expect(merged === HEADER + rows('node1-t') + rows('node2-t')).toBe(true)
  })

  test('are as many users: a stall in which one of each node waits is found', async () => {
    const node = writeStalled({ users: 1 })
    const { merged } = await merge(node, node, node)
    const scanner = new ByteScanner({ grid: 'g', region: 'r' })
    scanner.push(Buffer.from(merged))
    const overTime = mergeScans([scanner.end()]).figures({})?.overTime()
    expect(overTime).toMatchObject({ threads: 3, stalls: [{ waiting: 3 }] })
  })
})

describe('nodes whose clocks are off', () => {
  const HEAD = 'timeStamp,elapsed,label,allThreads\n'
  async function mergeAt(offsetsMs: number[], ...contents: string[]): Promise<Merged & { left: string[] }> {
    const dir = folders.create()
    const files = contents.map((content, index) => {
      writeFileSync(join(dir, `${index}.csv`), content)
      return join(dir, `${index}.csv`)
    })
    const seen = contents.map(() => '')
    const target = join(dir, 'merged.csv')
    const found = await mergeSamples({
      ...{ files, target, offsetsMs },
      sinkOf: (index) => (rows) => {
        seen[index] = (seen[index] ?? '') + Buffer.from(rows).toString()
      }
    })
    const left = files.filter((file) => existsSync(file)).map((file) => readFileSync(file, 'utf8'))
    return { merged: readFileSync(target, 'utf8'), seen, found, left }
  }

  test('the result has the times of this machine, and the bytes that came stay as they are', async () => {
    const content = `${HEAD}5000,10,a,1\n5100,10,"a,b",1\n51`
    const { merged, seen, left, found } = await mergeAt([-2000], content)
    expect(merged).toBe(`${HEAD}7000,10,a,1\n7100,10,"a,b",1\n`)
    expect(seen).toEqual([merged])
    expect(left).toEqual([content])
    expect(found[0]).toMatchObject({ hasRows: true, restBytes: 2 })
  })

  test('the threads of other nodes are those of the same moment', async () => {
    const first = `${HEAD}1000,10,a,3\n3000,10,a,3\n`
    const { merged } = await mergeAt([0, 60_000], first, `${HEAD}61000,10,b,4\n63000,10,b,4\n`)
    expect(merged).toBe(`${HEAD}1000,10,a,7\n3000,10,a,7\n1000,10,b,7\n3000,10,b,7\n`)
  })
})
