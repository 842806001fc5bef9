import { expect, test } from '@jest/globals'
import { K6Csv } from '../../../../src/analysis/results/formats/k6-csv.js'
import { frameRow, RowWriter } from '../../../../src/analysis/results/formats/row-writer.js'
import { formatRow } from '../../../../src/analysis/results/formats/translation.js'
import { startCpuTimer } from '../../../support/cpu-time.js'
import { makeRandom } from '../../../support/data/seeded-random.js'

const random = makeRandom(7)
const TEXTS = ['', 'home', 'a, "b"', 'two\nlines', 'ümlaut 🫖', '1234567890123,1234567890123,', '${}/b']
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!

test('rows are those of formatRow, whatever is in them', () => {
  const writer = new RowWriter('vu 2-')
  for (let round = 0; round < 2000; round++) {
    const facts = {
      ...{ label: pick(TEXTS), code: pick(TEXTS), message: pick(TEXTS), partOf: pick(['', 'checks']) },
      isFailed: random() < 0.5
    }
    const startMs =
      pick([0, 7, 9_999_999, 10_000_000, 1_794_960_662_968.4, -3, 1e15]) + Math.floor(random() * 9)
    const elapsedMs = pick([0, 0.5, 12.4, 99_999.6, 30_000_000])
    const users = pick([-1, 0, 5, 1000])
    const vu = Math.floor(random() * 12_000)
    const thread = random() < 0.5 ? vu : pick(TEXTS)
    writer.add(frameRow(facts), startMs, elapsedMs, thread, users)
    const name = typeof thread === 'number' ? `vu 2-${thread}` : thread
    const row = { ...facts, startMs, elapsedMs, thread: name, users: users < 0 ? undefined : users }
    expect(String(writer.take())).toBe(formatRow(row))
  }
})

test('more rows than there is room for at first', () => {
  const writer = new RowWriter('vu ')
  const frame = frameRow({ label: 'x'.repeat(300), code: '', message: '', isFailed: false })
  for (let vu = 0; vu < 1000; vu++) writer.add(frame, 1, 1, vu, -1)
  const rows = String(writer.take()).trimEnd().split('\n')
  expect(rows.map((row) => row.split(',')[5])).toEqual(Array.from({ length: 1000 }, (_, vu) => `vu ${vu}`))
})

test('more labels than are remembered, again and again, each with its own rows', () => {
  const header = 'metric_name,timestamp,metric_value,expected_response,method,name,status,metadata\n'
  const labels = Array.from({ length: 25_000 }, (_, i) => `label ${i % 12_500}`)
  const rows = labels.map(
    (name, i) =>
      `http_req_duration,${1_794_960_000_000 + i},5.250000,true,GET,${name},200,iter=${i}&vu=${i % 7}\n`
  )
  const translation = new K6Csv()
  const cpuTimeMs = startCpuTimer()
  const text = String(translation.push(Buffer.from(header + rows.join('')))) + String(translation.end())
  // Less than a tenth of that; 17 s and more if labels that differ in a number share their places in a table.
  expect(cpuTimeMs()).toBeLessThan(5000)
  const found = text
    .trimEnd()
    .split('\n')
    .map((row) => row.split(','))
  expect(found.map((fields) => fields[2])).toEqual(labels)
  expect(found.map((fields) => fields[5])).toEqual(labels.map((_, i) => `vu ${i % 7}`))
})

test('times that are dates or of another length make no difference to what is remembered', () => {
  const header = 'metric_name,timestamp,metric_value,name,metadata\n'
  const times = ['1794960000', '1794960000000', '1794960000000000', '2026-11-18T00:00:00Z']
  const rows = Array.from(
    { length: 40_000 },
    (_, i) => `http_req_duration,${times[i % 4]!},5.250000,home,vu=${i % 3}\n`
  )
  const translation = new K6Csv()
  const text = String(translation.push(Buffer.from(header + rows.join('')))) + String(translation.end())
  const found = text.trimEnd().split('\n')
  expect(found).toHaveLength(40_000)
  expect(new Set(found.map((row) => row.split(',')[2]))).toEqual(new Set(['home']))
})

test('a VU that is no number keeps its name, and a quote in the metadata is read as one', () => {
  const header = 'metric_name,timestamp,metric_value,name,status,metadata\n'
  const row = (metadata: string): string => `http_req_duration,1794960000000,5.250000,home,200,${metadata}\n`
  const translation = new K6Csv()
  const rows = ['vu=1', 'vu=007', 'iter=1&vu=x y', '"iter=1,2&vu=3"', 'iter=1'].map(row).join('')
  const text = String(translation.push(Buffer.from(header + rows))) + String(translation.end())
  const threads = text.split('\n').flatMap((line) => line.split(',')[5] ?? [])
  expect(threads).toEqual(['vu 1', 'vu 007', 'vu x y', 'vu 3', 'request 5'])
  expect(translation.facts.problems).toEqual([])
})
