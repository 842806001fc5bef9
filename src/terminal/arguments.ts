import { parseArgs } from 'node:util'

/** A mistake on the command line; the message says what is accepted. */
export class UsageError extends Error {
  override name = 'UsageError'
}

export interface Flag {
  readonly name: string
  /** What the value is, for the help; undefined for a flag that takes none. */
  readonly value?: string
  readonly about: string
}

export interface Arguments {
  readonly words: readonly string[]
  /** Flags given several times are joined by line breaks, as in the inputs of the action. */
  text(name: string): string
  has(name: string): boolean
}

/** Reads the words and flags behind a command. */
export function readArguments(args: readonly string[], flags: readonly Flag[]): Arguments {
  const refused = args.find((arg) => /^--(token|github-token)(=|$)/.test(arg))
  if (refused !== undefined)
    throw new UsageError(
      'The token is not taken from a flag, which every process list would show; set LOADGATE_TOKEN.'
    )
  const options = Object.fromEntries(
    flags.map(({ name, value }) => [
      name,
      value === undefined ? { type: 'boolean' as const } : { type: 'string' as const, multiple: true }
    ])
  )
  try {
    const { values, positionals } = parseArgs({
      args: joinValues(args, flags),
      options,
      allowPositionals: true
    })
    const given = values as Record<string, boolean | string[] | undefined>
    return {
      words: positionals,
      text: (name) => [given[name] ?? []].flat().join('\n').trim(),
      has: (name) => given[name] !== undefined
    }
  } catch (thrown) {
    throw new UsageError(thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : String(thrown), {
      cause: thrown
    })
  }
}

/** A value may start with a dash, as JMeter's parameters do; parseArgs takes those only behind an equals sign. */
function joinValues(args: readonly string[], flags: readonly Flag[]): string[] {
  const joined: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    const value = args[at + 1]
    const takesValue = flags.some(({ name, value: kind }) => kind !== undefined && arg === `--${name}`)
    if (takesValue && value !== undefined) {
      joined.push(`${arg}=${value}`)
      at++
    } else joined.push(arg)
  }
  return joined
}
