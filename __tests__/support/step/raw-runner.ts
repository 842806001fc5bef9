/** What the runner takes for a command in a step's output, whatever the case of its name. */
export interface RunnerCommand {
  readonly name: string
  readonly data: string
}

/** The white space that the runner trims at a line's start. */
const TRIMMED = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/

/** Reads a step's output as the runner does: line by line, `::command` at the trimmed start, `##[command]` anywhere. */
export function readCommands(output: string): RunnerCommand[] {
  return output.split(/\r\n|\r|\n/).flatMap((line) => readNewForm(line) ?? readOldForm(line) ?? [])
}

function readNewForm(line: string): RunnerCommand | undefined {
  const trimmed = line.replace(TRIMMED, '')
  if (!trimmed.startsWith('::')) return undefined
  const end = trimmed.indexOf('::', 2)
  if (end < 0) return undefined
  const [name = ''] = trimmed.slice(2, end).split(' ')
  return { name: name.toLowerCase(), data: trimmed.slice(end + 2) }
}

function readOldForm(line: string): RunnerCommand | undefined {
  const start = line.indexOf('##[')
  const end = line.indexOf(']', start)
  if (start < 0 || end < 0) return undefined
  const [name = ''] = line.slice(start + 3, end).split(' ')
  return { name: name.toLowerCase(), data: line.slice(end + 1) }
}
