export interface NaiveSample {
  readonly startMs: number
  readonly elapsedMs: number
  readonly label: string
  readonly isFailure: boolean
  readonly isTransaction: boolean
  readonly threads: number
}

/** Figures as a textbook has them: all values in a list, sorted. */
export interface NaiveFigures {
  readonly samples: number
  readonly failures: number
  readonly meanMs: number
  readonly minMs: number
  readonly maxMs: number
  percentileMs(percent: number): number
  apdex(targetMs: number): number
}

/** A CSV as rows of strings, character by character, with no thought of speed. */
export function parseCsv(text: string, delimiter = ','): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let field = ''
  let isQuoted = false
  let isStart = true
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!
    if (isQuoted) {
      if (char !== '"') field += char
      else if (text[i + 1] === '"') {
        field += '"'
        i++
      } else isQuoted = false
    } else if (char === '"' && isStart) {
      isQuoted = true
      isStart = false
    } else if (char === delimiter || char === '\n') {
      row.push(char === '\n' ? field.replace(/\r$/, '') : field)
      field = ''
      isStart = true
      if (char === '\n') {
        rows.push(row)
        row = []
      }
    } else {
      field += char
      isStart = false
    }
  }
  if (field !== '' || row.length > 0) rows.push([...row, field])
  return rows
}

/** The samples of a JMeter CSV with epoch timestamps; empty transactions are none. */
export function readSamples(text: string, delimiter = ','): NaiveSample[] {
  const [header = [], ...rows] = parseCsv(text.replace(/^\uFEFF/, ''), delimiter)
  const samples = rows.map((row) => {
    const at = (name: string) => row[header.indexOf(name)] ?? ''
    return {
      startMs: Number(at('timeStamp')),
      elapsedMs: Number(at('elapsed')),
      label: at('label'),
      isFailure: at('success').toLowerCase() === 'false',
      isTransaction: at('responseMessage').startsWith('Number of samples in transaction : '),
      isEmpty: at('responseMessage').startsWith('Number of samples in transaction : 0'),
      threads: Number(at('allThreads'))
    }
  })
  return samples.filter(({ isEmpty }) => !isEmpty)
}

export function naiveFigures(samples: readonly NaiveSample[]): NaiveFigures {
  const times = samples.map(({ elapsedMs }) => elapsedMs).sort((a, b) => a - b)
  const passed = samples.filter(({ isFailure }) => !isFailure)
  return {
    samples: samples.length,
    failures: samples.length - passed.length,
    meanMs: times.reduce((sum, ms) => sum + ms, 0) / times.length,
    minMs: times[0]!,
    maxMs: times.at(-1)!,
    percentileMs: (percent) => times[Math.max(0, Math.ceil((percent * times.length) / 100 - 1e-9) - 1)]!,
    apdex(targetMs) {
      const satisfied = passed.filter(({ elapsedMs }) => elapsedMs <= targetMs).length
      const tolerated = passed.filter(
        ({ elapsedMs }) => elapsedMs > targetMs && elapsedMs <= 4 * targetMs
      ).length
      return (satisfied + tolerated / 2) / samples.length
    }
  }
}
