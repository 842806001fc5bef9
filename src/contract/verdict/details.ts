import * as v from 'valibot'
import { about } from '../decode.js'
import { MOST_CODES, MOST_DETAILED_LABELS, MOST_SAMPLED_ERRORS, MOST_SAMPLES_AN_ERROR } from './limits.js'

// What a second reading of the CSVs adds to the figures of `verdict.json`.

const text = v.string()
const count = v.pipe(v.number(), v.integer(), v.minValue(0))
const notNegative = v.pipe(v.number(), v.minValue(0))
const rates = v.array(notNegative)
const gappy = v.array(v.nullable(notNegative))

export const detailSeries = v.strictObject({
  bucketMs: v.pipe(v.number(), v.gtValue(0)),
  atMs: about(
    v.array(v.number()),
    'Where each bucket begins, on the axis of `series`; lists have its length.'
  ),
  throughput: about(rates, 'Samples per second. A sample counts where it ended.'),
  failures: v.array(count),
  p50Ms: gappy,
  p95Ms: gappy,
  p99Ms: gappy,
  codes: about(
    v.pipe(v.array(v.strictObject({ code: text, counts: v.array(count) })), v.maxLength(MOST_CODES + 1)),
    'Samples by response code, the most frequent code first and the rarest together as other; an empty code is a sample without one.'
  ),
  connectMs: v.exactOptional(
    about(
      gappy,
      'Means of the samples whose rows say it: connect + ttfb + download is their response time. Absent if no row does.'
    )
  ),
  ttfbMs: v.exactOptional(about(gappy, 'From the connection to the first byte.')),
  downloadMs: v.exactOptional(about(gappy, 'From the first byte to the last.')),
  receivedPerSecond: v.exactOptional(about(rates, 'Bytes per second. Absent if the CSVs do not say.')),
  sentPerSecond: v.exactOptional(about(rates, 'Bytes per second. Absent if the CSVs do not say.'))
})

const detailedLabel = v.strictObject({
  label: text,
  why: about(
    v.picklist(['named', 'slowest', 'failing', 'largest']),
    'Why it is among these: a threshold names it, or it has a high p95, many failures or many samples.'
  ),
  series: detailSeries
})

const failedSample = v.strictObject({
  label: text,
  code: text,
  message: text,
  atMs: about(v.pipe(v.number(), v.integer()), 'When it started: epoch, in ms.'),
  elapsedMs: notNegative,
  thread: about(text, 'Empty if the CSV does not say.'),
  url: v.exactOptional(about(text, 'Without user, password, query and fragment.'))
})

export const details = v.strictObject({
  overall: detailSeries,
  labels: v.pipe(v.array(detailedLabel), v.maxLength(MOST_DETAILED_LABELS)),
  failures: about(
    v.pipe(v.array(failedSample), v.maxLength(MOST_SAMPLED_ERRORS * MOST_SAMPLES_AN_ERROR)),
    'The first failed samples of the most frequent errors, in order of time.'
  )
})
