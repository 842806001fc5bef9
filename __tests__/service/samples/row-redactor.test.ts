import { describe, expect, test } from '@jest/globals'
import { ByteScanner } from '../../../src/analysis/results/scan/byte-scanner.js'
import { secretForms } from '../../../src/service/engines/redact-log.js'
import { RowRedactor } from '../../../src/service/samples/row-redactor.js'
import { makeRandom } from '../../support/data/seeded-random.js'
import { JTL_HEADER } from '../stand-in.js'

const ODD = 'p"q,r/s t&u<v>\'w+x=é%y'

interface Fields {
  readonly label?: string
  readonly message?: string
  readonly url?: string
  readonly elapsed?: string
}

const quote = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

function row({ label = 'home', message = 'OK', url = 'null', elapsed = '12' }: Fields): string {
  return `1700123456789,${elapsed},${quote(label)},200,${quote(message)},t 1-1,text,true,,1,1,1,1,${quote(url)},12,0,1\n`
}

function cover(secrets: readonly string[], rows: string, header = JTL_HEADER): string {
  const bytes = Buffer.from(`${header}\n${rows}`)
  new RowRedactor(secretForms(secrets)).cover(bytes)
  return bytes.toString().slice(header.length + 1)
}

const basic = (user: string): string => Buffer.from(`${user}:${ODD}`).toString('base64')

describe('a secret in a row', () => {
  test.each([
    ['in a message', { message: `no ${ODD} here` }],
    ['in a label', { label: ODD }],
    ['in an address', { url: `http://h/?t=${encodeURIComponent(ODD)}` }],
    [
      'in an address, as a form writes it',
      { url: `http://h/?${new URLSearchParams({ t: ODD }).toString()}` }
    ],
    ['in JSON', { message: JSON.stringify({ key: ODD }) }],
    ['as the password of a user', { message: `Basic ${basic('al')}` }],
    ['as the password of another user', { message: `Basic ${basic('ada')}` }],
    ['as the password of a third one', { message: `Basic ${basic('adam')}` }]
  ])('%s is redacted, and the row keeps its length', (_, fields) => {
    const rows = row(fields)
    const covered = cover([ODD], rows)
    expect(covered).toMatch(/\*{6}/)
    expect(Buffer.byteLength(covered)).toBe(Buffer.byteLength(rows))
    for (const form of ['p"q', 'p""q', 'q,r', '%22q', 'q%2C', basic('adam').slice(8, 20)])
      expect(covered).not.toContain(form)
    const scanner = new ByteScanner({ grid: 'g', region: 'r' })
    scanner.push(Buffer.from(`${JTL_HEADER}\n${covered}${row({})}`))
    expect(scanner.end()).toMatchObject({ rows: 2 })
  })

  test('that overlaps one across columns or rows is redacted', () => {
    const rows = row({ label: 'x-abcdef', message: 'ok' }) + row({ message: 'ghijkl' })
    const secrets = ['abcdef', 'def,200', 'text,true,', '1\n17001234', '0123456789,12,home']
    expect(cover(secrets, rows)).toBe(
      rows
        .replace('x-abcdef,200', 'x-******,***')
        .replace(',home', ',****')
        .replaceAll('text,true', '****,true')
    )
  })

  test('of digits is redacted in texts, and no number is changed', () => {
    expect(cover(['123456'], row({ elapsed: '123456', message: 'code 123456' }))).toBe(
      row({ elapsed: '123456', message: 'code ******' })
    )
  })

  test('that is a digit or a short word changes nothing', () => {
    const rows = row({ message: 'true 1', label: 'abcde' })
    expect(cover(['true', '1', 'abcde', ''], rows)).toBe(rows)
  })

  test('in a column of variables is redacted', () => {
    const header = `${JTL_HEADER},"key","count"`
    const rows = row({}).replace('\n', ',"s3cr3t-key","123456"\n')
    expect(cover(['s3cr3t-key', '123456'], rows, header)).toBe(rows.replace('s3cr3t-key', '**********'))
  })

  test.each([
    ['too few columns', '1700,12,s3cr3t-key\n', '1700,12,**********\n'],
    ['text after a quote', '1700,"a"s3cr3t-key,b\n', '1700,"a"**********,b\n']
  ])('in a row with %s is redacted', (_, rows, expected) => {
    expect(cover(['s3cr3t-key'], rows)).toBe(expected)
  })

  test('in a file of unknown columns is redacted', () => {
    expect(cover(['s3cr3t-key'], 'a,s3cr3t-key\n', 'x,y')).toBe('a,**********\n')
  })

  test('beside quotes never breaks the row', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = makeRandom(seed)
      const letters = (length: number): string =>
        Array.from({ length }, () => 'ab",\n'[Math.floor(random() * 5)]).join('')
      const secret = letters(6)
      const rows = row({ message: letters(3) + secret + letters(3), label: letters(4) + secret })
      const scanner = new ByteScanner({ grid: 'g', region: 'r' })
      scanner.push(Buffer.from(`${JTL_HEADER}\n${cover([secret], rows)}${row({})}`))
      expect({ seed, rows: scanner.end().rows }).toEqual({ seed, rows: 2 })
    }
  })

  test('of many nodes of a run takes hardly more memory than that of one', () => {
    const forms = secretForms(Array.from({ length: 1000 }, (_, at) => `${at}`.padStart(60, 'secret')))
    const bytesOf = (nodes: number): number => {
      const before = process.memoryUsage().arrayBuffers
      const redactors = Array.from({ length: nodes }, () => new RowRedactor(forms))
      expect(redactors).toHaveLength(nodes)
      return process.memoryUsage().arrayBuffers - before
    }
    expect(bytesOf(1)).toBeLessThan(32 * 1024 ** 2)
    expect(bytesOf(1000)).toBeLessThan(1024 ** 2)
  })
})
