// The recorded figures of the benches, bench/history.csv: one row per figure and run.
const COLUMNS = [
  ...['date', 'commit', 'machine', 'cores', 'load'],
  ...['bench', 'figure', 'value', 'unit', 'goal', 'outcome']
]
const NUMBERS = ['cores', 'load', 'value']
/** As a share of the cores. Above it, figures show what else the machine does. */
const MOST_LOAD = 1 / 4
/** As a share of the earlier figure. */
const MOST_LOSS = 0.1

export function isBusy({ load, cores }) {
  return load > cores * MOST_LOAD
}

export function formatRows(rows) {
  // The name of a processor may have a comma.
  const line = (row) => COLUMNS.map((name) => String(row[name]).replaceAll(',', ';')).join(',')
  return rows.map((row) => `${line(row)}\n`).join('')
}

export function parseHistory(text) {
  const [head, ...lines] = text.trimEnd().split('\n')
  if (head !== COLUMNS.join(',')) throw new Error(`The history does not begin with ${COLUMNS.join(',')}`)
  return lines.map((line, index) => {
    const fields = line.split(',')
    const row = Object.fromEntries(COLUMNS.map((name, column) => [name, fields[column]]))
    for (const name of NUMBERS) row[name] = Number(row[name])
    const isComplete = fields.length === COLUMNS.length && !fields.includes('')
    if (!isComplete || NUMBERS.some((name) => Number.isNaN(row[name])))
      throw new Error(`Line ${index + 2} of the history is not a recorded figure: ${line}`)
    return row
  })
}

/** The figure in the last quiet run on the same machine, and whether it has become worse by more than 10 % since. */
export function compareWithBefore(row, history) {
  const same = ['machine', 'cores', 'bench', 'figure', 'unit']
  const before = history.findLast(
    (each) => each.date < row.date && !isBusy(each) && same.every((name) => each[name] === row[name])
  )
  if (before === undefined) return undefined
  const gain = row.goal.startsWith('at least') ? row.value - before.value : before.value - row.value
  // Times alone differ by more than that from run to run.
  return { before, isWorse: row.unit !== 'ms' && -gain > MOST_LOSS * before.value }
}

/** Markdown: the last figures of each bench on the machine that recorded last. */
export function describeHistory(history) {
  const last = history.at(-1)
  if (last === undefined) return 'No run is recorded yet.'
  const onMachine = history.filter(({ machine, cores }) => machine === last.machine && cores === last.cores)
  const lastDates = new Map(onMachine.map(({ bench, date }) => [bench, date]))
  const rows = onMachine.filter(({ bench, date }) => lastDates.get(bench) === date)
  const lines = [
    ['Bench', 'Figure', 'Value', 'Goal', '', 'Run before', 'Recorded'],
    ['---', '---', '--:', '---', '---', '--:', '---'],
    ...rows.map((row) => [
      ...[row.bench, row.figure, show(row.value, row), row.goal],
      row.outcome === 'met' ? 'met' : '**missed**',
      describeBefore(row, history),
      `${row.date.slice(0, 10)}, ${row.commit}${isBusy(row) ? `, **busy** (load average ${row.load})` : ''}`
    ])
  ]
  const table = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
  return `On ${last.machine}, ${last.cores} cores:\n\n${table}`
}

function describeBefore(row, history) {
  const found = compareWithBefore(row, history)
  if (found === undefined) return '–'
  return `${show(found.before.value, row)}${found.isWorse ? ': **worse by more than 10 %**' : ''}`
}

function show(value, { unit }) {
  return unit === 'ratio' ? String(value) : `${value} ${unit}`
}
