/** The columns of a row of samples, as JMeter names them in a CSV: a row is one sample, or one transaction. */
export const SAMPLE_COLUMNS = {
  /** When it began: epoch ms, or a date. */
  timeStamp: 'timeStamp',
  /** Whole ms. */
  elapsed: 'elapsed',
  label: 'label',
  responseCode: 'responseCode',
  responseMessage: 'responseMessage',
  threadName: 'threadName',
  dataType: 'dataType',
  /** `true` or `false`. */
  success: 'success',
  failureMessage: 'failureMessage',
  bytes: 'bytes',
  sentBytes: 'sentBytes',
  grpThreads: 'grpThreads',
  allThreads: 'allThreads',
  url: 'URL',
  latency: 'Latency',
  idleTime: 'IdleTime',
  connect: 'Connect',
  /** The step whose time a row is part of, as the load time of its page is; such a row counts for its own label only. */
  partOf: 'partOf',
  /** Only 1 is understood. */
  sampleCount: 'SampleCount',
  hostname: 'Hostname'
} as const

const NAMES = Object.values(SAMPLE_COLUMNS)

/** The header of JMeter's CSVs. */
export const JMETER_HEADER = `${NAMES.slice(0, NAMES.indexOf('partOf')).join(',')}\n`
/** The header of rows that may be part of others. */
export const STEPS_HEADER = `${NAMES.slice(0, NAMES.indexOf('partOf') + 1).join(',')}\n`
