import type { Arguments } from './arguments.js'

export interface Stream {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

export interface Screen {
  readonly out: Stream
  readonly err: Stream
}

/** Untrusted text must not move the cursor, change colours, or look like another line. */
export function plain(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, ' ')
}

/** JSON for a terminal or a file: what `plain` removes is escaped here, and means the same. */
export function safeJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2)
  return `${text.replace(/[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`
}

/** There is no runner to mask secrets, so they are redacted before they are shown. */
export function strikeOut(text: string, secrets: readonly string[]): string {
  return secrets.reduce((struck, secret) => (secret === '' ? struck : struck.replaceAll(secret, '***')), text)
}

/** What was sent to the service. */
interface Secrets {
  readonly token: string
  readonly idTokens?: { readonly seen: Iterable<string> } | undefined
}

export function secretsOf({ token, idTokens }: Secrets): string[] {
  return [token, ...(idTokens?.seen ?? [])]
}

/** Prints the result of a command on standard output: the document with `--json`, else the words. */
export function say(
  ports: Secrets & { readonly screen: Screen },
  args: Arguments,
  document: unknown,
  words: () => string
): void {
  const text = args.has('json') ? safeJson(document) : `${plain(words())}\n`
  ports.screen.out.write(strikeOut(text, secretsOf(ports)))
}

interface TableOptions {
  /** Aligns every column but the first one to the right. */
  readonly areNumbers?: boolean
  /** The width to fit into; undefined where lines may be of any length. */
  readonly width?: number | undefined
  /** The columns that can be shortened for that, in this order. */
  readonly long?: readonly number[]
}

/** How wide lines may be; undefined where nobody looks at them in a window. */
export function widthOf({ isTTY, columns = 0 }: Stream): number | undefined {
  // Some terminals do not know their width and report 0.
  return isTTY && columns > 0 ? columns : undefined
}

export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { areNumbers = false, width, long = [] }: TableOptions = {}
): string {
  const all = [headings, ...rows].map((row) => row.map((cell) => plain(cell).replace(/\s+/g, ' ')))
  const widths = headings.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  if (width !== undefined) fitInto(width, widths, long)
  return all
    .map((row) =>
      row
        .map((cell, column) => {
          const wide = widths[column] ?? 0
          const shown = shortenMiddle(cell, wide)
          return areNumbers && column > 0 ? shown.padStart(wide) : shown.padEnd(wide)
        })
        .join(GAP)
        .trimEnd()
    )
    .join('\n')
}

const GAP = '  '
/** Less than this says nothing. */
const LEAST_CELL = 12

function fitInto(width: number, widths: number[], long: readonly number[]): void {
  for (const column of long) {
    const whole = widths.reduce((sum, wide) => sum + wide, 0) + GAP.length * (widths.length - 1)
    const wide = widths[column] ?? 0
    if (whole > width) widths[column] = Math.min(wide, Math.max(LEAST_CELL, wide - (whole - width)))
  }
}

/** Names that are long often differ at their end only. */
export function shortenMiddle(text: string, most: number): string {
  if (text.length <= most) return text
  const end = Math.floor((most - 1) / 2)
  return `${text.slice(0, most - 1 - end)}…${text.slice(text.length - end)}`
}
