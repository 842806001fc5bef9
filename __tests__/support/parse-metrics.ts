interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The text format of Prometheus, read strictly: each family has its help and type first, and all its samples together. */
export function parseMetrics(text: string): Map<string, Sample[]> {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const samples = new Map<string, Sample[]>()
  const types = new Map<string, string>()
  let family = ''
  for (const line of text.split('\n').slice(0, -1)) {
    if (line === '') continue
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line) ?? []
    if (kind === 'TYPE') {
      if (types.has(name) || family !== name) throw new Error(`a second or stray type: ${line}`)
      if (!/^(counter|gauge|histogram|summary)$/.test(rest)) throw new Error(`an unknown type: ${line}`)
      types.set(name, rest)
    } else if (kind === 'HELP') {
      if (types.has(name)) throw new Error(`a family twice: ${line}`)
      family = name
    } else addSample(samples, line, { family, type: types.get(family) })
  }
  return samples
}

function addSample(
  samples: Map<string, Sample[]>,
  line: string,
  { family, type }: { family: string; type: string | undefined }
): void {
  const [, name = '', inner = '', value = ''] =
    /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)$/.exec(line) ?? []
  const suffixes =
    type === 'histogram' ? ['_bucket', '_sum', '_count'] : type === 'summary' ? ['', '_sum', '_count'] : ['']
  if (!suffixes.some((suffix) => name === family + suffix)) throw new Error(`not of ${family}: ${line}`)
  if (!/^([+-]?(\d+(\.\d+)?(e[+-]?\d+)?|Inf)|Nan|NaN)$/i.test(value)) throw new Error(`not a number: ${line}`)
  const labels = Object.fromEntries(
    [...inner.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, text])
  )
  const found = samples.get(name) ?? []
  if (found.some((other) => JSON.stringify(other.labels) === JSON.stringify(labels)))
    throw new Error(`a sample twice: ${line}`)
  samples.set(name, [...found, { labels, value: Number(value) }])
}
