import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { recognise } from '../../../../src/analysis/results/formats/recognise.js'
import type { Translation } from '../../../../src/analysis/results/formats/translation.js'
import { JMETER_HEADER } from '../../../../src/contract/sample-row.js'

const fixture = (name: string): Buffer => readFileSync(`__tests__/fixtures/results/${name}`)
const WRITTEN_MS = 1_700_000_100_000

/** The rows as objects, by the names in the header. */
function readRows(translation: Translation, bytes: Uint8Array, step = bytes.length) {
  let text = translation.header
  for (let at = 0; at < bytes.length; at += step)
    text += String(translation.push(bytes.subarray(at, at + step)))
  text += String(translation.end())
  const [names = [], ...rows] = text
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .match(/("([^"]|"")*"|[^,]*)(,|$)/g)!
        .map((field) => field.replace(/,$/, '').replace(/^"|"$/g, '').replaceAll('""', '"'))
    )
  return rows.map((row) =>
    Object.fromEntries(names.flatMap((name, i) => (name === '' ? [] : [[name, row[i] ?? '']])))
  )
}

function open(bytes: Uint8Array): Translation {
  const format = recognise(bytes, true)
  if (format.kind !== 'translated') throw new Error(`it is ${JSON.stringify(format)}`)
  return format.open(WRITTEN_MS)
}

function read(text: string | Buffer, step?: number) {
  const bytes = Buffer.from(text)
  const translation = open(bytes)
  return { rows: readRows(translation, bytes, step), facts: translation.facts }
}

// After the documentation of `vegeta encode`: vegeta cannot be installed where these tests are written.
describe('CSV of vegeta', () => {
  test('has a row for each request, from its start', () => {
    const { rows, facts } = read(fixture('vegeta.csv'))
    expect(facts).toEqual({ problems: [], losses: [], notes: [] })
    expect(rows.map(({ timeStamp, elapsed }) => [timeStamp, elapsed])).toEqual([
      ['1700000000000', '13'],
      ['1700000000100', '8'],
      ['1700000000200', '3'],
      ['1700000000300', '5'],
      ['1700000000400', '30000']
    ])
    expect(rows.map(({ label, responseCode, success }) => [label, responseCode, success])).toEqual([
      ['GET http://127.0.0.1:8080/home', '200', 'true'],
      ['GET http://127.0.0.1:8080/home', '200', 'true'],
      ['GET http://127.0.0.1:8080/missing', '404', 'false'],
      ['POST http://127.0.0.1:8080/login', '302', 'true'],
      ['GET http://127.0.0.1:8080/home', '0', 'false']
    ])
    expect(rows[2]!.failureMessage).toBe('404 Not Found')
    expect(rows[4]!.failureMessage).toMatch(/^Get "http.*exceeded, while awaiting headers\)$/)
    expect(new Set(rows.map(({ threadName }) => threadName)).size).toBe(5)
  })

  test('is the same however it is cut into pieces', () => {
    const whole = read(fixture('vegeta.csv')).rows
    for (const step of [1, 7, 64]) expect(read(fixture('vegeta.csv'), step).rows).toEqual(whole)
  })

  test.each([
    [
      'cut in the middle of a row',
      (text: string) => text.slice(0, -30),
      /row 5: the file ends in the middle/
    ],
    ['with rows of another tool', (text: string) => `${text}1,2,3\n`, /row 6: it has 3 columns, not 12/],
    [
      'with a latency that is no number',
      (text: string) => text.replace('8400000', '8.4ms'),
      /row 2: its time, status or latency/
    ],
    ['with a quote that never ends', (text: string) => text.replace(',,aGVs', ',"aGVs'), /row 1: /]
  ])('%s says so', (_, change, words) => {
    const { facts } = read(change(fixture('vegeta.csv').toString()))
    expect(facts.problems.join()).toMatch(words)
  })
})

// After its documentation and its source: hey cannot be installed there either.
describe('CSV of hey', () => {
  test('has a row for each reply, placed by when the file was written', () => {
    const { rows, facts } = read(fixture('hey.csv'))
    expect(facts.problems).toEqual([])
    expect(facts.notes.join()).toContain('no row for a request without a reply')
    // The last reply came 1 s after the start of the test, and then the file was written.
    expect(
      rows.map(({ timeStamp, elapsed, success }) => [Number(timeStamp) - WRITTEN_MS, elapsed, success])
    ).toEqual([
      [-999, '50', 'true'],
      [-999, '61', 'true'],
      [-949, '40', 'false'],
      [-100, '100', 'true']
    ])
    expect(rows[2]).toMatchObject({ label: 'request', responseCode: '503', failureMessage: 'status 503' })
  })

  test('of as many rows as hey keeps is not known to be all of them', () => {
    const [header = '', first = ''] = fixture('hey.csv').toString().split('\n')
    const bytes = Buffer.from(`${header}\n${`${first}\n`.repeat(1_000_000)}`)
    const translation = open(bytes)
    translation.push(bytes)
    translation.end()
    expect(translation.facts.problems.join()).toContain('the most rows that hey writes')
  })

  test('cut in the middle of a row, or without numbers, says so', () => {
    const text = fixture('hey.csv').toString()
    expect(read(text.slice(0, -5)).facts.problems).toEqual(['row 4: the file ends in the middle of it'])
    expect(read(text.replace('0.0404', 'NaN')).facts.problems.join()).toMatch(/^row 3: its response time/)
  })
})

describe('XML of JMeter', () => {
  const sample = (attributes: string, inside = ''): string =>
    `<httpSample t="12" it="0" lt="11" ct="3" ts="1700000000000" s="true" lb="home" rc="200" rm="OK" tn="users 1-1" dt="text" by="1234" sby="120" ng="2" na="3" ${attributes}>${inside}</httpSample>\n`
  const file = (...samples: string[]): string =>
    `<?xml version="1.0" encoding="UTF-8"?>\n<testResults version="1.2">\n${samples.join('')}</testResults>\n`

  test('has the columns of the CSV', () => {
    const { rows, facts } = read(file(sample('', '<java.net.URL>http://127.0.0.1/home</java.net.URL>')))
    expect(facts).toEqual({ problems: [], losses: [], notes: [] })
    expect(rows).toEqual([
      {
        ...{ timeStamp: '1700000000000', elapsed: '12', label: 'home', responseCode: '200' },
        ...{ responseMessage: 'OK', threadName: 'users 1-1', dataType: 'text', success: 'true' },
        ...{ failureMessage: '', bytes: '1234', sentBytes: '120', grpThreads: '2', allThreads: '3' },
        ...{ URL: 'http://127.0.0.1/home', Latency: '11', IdleTime: '0', Connect: '3' }
      }
    ])
  })

  // Both were written by JMeter 5.6.3 in the same run: two users, transactions, redirects, a failed assertion.
  test('has the rows of the CSV of the same run', () => {
    const xml = read(fixture('jmeter.xml'))
    expect(xml.facts.problems).toEqual([])
    const [header = '', ...lines] = fixture('jmeter.csv').toString().split('\n')
    const headerless = read(lines.join('\n'))
    expect(`${header}\n`).toBe(JMETER_HEADER)
    // The CSV has the word null for a transaction's address.
    const rows = headerless.rows.map((row) => ({ ...row, URL: row.URL === 'null' ? '' : row.URL }))
    expect(xml.rows).toEqual(rows)
    expect(rows).toHaveLength(104)
  })

  // "summary = 56 in 00:00:01 = 43.6/s Avg: 26 Min: 2 Max: 65 Err: 16 (28.57%)", said JMeter of that run. It leaves out transactions
  // and what is within another sample.
  test('has the counts and times of the summary that JMeter printed', () => {
    const isLeftOut = /^(?:open basket|one basket|item 2|pay 2|moved-[01])$/
    const rows = read(fixture('jmeter.xml')).rows.filter(({ label }) => !isLeftOut.test(label!))
    const times = rows.map(({ elapsed }) => Number(elapsed))
    const sum = times.reduce((one, other) => one + other, 0)
    expect([rows.length, Math.min(...times), Math.max(...times)]).toEqual([56, 2, 65])
    expect(Math.floor(sum / rows.length)).toBe(26)
    expect(rows.filter(({ success }) => success === 'false')).toHaveLength(16)
  })

  test('has the first message of a failed assertion, and labels with anything in them', () => {
    const failed = [
      '<assertionResult><name>a</name><failure>true</failure><error>false</error><failureMessage>text &lt;expected&gt;, "really"</failureMessage></assertionResult>',
      '<assertionResult><name>b</name><failure>true</failure><failureMessage>second</failureMessage></assertionResult>'
    ].join('')
    const [row] = read(file(sample('', failed).replace('lb="home"', 'lb="a, &quot;b&quot;&#10;ü"'))).rows
    expect(row).toMatchObject({ failureMessage: 'text <expected>, "really"', label: 'a, "b" ü' })
  })

  test('has the rows of samples within another one after it, each with its own address', () => {
    const url = (path: string): string => `<java.net.URL>http://x/${path}</java.net.URL>`
    const inner = sample('', url('image')).replace('lb="home"', 'lb="image"')
    const { rows } = read(file(sample('', inner + url('home')), sample('', url('last'))))
    expect(rows.map(({ label, URL }) => [label, URL])).toEqual([
      ['home', 'http://x/home'],
      ['image', 'http://x/image'],
      ['home', 'http://x/last']
    ])
  })

  test('with samples within one that never ends is not kept in memory', () => {
    const translation = open(Buffer.from(file()))
    const inner = Buffer.from(sample('').repeat(1000))
    translation.push(Buffer.from('<testResults><sample lb="all" ts="1" t="1">'))
    for (let i = 0; i < 101; i++) expect(translation.push(inner)).toBe('')
    expect(translation.facts.problems.join()).toContain('more than 100000 samples within it')
  })

  test('is the same however it is cut into pieces', () => {
    const text = file(sample(''), sample('').replace('home', 'über'))
    expect(read(text, 3).rows).toEqual(read(text).rows)
  })

  test.each([
    ['that JMeter did not end', file(sample(''), sample('')).replace('</testResults>\n', '')],
    ['cut in the middle of a sample', file(sample(''), sample('')).slice(0, -80)],
    ['followed by something else', `${file(sample(''))}timeStamp,elapsed\n`],
    ['with samples that stand for several', file(sample('sc="5"'))]
  ])('%s says so', (_, text) => {
    expect(read(text).facts.problems).toHaveLength(1)
  })

  test('without an end to its text is not kept in memory', () => {
    const translation = open(Buffer.from(file()))
    translation.push(Buffer.from('<testResults><sample lb="'))
    const chunk = Buffer.alloc(1 << 20, 'x')
    for (let i = 0; i < 20; i++) translation.push(chunk)
    expect(translation.facts.problems.join()).toContain('no end within 16 MiB')
  })
})

test('a label as long as a document is whole until secrets have been redacted', () => {
  const text = fixture('vegeta.csv')
    .toString()
    .replaceAll('/home', `/${'x'.repeat(100_000)}`)
  const { rows } = read(text)
  expect(rows[0]!.label!.length).toBeGreaterThan(100_000)
})

test("JMeter's CSV without its header has its default columns", () => {
  const row = '1700000000000,12,"a, b",200,OK,users 1-1,text,true,,1234,120,2,3,http://x/,11,0,3\n'
  const { rows } = read(row)
  expect(rows).toMatchObject([{ label: 'a, b', Connect: '3' }])
  expect(open(Buffer.from(row)).header).toBe(JMETER_HEADER)
})

describe('a file is known by its content', () => {
  test.each([
    ['k6', fixture('k6.csv')],
    ['k6', fixture('k6.json')],
    ['vegeta', fixture('vegeta.csv')],
    ['hey', fixture('hey.csv')],
    ['JMeter', Buffer.from('<testResults version="1.2">')],
    ['JMeter', Buffer.from('\ufefflabel;success;elapsed;timeStamp\nhome;true;12;1700000000000\n')],
    ['JMeter', Buffer.from('timeStamp,elapsed,label,success\n')]
  ])('%s', (tool, bytes) => {
    expect(recognise(bytes, true)).toMatchObject({ tool })
  })

  test.each([
    ['an empty file', '', /^is empty$/],
    ['blank lines', '\n \n', /^is empty$/],
    [
      "Locust's statistics",
      'Type,Name,Request Count,Failure Count\n',
      /Locust.*events\.request.*timeStamp,elapsed/
    ],
    ["Locust's history", 'Timestamp,User Count,Type,Name,Requests/s\n', /Locust/],
    ["Artillery's report", '{\n  "aggregate": {\n    "counters": {}', /Artillery.*afterResponse/],
    ["k6's summary", '{"root_group":{"name":""},"metrics":{}}', /summary of k6.*--out csv/],
    [
      'CSV of an older hey',
      'response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read\n',
      /older hey/
    ],
    ["vegeta's JSON", '{"attack":"","seq":0,"code":200}', /vegeta encode -to csv/],
    ["vegeta's report", '{"latencies":{"total":1}}', /vegeta encode -to csv/],
    ['UTF-16', Buffer.from('\ufefftimeStamp,elapsed', 'utf16le'), /UTF-8/],
    ['bytes that are no text', Buffer.from([0x50, 0x4b, 3, 4, 0, 0]), /not text/],
    ['any other CSV', 'a,b\n1,2\n', /has no known format \(JMeter, k6, vegeta, hey\)$/]
  ])('%s has no samples, and the reason is told', (_, given, words) => {
    const found = recognise(Buffer.from(given), true)
    expect(found).toMatchObject({ kind: 'refused', reason: expect.stringMatching(words) as unknown })
  })
})
