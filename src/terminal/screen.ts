/** An output stream. */
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

/** Columns as wide as their widest cell. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows].map((row) => row.map((cell) => plain(cell).replace(/\s+/g, ' ')))
  const widths = headings.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()
    )
    .join('\n')
}

/** Why samples failed, followed by a blank line; nothing if none did. */
export function errorTable(errors: readonly (readonly string[])[]): string[] {
  return errors.length === 0 ? [] : [table(['failed', 'code', 'message', 'label'], errors), '']
}
