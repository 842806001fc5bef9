import { cutHeader, readHeader } from '../csv/header.js'
import { JtlXml } from './jtl-xml.js'
import { K6_CSV_HEADER, K6Csv } from './k6-csv.js'
import { K6Json } from './k6-json.js'
import { Headerless, HEADERLESS_ROW, HEY_HEADER, HeyCsv, VEGETA_ROW, VegetaCsv } from './plain-csv.js'
import type { Translation } from './translation.js'

/** What a result file is: read as it is, translated first, or nothing that has samples. */
export type Recognised =
  | ({ readonly kind: 'as it is' } & Format)
  | ({ readonly kind: 'translated'; readonly open: (writtenMs: number) => Translation } & Format)
  | { readonly kind: 'refused'; readonly reason: string }

export interface Format {
  readonly tool: string
  /** Tools end all but XML with a line break. */
  readonly form: 'CSV' | 'JSON lines' | 'XML'
  /** There is no time of day in it: the times of its rows are counted from when the file was written. */
  readonly isTimedByFile?: boolean
}

/** Enough to know every format by. */
export const BEGINNING_BYTES = 64 * 1024
const UTF16 = [
  [0xff, 0xfe],
  [0xfe, 0xff]
]

/** Files of tools that keep figures, not samples; by what they begin with. */
const WITHOUT_SAMPLES: readonly { readonly is: RegExp; readonly reason: string }[] = [
  {
    is: /^(?:Type,Name,Request Count|"?Timestamp"?,"?User Count"?,"?Type"?,"?Name"?|Method,Name,Error,Occurrences|Count,Message,Traceback)/,
    reason:
      "is one of Locust's statistics, which hold figures per request name and no samples: write a row per request with an event listener (events.request), in JMeter's columns timeStamp,elapsed,label,responseCode,success"
  },
  {
    is: /^\s*\{\s*"(?:aggregate|intermediate)"\s*:/,
    reason:
      "is Artillery's report, which holds figures per period and no samples: write a row per request from a hook (afterResponse), in JMeter's columns timeStamp,elapsed,label,responseCode,success"
  },
  {
    is: /^\s*\{\s*"(?:root_group|metrics|options|state|setup_data)"\s*:/,
    reason: 'is a summary of k6, which holds no samples: run k6 with --out csv=results.csv and give that file'
  },
  {
    is: /^response-time,DNS\+dialup(?!.*,offset)/,
    reason: 'comes from an older hey, whose rows do not say when a request was sent: use hey 0.1.4 or newer'
  },
  {
    is: /^\s*\{\s*"attack"\s*:/,
    reason: 'is JSON of vegeta: write it as CSV with `vegeta encode -to csv`'
  },
  {
    is: /^\s*\{\s*"(?:latencies|bytes_in)"\s*:/,
    reason: 'is a report of vegeta, which holds no samples: give the results, with `vegeta encode -to csv`'
  }
]

/** Knows a format by the beginning of the file, whatever its name is; `isAll` if nothing follows. */
export function recognise(bytes: Uint8Array, isAll: boolean): Recognised {
  if (UTF16.some((mark) => mark.every((byte, i) => bytes[i] === byte)))
    return refuse('is UTF-16: write it as UTF-8')
  const text = new TextDecoder().decode(bytes).replace(/^\uFEFF/, '')
  if (text.trim() === '') return refuse('is empty')
  const known = WITHOUT_SAMPLES.find(({ is }) => is.test(text))
  if (known !== undefined) return refuse(known.reason)
  if (text.startsWith(K6_CSV_HEADER)) return translated({ tool: 'k6', form: 'CSV' }, () => new K6Csv())
  if (/^\s*\{\s*"(?:type"\s*:\s*"(?:Metric|Point)"|metric"\s*:)/.test(text))
    return translated({ tool: 'k6', form: 'JSON lines' }, () => new K6Json())
  if (/^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)?<testResults[\s>]/.test(text))
    return translated({ tool: 'JMeter', form: 'XML' }, () => new JtlXml())
  if (text.startsWith(HEY_HEADER))
    return translated({ tool: 'hey', form: 'CSV', isTimedByFile: true }, (writtenMs) => new HeyCsv(writtenMs))
  if (VEGETA_ROW.test(text)) return translated({ tool: 'vegeta', form: 'CSV' }, () => new VegetaCsv())
  if (HEADERLESS_ROW.test(text)) return translated({ tool: 'JMeter', form: 'CSV' }, () => new Headerless())
  const header = cutHeader(bytes, isAll)
  if (header !== undefined && readHeader(header.line).shape !== 'unknown')
    return { kind: 'as it is', tool: 'JMeter', form: 'CSV' }
  if (bytes.includes(0)) return refuse('is not text: results must be CSV, XML or JSON lines')
  // What is in it is not shown: it may be anything, a password too.
  return refuse('has no known format (JMeter, k6, vegeta, hey)')
}

function translated(format: Format, open: (writtenMs: number) => Translation): Recognised {
  return { kind: 'translated', ...format, open }
}

function refuse(reason: string): Recognised {
  return { kind: 'refused', reason }
}
