const HEADER =
  'timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,grpThreads,allThreads\n'

/** A sample of a run, by the thread that sent it. */
export interface SentSample {
  readonly startMs: number
  readonly elapsedMs: number
  readonly thread: number
  readonly label?: string
  readonly isFailed?: boolean
}

/** As JMeter writes them: in the order of their ends. */
export function writeRows(samples: readonly SentSample[], allThreads: number): string {
  const rows = [...samples]
    .sort((one, other) => one.startMs + one.elapsedMs - other.startMs - other.elapsedMs)
    .map(({ startMs, elapsedMs, thread, label = 'home', isFailed = false }) => {
      const [code, message] = isFailed ? [500, 'Server Error'] : [200, 'OK']
      return `${startMs},${elapsedMs},${label},${code},${message},Users 1-${thread},${!isFailed},${allThreads},${allThreads}\n`
    })
  return HEADER + rows.join('')
}
