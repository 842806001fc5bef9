export interface Part {
  readonly name: string
  readonly filename: string | undefined
  readonly content: Buffer
}

type Params = Record<string, unknown>

/** Splits a multipart body as it was on the wire. */
export function splitMultipart(body: Buffer, contentType: string): Part[] {
  const boundary = /boundary=([^;]+)/.exec(contentType)?.[1]
  if (boundary === undefined) throw new Error(`no boundary in ${contentType}`)
  const text = body.toString('latin1')
  return text
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((raw) => {
      const end = raw.indexOf('\r\n\r\n')
      const headers = raw.slice(2, end)
      return {
        name: /name="([^"]*)"/.exec(headers)?.[1] ?? '',
        filename: /filename="([^"]*)"/.exec(headers)?.[1],
        content: Buffer.from(raw.slice(end + 4, -2), 'latin1')
      }
    })
}

/** Nests `a[b][][c]` names by Rack's rule: a hash that lacks the key takes it, otherwise a new element is started. */
export function nestParams(parts: readonly Part[]): Params {
  const params: Params = {}
  for (const part of parts) {
    const value = part.filename === undefined ? part.content.toString('utf8') : part
    const [root = '', ...keys] = part.name.replace(/\]/g, '').split('[')
    store(params, [root, ...keys], value)
  }
  return params
}

function store(target: Params, [key = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) {
    target[key] = value
    return
  }
  if (rest[0] !== '') {
    store((target[key] ??= {}) as Params, rest, value)
    return
  }
  const list = (target[key] ??= []) as unknown[]
  const inner = rest.slice(1)
  const [innerKey] = inner
  if (innerKey === undefined) {
    list.push(value)
    return
  }
  const last = list.at(-1) as Params | undefined
  if (last !== undefined && !(innerKey in last)) store(last, inner, value)
  else {
    const fresh: Params = {}
    list.push(fresh)
    store(fresh, inner, value)
  }
}
