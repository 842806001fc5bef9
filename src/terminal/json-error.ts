import { CancelledError, DeadlineError, messageOf } from '../gate/errors.js'
import { SettingsError } from '../gate/settings/settings-error.js'
import { UsageError } from './arguments.js'
import { plain, safeJson, strikeOut } from './screen.js'

/** `usage`: what was typed; `input`: the value of a setting; the others are failures of the command itself. */
type Kind = 'usage' | 'input' | 'timed-out' | 'cancelled' | 'error'

/** Whether a script reads what a command prints, as far as it can be told before the command is known. */
export function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end < 0 ? args.length : end).includes('--json')
}

/** What a command prints with `--json` instead of its result. */
export function describeError(thrown: unknown, secrets: readonly string[]): string {
  const clean = (text: string): string => strikeOut(plain(text), secrets)
  const message = clean(messageOf(thrown))
  const problems = thrown instanceof SettingsError ? thrown.problems.map(clean) : [message]
  return safeJson({ error: { kind: kindOf(thrown), message, problems } })
}

function kindOf(thrown: unknown): Kind {
  if (thrown instanceof SettingsError) return 'input'
  if (thrown instanceof UsageError) return 'usage'
  if (thrown instanceof CancelledError) return 'cancelled'
  return thrown instanceof DeadlineError ? 'timed-out' : 'error'
}
