import type { Flag } from './arguments.js'

export interface HelpText {
  /** As typed, for example `grid create`. */
  readonly name: string
  readonly operands: string
  readonly about: string
  /** The flags of all its forms, each once. */
  readonly flags: readonly Flag[]
  readonly forms: readonly FormText[]
}

export interface FormText {
  /** As typed, for example `run <id>`. */
  readonly usage: string
  /** Those that have an effect here. */
  readonly flags: readonly Flag[]
}

const WIDTH = 100
const INDENT = '  '

export function renderOverview(commands: readonly HelpText[]): string {
  const width = Math.max(...commands.map(({ name, operands }) => `${name} ${operands}`.length))
  const lines = commands.map(
    ({ name, operands, about }) => `${INDENT}${`${name} ${operands}`.trim().padEnd(width)}  ${about}`
  )
  return `loadgate: a performance gate

${lines.join('\n')}

\`loadgate <command> --help\` lists its flags. The API token comes from LOADGATE_TOKEN,
or an ID token from the file that LOADGATE_ID_TOKEN_FILE names; the address of the service
from --base-url or LOADGATE_BASE_URL.
Exit codes: 0 passed, 1 failed, 2 inconclusive, timed out or an error, 130 cancelled.
`
}

/** A command's flags, under their headings if they have any. */
export function renderHelp({ name, operands, about, flags, forms }: HelpText): string {
  const width = Math.max(...flags.map((flag) => spell(flag).length))
  const groups = [...new Set(flags.map(({ group }) => group))]
  const sections = groups.map((group) =>
    [
      ...(group === undefined ? [] : [group]),
      ...flags.filter((flag) => flag.group === group).flatMap((flag) => describeFlag(flag, width))
    ].join('\n')
  )
  const partial = forms.filter((form) => form.flags.length < flags.length).map(describeForm)
  return [
    `loadgate ${name} ${operands}`.trim() + `: ${about}`,
    ...sections,
    ...(partial.length > 0 ? [partial.join('\n')] : [])
  ]
    .join('\n\n')
    .concat('\n')
}

function spell({ name, value }: Flag): string {
  return value === undefined ? `--${name}` : `--${name} <${value}>`
}

function describeFlag(flag: Flag, width: number): string[] {
  const [first = '', ...others] = wrap(flag.about, WIDTH - INDENT.length - width - 2)
  return [
    `${INDENT}${spell(flag).padEnd(width)}  ${first}`,
    ...others.map((line) => `${INDENT}${' '.repeat(width)}  ${line}`)
  ]
}

function describeForm({ usage, flags }: FormText): string {
  return `\`loadgate ${usage}\` takes ${flags.map(({ name }) => `--${name}`).join(', ')}.`
}

/** Wraps text at single spaces; a word longer than a line gets its own line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/(?<=\S) (?=\S)/)) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word.trim())
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
