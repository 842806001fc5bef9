/** Reads CSV with a header line into one object per line; quoted fields may contain the separator, quotes and line ends. */
export function parseCsv(text: string, separator = ','): Record<string, string>[] {
  const [header, ...lines] = splitFields(text.replace(/^\uFEFF/, ''), separator)
  const names = (header ?? []).map((name) => name.trim())
  return lines.map((fields) => Object.fromEntries(names.map((name, index) => [name, fields[index] ?? ''])))
}

function splitFields(text: string, separator: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let field = ''
  let isQuoted = false
  const endField = (): void => {
    row.push(field)
    field = ''
  }
  const endRow = (): void => {
    endField()
    // An empty line is not a row.
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
  }
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (isQuoted && character === '"' && text[at + 1] === '"') field += text.charAt(at++)
    else if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && character === separator) endField()
    else if (!isQuoted && character === '\n') endRow()
    else if (isQuoted || character !== '\r') field += character
  }
  endRow()
  return rows
}
