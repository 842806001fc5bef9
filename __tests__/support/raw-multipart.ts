export interface WirePart {
  /** The lines of the part's header, as they were on the wire. */
  readonly headers: readonly string[]
  readonly name: string
  readonly fileName: string | undefined
  readonly body: Buffer
}

/** Takes a multipart body apart, byte by byte, and accepts nothing that is not exactly as it should be. */
export function readMultipart(contentType: string | undefined, bytes: Buffer): WirePart[] {
  const boundary = /^multipart\/form-data; boundary=(\S+)$/.exec(contentType ?? '')?.[1]
  if (boundary === undefined) throw new Error(`no boundary in ${contentType}`)
  const closing = `--${boundary}--\r\n`
  if (bytes.subarray(-closing.length).toString() !== closing) throw new Error('the body does not end')
  const parts: WirePart[] = []
  let rest = bytes.subarray(0, -closing.length)
  while (rest.length > 0) {
    const opening = `--${boundary}\r\n`
    if (rest.subarray(0, opening.length).toString() !== opening) throw new Error('a part does not begin')
    const headEnd = rest.indexOf('\r\n\r\n')
    const next = rest.indexOf(`\r\n--${boundary}`, headEnd)
    const end = next === -1 ? rest.length - 2 : next
    parts.push(readPart(rest.subarray(opening.length, headEnd).toString(), rest.subarray(headEnd + 4, end)))
    rest = rest.subarray(end + 2)
  }
  return parts
}

function readPart(head: string, body: Buffer): WirePart {
  const headers = head.split('\r\n')
  const disposition = headers.find((line) => line.startsWith('Content-Disposition:')) ?? ''
  const name = /; name="([^"]*)"/.exec(disposition)?.[1] ?? ''
  return { headers, name, fileName: /; filename="([^"]*)"/.exec(disposition)?.[1], body }
}

/** Reads `x[list][][key]` by Rack's rule: a key that the last element has already starts a new element. */
export function readRackList(parts: readonly WirePart[], prefix: string): Record<string, string>[] {
  const elements: Record<string, string>[] = []
  for (const { name, body } of parts) {
    if (!name.startsWith(`${prefix}[][`)) continue
    const key = name.slice(prefix.length + '[]['.length, -1)
    const last = elements.at(-1)
    if (last === undefined || key in last) elements.push({ [key]: body.toString() })
    else last[key] = body.toString()
  }
  return elements
}
