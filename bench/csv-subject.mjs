// One way to compute per-label figures from a CSV, in its own process: node bench/csv-subject.mjs <subject> <file> [named labels]
// Prints the figures and their cost as JSON. So many labels also have figures over time, as if thresholds named them.
import { createReadStream, rmSync } from 'node:fs'
import { makeLabel } from './generate.mjs'

export const PERCENTS = [50, 90, 95, 99, 99.9]
const BUILD = new URL('./data/build/results/', import.meta.url)

const SUBJECTS = {
  async loadgate(path, named) {
    const { scanFiles } = await import(new URL('scan-files.js', BUILD))
    return readMeasurements(
      await scanFiles([{ path, grid: 'g', region: 'r', stallLabels: pieces(named) }]),
      named
    )
  },

  /** As while downloading: chunks as they arrive, which are in the file by then. */
  async 'loadgate-stream'(path, named) {
    const { ArrivingScan } = await import(new URL('arriving-scan.js', BUILD))
    const { mergeScans } = await import(new URL('merge.js', BUILD))
    const scan = new ArrivingScan({ path, grid: 'g', region: 'r', stallLabels: pieces(named) })
    for await (const chunk of createReadStream(path)) scan.push(chunk)
    return readMeasurements(mergeScans([await scan.end(path)]), named)
  },

  duckdb: (path) => askDuckdb(duckdbQuery(path)),

  /** As `results` does: what k6 wrote is translated into a file, which is then scanned like any other. */
  async 'loadgate-k6'(path) {
    const { translateFile } = await import(new URL('translate-file.js', BUILD))
    const { scanFiles } = await import(new URL('scan-files.js', BUILD))
    const target = `${path}.${process.pid}.jtl`
    const { signal } = new AbortController()
    try {
      const { facts, refusal } = await translateFile(path, { target, isCopied: false, signal })
      const problems = [...facts.problems, ...(refusal === undefined ? [] : [refusal])]
      if (problems.length > 0) throw new Error(problems.join('\n'))
      return readMeasurements(await scanFiles([{ path: target, grid: 'g', region: 'r' }]), [])
    } finally {
      rmSync(target, { force: true })
    }
  },

  'duckdb-k6': (path) => askDuckdb(duckdbK6Query(path)),

  async 'csv-parse'(path) {
    const { parse } = await import('csv-parse')
    const tally = makeTally()
    for await (const row of createReadStream(path).pipe(parse({ columns: true }))) tally.add(row)
    return tally.figures()
  },

  async papaparse(path) {
    const { default: papa } = await import('papaparse')
    const tally = makeTally()
    const rows = createReadStream(path).pipe(papa.parse(papa.NODE_STREAM_INPUT, { header: true }))
    for await (const row of rows) tally.add(row)
    return tally.figures()
  }
}

async function askDuckdb(query) {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const reader = await connection.runAndReadAll(query)
  return reader.getRowsJson().map(([label, samples, failures, meanMs, minMs, maxMs, percentiles]) => ({
    ...{ label, samples: Number(samples), failures: Number(failures), meanMs },
    ...{ minMs: Number(minMs), maxMs: Number(maxMs), percentiles: percentiles.map(Number) }
  }))
}

/** The requests, checks and groups of k6, by the labels that loadgate gives them. Only the columns that are needed have types of their own. */
function duckdbK6Query(path) {
  const order =
    'metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,service,status,subproto,tls_version,url,extra_tags,metadata'
  const types = { timestamp: 'BIGINT', metric_value: 'DOUBLE' }
  const columns = order.split(',').map((name) => `'${name}': '${types[name] ?? 'VARCHAR'}'`)
  // A little less: of 14,000 samples DuckDB takes the 13,987th for 0.999, for its product is a little more than 13,986.
  const quantiles = PERCENTS.map((percent) => percent / 100 - 1e-9).join(', ')
  return `with rows as (
    select
      case metric_name when 'http_req_duration' then name when 'checks' then 'check: ' || "check" else 'group: ' || substr("group", 3) end as label,
      case metric_name when 'checks' then 0 else round(metric_value) end::BIGINT as elapsed,
      case metric_name when 'http_req_duration' then expected_response = 'false' when 'checks' then metric_value = 0 else false end as failed
    from read_csv('${path}', header = true, delim = ',', quote = '"', escape = '"', columns = {${columns.join(', ')}})
    where metric_name in ('http_req_duration', 'checks', 'group_duration'))
    select label, count(*), count(*) filter (failed), avg(elapsed), min(elapsed), max(elapsed), quantile_disc(elapsed, [${quantiles}])
    from rows group by label`
}

/** With explicit types, which saves DuckDB the guessing. */
function duckdbQuery(path) {
  const texts = [
    'label',
    'responseCode',
    'responseMessage',
    'threadName',
    'dataType',
    'failureMessage',
    'URL'
  ]
  const numbers = ['bytes', 'sentBytes', 'grpThreads', 'allThreads', 'Latency', 'IdleTime', 'Connect']
  const types = { timeStamp: 'BIGINT', elapsed: 'INTEGER', success: 'BOOLEAN' }
  const order =
    'timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect'
  for (const name of texts) types[name] = 'VARCHAR'
  for (const name of numbers) types[name] = 'BIGINT'
  const columns = order.split(',').map((name) => `'${name}': '${types[name]}'`)
  const quantiles = PERCENTS.map((percent) => percent / 100).join(', ')
  return `select label, count(*), count(*) filter (not success), avg(elapsed), min(elapsed), max(elapsed),
    quantile_disc(elapsed, [${quantiles}])
    from read_csv('${path}', header = true, delim = ',', quote = '"', escape = '"', columns = {${columns.join(', ')}})
    group by label`
}

/** As thresholds name them: the text between the `*`, of which there is none here. */
function pieces(named) {
  return named.map((label) => [label])
}

function readMeasurements(measured, named) {
  const problems = measured.sources.flatMap((source) => source.problems)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  for (const scope of [{}, ...named.map((label) => ({ label }))]) {
    const found = measured.figures(scope)?.overTime()
    if (typeof found !== 'object') throw new Error(`No figure over time: ${found}`)
  }
  return measured.labels.map((label) => {
    const { samples, failures, meanMs, minMs, maxMs, ...figures } = measured.figures({ label })
    const percentiles = PERCENTS.map((percent) => figures.percentileMs(percent))
    return { label, samples, failures, meanMs, minMs, maxMs, percentiles }
  })
}

/** The usual code around a parser: a list of times per label, sorted at the end. */
function makeTally() {
  const labels = new Map()
  return {
    add(row) {
      let entry = labels.get(row.label)
      if (entry === undefined) labels.set(row.label, (entry = { failures: 0, times: [] }))
      if (row.success === 'false') entry.failures++
      entry.times.push(Number(row.elapsed))
    },
    figures: () =>
      [...labels]
        .filter(([label]) => label !== undefined)
        .map(([label, { failures, times }]) => {
          const sorted = Float64Array.from(times).sort()
          const rank = (percent) => Math.max(0, Math.ceil((percent * sorted.length) / 100 - 1e-9) - 1)
          return {
            ...{ label, samples: sorted.length, failures, minMs: sorted[0], maxMs: sorted.at(-1) },
            meanMs: sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length,
            percentiles: PERCENTS.map((percent) => sorted[rank(percent)])
          }
        })
  }
}

function unquote(field) {
  return field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field
}

if (process.argv[1] === import.meta.filename) {
  const [, , subject, path, named = '0'] = process.argv
  const labels = Array.from({ length: Number(named) }, (_, index) => unquote(makeLabel(index)))
  const figures = await SUBJECTS[subject](path, labels)
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  console.log(JSON.stringify({ figures, peakMb: maxRSS / 1024, cpuMs: (userCPUTime + systemCPUTime) / 1000 }))
}
