/** Reads records from the database. One that somebody else wrote is logged once, and is no reason to answer nothing at all. */
export function createRecordReader<T extends { readonly id: string }>(
  kind: 'run' | 'grid',
  isRecord: (value: unknown) => value is T,
  log: (line: string) => void
): (row: Record<string, unknown>) => T | undefined {
  const told = new Set<string>()
  return ({ id, record }) => {
    const found = parseRecord(record)
    if (isRecord(found) && found.id === id) return found
    if (!told.has(String(id)))
      log(`the record of ${kind} ${String(id)} was not written by this service, and is ignored`)
    told.add(String(id))
    return undefined
  }
}

export function parseRecord(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return undefined
  }
}
