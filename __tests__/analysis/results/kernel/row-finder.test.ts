import { expect, test } from '@jest/globals'
import { RowFinder, type FoundRow } from '../../../../src/analysis/results/kernel/row-finder.js'
import { makeRandom } from '../../../support/data/seeded-random.js'

const SKIPPED = ['http_req_waiting,', 'http_reqs,', 'data_sent,', 'iteration_duration,']
const isSkipped = (columns: readonly string[]): boolean => SKIPPED.includes(`${columns[0] ?? ''},`)

interface Found {
  readonly number: number
  readonly columns: string[]
}

function find(bytes: Uint8Array, { step = bytes.length, hasKernel = true }): { rows: Found[]; rest: number } {
  const rows: Found[] = []
  const take = ({ bytes: all, places, first, end, ...row }: FoundRow): void => {
    const columns = Array.from({ length: row.columns }, (_, i) =>
      all.toString('latin1', (places[first + i - 1] ?? 0) + 1, Math.min(end, places[first + i] ?? 0))
    )
    if (!isSkipped(columns)) rows.push({ number: row.number, columns })
  }
  const skipped = SKIPPED.map((name) => Buffer.from(name))
  const finder = new RowFinder({ take, skipped, ...(!hasKernel && { kernel: null }) })
  for (let at = 0; at < bytes.length; at += step) finder.push(bytes.subarray(at, at + step))
  return { rows, rest: finder.restBytes }
}

const PIECES = [
  ...['http_req_waiting', 'http_req_wait', 'http_reqs', 'data_sent', 'checks', 'iteration_duration', ''],
  ...[
    'plain',
    '"quoted"',
    '"a, b"',
    '"two\nlines"',
    '"a ""word"""',
    'x"y',
    '"open',
    '"closed"late',
    'é…',
    '\0'
  ],
  'long '.repeat(40)
]

test.each(Array.from({ length: 60 }, (_, seed) => seed))(
  'rows and columns are the same with and without the kernel, however the bytes are split: seed %s',
  (seed) => {
    const random = makeRandom(seed)
    // In most files nothing is odd.
    const pieces = seed % 3 === 0 ? PIECES : PIECES.filter((piece) => !/^x|^"open|late$|\0/.test(piece))
    const pick = (): string => pieces[Math.floor(random() * pieces.length)] ?? ''
    const row = (): string => Array.from({ length: 1 + Math.floor(random() * 8) }, pick).join(',')
    const lineBreak = seed % 2 === 0 ? '\n' : '\r\n'
    const bytes = Buffer.from(Array.from({ length: 400 }, row).join(lineBreak))
    const plain = find(bytes, { hasKernel: false })
    expect(plain.rows.length).toBeGreaterThan(seed % 3 === 0 ? 0 : 100)
    for (const step of [bytes.length, 1 + Math.floor(random() * 200), 4096])
      expect(find(bytes, { step })).toEqual(plain)
  }
)

test('a row with more columns than the kernel has room for, and more rows than it lists at once', () => {
  const bytes = Buffer.from(`${'a,'.repeat(100_000)}b\n${'checks,1\ndata_sent,2\n'.repeat(40_000)}`)
  const { rows, rest } = find(bytes, { step: 1 << 20 })
  expect(rest).toBe(0)
  expect(rows).toHaveLength(40_001)
  expect(rows[0]?.columns).toHaveLength(100_001)
  expect(rows.at(-1)).toEqual({ number: 80_000, columns: ['checks', '1'] })
})
