import { parseArgs } from 'node:util'
import { suggestName } from '../contract/nearest.js'
import type { Parsed } from '../contract/setting-values.js'

/** A mistake on the command line; the message says what is accepted. */
export class UsageError extends Error {
  override name = 'UsageError'
}

const HELP = ['--help', '-h']

export interface Flag {
  readonly name: string
  /** The value's name for the help; undefined for a flag without a value. */
  readonly value?: string
  /** The separator for the values of a repeatable flag; undefined for a flag that may only be given once. */
  readonly joint?: string
  readonly about: string
  /** The heading in the help; none for a short list. */
  readonly group?: string
}

/** Flags as the help spells them, `'files <path>…'`, with what it says about each; `…` may be repeated, a line for each value. */
export function flagsOf(spelled: Readonly<Record<string, string>>, group?: string): Flag[] {
  return Object.entries(spelled).map(([spelling, about]) => {
    const [, name = '', value, repeated] = /^([a-z-]+)(?: <(.+)>(…)?)?$/.exec(spelling) ?? []
    return { name, about, ...(value && { value }), ...(repeated && { joint: '\n' }), ...(group && { group }) }
  })
}

export type Arguments = ReturnType<typeof readArguments>

export function readArguments(args: readonly string[], flags: readonly Flag[]) {
  if (args.some((arg) => /^--(token|github-token)(=|$)/.test(arg)))
    throw new UsageError('A flag would show the token in every process list; set LOADGATE_TOKEN instead.')
  const words: string[] = []
  const given = new Map<string, string[]>()
  for (const token of split(args, flags)) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const flag = findFlag(nameOf(args[token.index] ?? ''), flags)
    const values = given.get(flag.name) ?? []
    given.set(flag.name, flag.value === undefined ? [] : [...values, takeValue(flag, token, flags)])
    if (flag.value === undefined && token.value !== undefined)
      throw new UsageError(`--${flag.name} does not take an argument`)
  }
  for (const { name, joint } of flags) {
    const count = given.get(name)?.length ?? 0
    if (count > 1 && joint === undefined)
      throw new UsageError(`--${name} is given ${count} times; give it once`)
  }
  const joints = new Map(flags.map(({ name, joint }) => [name, joint]))
  return {
    words,
    flags: [...given.keys()],
    text: (name: string) => (given.get(name) ?? []).join(joints.get(name)).trim(),
    has: (name: string) => given.has(name)
  }
}

/** The value of a flag that accepts certain texts; undefined if it is not given. */
export function valueOf<T>(args: Arguments, name: string, parse: (text: string) => Parsed<T>): T | undefined {
  const text = args.text(name)
  if (text === '') return undefined
  const parsed = parse(text)
  if (parsed.ok) return parsed.value
  throw new UsageError(`--${name}: "${text}" is invalid; expected ${parsed.accepted}`)
}

/** Whether help is requested where a flag may be: not as the value of one, and not after `--`. A mistake beside it is refused: help exits with 0. */
export function asksForHelp(args: readonly string[], flags: readonly Flag[]): boolean {
  // As typed: parseArgs finds an -h in `-Jhost=x`.
  const given = split(args, flags).flatMap(({ kind, index }) =>
    kind === 'option' ? (args[index] ?? '') : []
  )
  if (!given.some((arg) => HELP.includes(arg))) return false
  for (const arg of given) if (!HELP.includes(arg)) findFlag(nameOf(arg), flags)
  return true
}

function nameOf(arg: string): string {
  return arg.replace(/=.*$/s, '')
}

type Tokens = NonNullable<ReturnType<typeof parseArgs<{ tokens: true; strict: false }>>['tokens']>

/** A value may start with a dash, as JMeter's parameters do, which parseArgs does not accept when it is strict. */
function split(args: readonly string[], flags: readonly Flag[]): Tokens {
  const options = Object.fromEntries(
    flags.map(({ name, value }) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) }
    ])
  )
  return parseArgs({ args: [...args], options, strict: false, tokens: true }).tokens
}

function findFlag(given: string, flags: readonly Flag[]): Flag {
  const flag = flags.find(({ name }) => given === `--${name}`)
  if (flag !== undefined) return flag
  const names = flags.map(({ name }) => `--${name}`)
  const meant = suggestName(given, names)
  throw new UsageError(
    `there is no flag ${given} here; ${meant === undefined ? '--help lists them' : `did you mean ${meant}?`}`
  )
}

/** A flag as a value means that the value is missing; an unset variable must not turn a gate into a report, or an address into `local`. */
function takeValue(
  { name, value: what = '' }: Flag,
  { value, inlineValue }: { value?: string | undefined; inlineValue?: boolean | undefined },
  flags: readonly Flag[]
): string {
  const usage = `--${name} needs a value: --${name} <${what}>`
  const isFlag = flags.some((flag) => value === `--${flag.name}` || value?.startsWith(`--${flag.name}=`))
  if (value === undefined || (isFlag && !inlineValue)) throw new UsageError(usage)
  if (HELP.includes(value) && !inlineValue)
    throw new UsageError(`${usage}, or --${name}=${value} if that is the value`)
  if (value.trim() === '')
    throw new UsageError(
      `--${name} is empty; give a value, or leave the flag out. Does it come from a variable that is not set?`
    )
  return value
}
