import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { K6Csv } from '../../../../src/analysis/results/formats/k6-csv.js'
import { K6Json } from '../../../../src/analysis/results/formats/k6-json.js'
import type { Translation } from '../../../../src/analysis/results/formats/translation.js'

// Both were written by k6 1.8.1 in the same run: 36 requests of two users, in groups, with checks, failures and redirects.
const CSV = readFileSync('__tests__/fixtures/results/k6.csv')
const JSON_LINES = readFileSync('__tests__/fixtures/results/k6.json')

const HEADER =
  'metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,scenario,service,status,url,extra_tags,metadata\n'
type Tags = Partial<
  Record<
    | 'check'
    | 'error'
    | 'error_code'
    | 'expected_response'
    | 'group'
    | 'method'
    | 'name'
    | 'scenario'
    | 'status'
    | 'url'
    | 'metadata',
    string
  >
>

function row(metric: string, time: number | string, value: number, tags: Tags = {}): string {
  const names = [
    'check',
    'error',
    'error_code',
    'expected_response',
    'group',
    'method',
    'name',
    'scenario',
    'service',
    'status',
    'url',
    'extra_tags',
    'metadata'
  ]
  const quoted = names
    .map((name) => tags[name as keyof Tags] ?? '')
    .map((text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text))
  return `${[metric, time, value.toFixed(6), ...quoted].join(',')}\n`
}

function translate(translation: Translation, bytes: Uint8Array, step = bytes.length): string[][] {
  let rows = ''
  for (let at = 0; at < bytes.length; at += step)
    rows += String(translation.push(bytes.subarray(at, at + step)))
  rows += String(translation.end())
  return rows
    .split('\n')
    .filter(Boolean)
    .map((line) =>
      line
        .match(/("([^"]|"")*"|[^,]*)(,|$)/g)!
        .map((field) => field.replace(/,$/, '').replace(/^"|"$/g, '').replaceAll('""', '"'))
    )
}

const read = (...rows: string[]): { rows: string[][]; facts: Translation['facts'] } => {
  const translation = new K6Csv()
  return { rows: translate(translation, Buffer.from(HEADER + rows.join(''))), facts: translation.facts }
}
const request = (endMs: number, durationMs: number, tags: Tags = {}, blockedMs = 0): string => {
  const all = {
    method: 'GET',
    name: 'home',
    status: '200',
    expected_response: 'true',
    metadata: 'vu=1',
    ...tags
  }
  return [
    row('http_reqs', endMs, 1, all),
    row('http_req_duration', endMs, durationMs, all),
    row('http_req_blocked', endMs, blockedMs, all),
    row('http_req_failed', endMs, 0, all)
  ].join('')
}
const END = 1_794_960_662_968

describe('what k6 wrote', () => {
  test('CSV and JSON lines of one run are the same rows', () => {
    const rows = translate(new K6Csv(), CSV)
    expect(translate(new K6Json(), JSON_LINES)).toEqual(rows)
    expect(rows.filter((fields) => fields[17] === '')).toHaveLength(36)
  })

  test.each([1, 7, 64, 1000])('however it arrives: %s bytes at a time', (step) => {
    expect(translate(new K6Csv(), CSV, step)).toEqual(translate(new K6Csv(), CSV))
    expect(translate(new K6Json(), JSON_LINES, step)).toEqual(translate(new K6Json(), JSON_LINES))
  })

  test('labels, codes, threads and failures are those of the script', () => {
    const rows = translate(new K6Csv(), CSV)
    const labels = new Set(rows.filter((fields) => fields[17] === '').map((fields) => fields[2]))
    expect([...labels].sort()).toEqual(
      [
        '${}/b/${}',
        ...['/404', '/a', '/c', '/d', '/redir'].map((path) => `GET http://127.0.0.1:18999${path}`),
        'GET http://127.0.0.1:1/refused',
        'a, "b"',
        'slow'
      ].sort()
    )
    const failed = rows.filter((fields) => fields[17] === '' && fields[7] === 'false')
    expect(failed.map(([, , label, code, message]) => `${label} ${code} ${message}`).sort()).toEqual(
      [
        ...Array.from({ length: 4 }, () => 'GET http://127.0.0.1:18999/404 404 Not Found'),
        ...Array.from({ length: 4 }, () => 'GET http://127.0.0.1:1/refused 0 dial: connection refused')
      ].sort()
    )
    expect(new Set(rows.map((fields) => fields[5]))).toEqual(new Set(['vu 1', 'vu 2']))
  })
})

test('a request starts when it asked for a connection, and takes as long as k6 says', () => {
  const { rows } = read(request(END, 16.7, {}, 2.6))
  expect(rows).toEqual([expect.arrayContaining([String(END - 19), '17', 'home'])])
})

test('a request that is the last of the file has its row, also without its next one', () => {
  const { rows } = read(row('http_req_duration', END, 5, { name: 'home', expected_response: 'true' }))
  expect(rows.map(([start, elapsed]) => [start, elapsed])).toEqual([[String(END - 5), '5']])
})

describe('a request failed', () => {
  test.each([
    [{ expected_response: 'false', status: '500', error_code: '1500' }, 'false'],
    [{ expected_response: 'true', status: '404', error_code: '1404' }, 'true'],
    [{ expected_response: '', status: '404', error_code: '1404' }, 'false'],
    [{ expected_response: '', status: '200', error_code: '' }, 'true'],
    [{ expected_response: '', status: '500', error_code: '' }, 'false'],
    [{ expected_response: '', status: '0', error_code: '' }, 'false']
  ])('%j: success is %s', (tags, success) => {
    expect(read(request(END, 5, tags)).rows[0]![7]).toBe(success)
  })
})

test('without any tag that says whether a request failed, nothing is known of failures', () => {
  const tags = { expected_response: '', status: '', error_code: '' }
  const { facts, rows } = read(request(END, 5, tags))
  expect(rows[0]![7]).toBe('false')
  expect(facts.problems).toEqual([expect.stringContaining('does not say which requests failed')])
})

describe('the label', () => {
  test.each([
    [{ name: 'http://shop.example/a?b=1#c', method: 'GET' }, 'GET http://shop.example/a'],
    [{ name: 'http://shop.example/${}/x?y=1', method: 'GET' }, 'http://shop.example/${}/x?y=1'],
    [{ name: '', url: 'https://shop.example/', method: 'POST' }, 'POST https://shop.example/'],
    [{ name: 'two\nlines, "quoted"' }, 'two lines, "quoted"']
  ])('of %j', (tags, label) => {
    expect(read(request(END, 5, tags)).rows[0]![2]).toBe(label)
  })
})

describe('times', () => {
  test.each([
    [String(Math.floor(END / 1000)), Math.floor(END / 1000) * 1000 - 1000],
    [String(END), END - 5],
    [`${END}123`, END - 5],
    [`${END}123456`, END - 5],
    ['2026-11-18T00:11:02.968290622Z', END - 5]
  ])('%s', (time, startMs) => {
    const { rows } = read(row('http_req_duration', time, 5, { name: 'a' }))
    expect(rows[0]![0]).toBe(String(startMs))
  })

  test('in whole seconds are told, for they hide stalls', () => {
    expect(
      read(row('http_req_duration', 1_794_960_662, 5, { name: 'a', metadata: 'vu=1' })).facts.notes
    ).toEqual([expect.stringContaining('K6_CSV_TIME_FORMAT=unix_milli')])
    expect(read(request(END, 5)).facts.notes).toEqual([])
  })
})

test('without the tag of VUs every row has another thread, and that is told', () => {
  const { rows, facts } = read(request(END, 5, { metadata: '' }), request(END, 5, { metadata: 'iter=3' }))
  expect(new Set(rows.map((fields) => fields[5])).size).toBe(2)
  expect(facts.notes).toEqual([expect.stringContaining('vu to --system-tags')])
})

test('threads of several processes differ', () => {
  const translation = new K6Csv({ threadPrefix: '2-' })
  expect(translate(translation, Buffer.from(HEADER + request(END, 5)))[0]![5]).toBe('vu 2-1')
})

describe('what counts for its own label only', () => {
  test.each([
    [row('checks', END, 0, { check: 'is 200', metadata: 'vu=1' }), 'check: is 200', 'false'],
    [row('checks', END, 1, { check: 'is 200', metadata: 'vu=1' }), 'check: is 200', 'true'],
    [row('group_duration', END, 50, { group: '::shop::basket' }), 'group: shop::basket', 'true'],
    [
      row('grpc_req_duration', END, 50, { name: '', url: 'shop.Orders/List', status: '0' }),
      'grpc_req_duration: shop.Orders/List',
      'true'
    ],
    [
      row('grpc_req_duration', END, 50, { url: 'shop.Orders/Buy', status: '13' }),
      'grpc_req_duration: shop.Orders/Buy',
      'false'
    ],
    [
      row('ws_session_duration', END, 50, { url: 'ws://shop.example', status: '101' }),
      'ws_session_duration: ws://shop.example',
      'true'
    ],
    [
      row('ws_connecting', END, 50, { url: 'ws://shop.example', status: '502' }),
      'ws_connecting: ws://shop.example',
      'false'
    ],
    [
      row('ws_connecting', END, 4, { url: 'ws://127.0.0.1:1/x' }),
      'ws_connecting: ws://127.0.0.1:1/x',
      'false'
    ],
    [
      row('browser_web_vital_lcp', END, 50, { url: 'http://shop.example' }),
      'browser_web_vital_lcp: http://shop.example',
      'true'
    ]
  ])('%s', (text, label, success) => {
    const [fields] = read(text).rows
    expect([fields![2], fields![7]]).toEqual([label, success])
    expect(fields![17]).not.toBe('')
  })
})

test('metrics of the script are listed, most points first', () => {
  const { facts } = read(
    row('my_trend', END, 1),
    row('my_trend', END, 2),
    row('my_counter', END, 1),
    row('vus', END, 1)
  )
  expect(facts.notes).toEqual([expect.stringContaining('my_trend (2 points) and my_counter (1 point)')])
})

test.each([
  [95, 5, 0],
  [94, 6, 1]
])('%s iterations and %s dropped ones: %s loss', (iterations, dropped, losses) => {
  const { facts } = read(row('iterations', END, iterations), row('dropped_iterations', END, dropped))
  expect(facts.losses).toHaveLength(losses)
})

test('a scenario that could not start its iterations is lost load, however many another one started', () => {
  const { facts } = read(
    row('iterations', END, 5000, { scenario: 'ping' }),
    row('iterations', END, 2, { scenario: 'checkout' }),
    row('dropped_iterations', END, 48, { scenario: 'checkout' })
  )
  expect(facts.losses).toEqual([
    expect.stringContaining('48 of 50 iterations of the scenario checkout (96 %) were dropped')
  ])
})

test('requests of setup() have no VU, which is nothing to tell', () => {
  const { facts } = read(request(END, 5, { metadata: '' }), request(END + 1, 5))
  expect(facts.notes).toEqual([])
})

test('a first row that is not the header is not taken for it', () => {
  const translation = new K6Csv()
  expect(translate(translation, Buffer.from(request(END, 5) + request(END, 5)))).toEqual([])
  expect(translation.facts.problems).toEqual(['row 1: there is no header of k6 before it'])
})

test.each([
  [{ url: 'wss://u:secret@shop.example/ws?token=secret' }, 'ws_connecting: wss://shop.example/ws'],
  [{ name: 'chat?', url: 'wss://shop.example/ws' }, 'ws_connecting: chat?']
])('a label has neither the query nor the password of an address: %j', (tags, label) => {
  expect(read(row('ws_connecting', END, 5, tags)).rows[0]![2]).toBe(label)
  const name = 'http://u:secret@shop.example/a?token=secret'
  expect(read(request(END, 5, { name, method: 'GET' })).rows[0]![2]).toBe('GET http://shop.example/a')
})

test('the header of a joined file may come again, but not with other columns', () => {
  const other = HEADER.replace('error,error_code', 'error_code,error')
  const found = [HEADER, other].map((header) => {
    const translation = new K6Csv()
    translate(translation, Buffer.from(HEADER + request(END, 5) + header + request(END, 5)))
    return translation.facts.problems
  })
  expect(found).toEqual([[], [expect.stringContaining('a header with other columns')]])
})

test('a long wait for connections is told', () => {
  expect(read(request(END, 100, {}, 50)).facts.notes).toEqual([
    expect.stringContaining('50 ms for a connection')
  ])
})

describe('what cannot be read is a problem', () => {
  test.each([
    ['a row that is cut off', `http_req_duration,${END},5.0`, /row 1: the file ends in the middle/],
    ['a row with fewer columns', `http_req_duration,${END}\n`, /row 1: it has 2 columns, not 16/],
    ['no time', row('http_req_duration', 'yesterday', 5), /row 1: timestamp is "yesterday"/],
    ['no number', row('http_req_duration', END, NaN), /row 1: metric_value is "NaN"/],
    [
      'a quote without end',
      `http_req_duration,${END},5.0,"${'x'.repeat(2 << 20)}`,
      /row 1: it has no end within 1 MiB/
    ]
  ])('%s', (_, text, words) => {
    expect(read(text).facts.problems[0]).toMatch(words)
  })

  test('in JSON lines too', () => {
    const translation = new K6Json()
    translate(
      translation,
      Buffer.from('{"metric":"http_req_duration","type":"Point","data":{"time":"2026-11-18T00:00:00Z","val')
    )
    expect(translation.facts.problems).toEqual(['row 1: the file ends in the middle of it'])
  })

  test.each(['null', '[]', '7', '{"type":"Point","data":null}'])('a line that is no point: %s', (line) => {
    const translation = new K6Json()
    translate(translation, Buffer.from(`${line}\n`))
    expect(translation.facts.problems).toEqual(['row 1: it is not a point of k6'])
  })
})
