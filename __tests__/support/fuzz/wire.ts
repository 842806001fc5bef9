import { connect, type Socket } from 'node:net'

/** A request as it goes over the wire: nothing about it has to be valid. */
export interface RawRequest {
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** The body is sent in chunks, without its length. */
  readonly isChunked: boolean
  /** More or fewer bytes than were announced: there may be no reply. */
  readonly isMisleading: boolean
}

export interface RawReply {
  /** 0 if the connection was closed without a reply. */
  readonly status: number
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly text: string
}

/** An endless reply, such as a stream of events, is cut off after this time. */
const LONGEST_STREAM_MS = 150
const LONGEST_MISLED_MS = 300
const LONGEST_REPLY_MS = 15_000

/** One request on a connection of its own. */
export function sendRaw(port: number, request: RawRequest): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1')
    const end = (): void => {
      clearTimeout(cutOff)
      clearTimeout(giveUp)
      socket.destroy()
      try {
        resolve(readReply(Buffer.concat(chunks), request.method))
      } catch (thrown) {
        reject(thrown instanceof Error ? thrown : new Error(String(thrown)))
      }
    }
    let cutOff: NodeJS.Timeout | undefined
    const giveUp = setTimeout(
      () => {
        if (request.isMisleading || chunks.length > 0) end()
        else {
          socket.destroy()
          reject(new Error(`there was no reply for ${LONGEST_REPLY_MS} ms`))
        }
      },
      request.isMisleading ? LONGEST_MISLED_MS : LONGEST_REPLY_MS
    )
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if (chunks.length === 1 && /^content-type: text\/event-stream/im.test(chunk.toString('latin1')))
        cutOff = setTimeout(end, LONGEST_STREAM_MS)
    })
    socket.on('close', end)
    // A server that rejects a request may close before it has read all of it.
    socket.on('error', () => undefined)
    writeRequest(socket, request)
  })
}

function writeRequest(socket: Socket, { method, path, headers, body, isChunked }: RawRequest): void {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines}connection: close\r\n\r\n`, 'latin1')
  if (!isChunked) {
    socket.write(body)
    return
  }
  const middle = Math.ceil(body.length / 2)
  for (const piece of [body.subarray(0, middle), body.subarray(middle)]) {
    if (piece.length === 0) continue
    socket.write(`${piece.length.toString(16)}\r\n`)
    socket.write(piece)
    socket.write('\r\n')
  }
  socket.write('0\r\n\r\n')
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

function readReply(bytes: Buffer, method: string): RawReply {
  if (bytes.subarray(0, CONTINUE.length).toString('latin1') === CONTINUE)
    return readReply(bytes.subarray(CONTINUE.length), method)
  if (bytes.length === 0) return { status: 0, headers: new Map(), text: '' }
  const headEnd = bytes.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? NaN)
  if (headEnd === -1 || Number.isNaN(status))
    throw new Error(`not a reply in HTTP: ${bytes.subarray(0, 200).toString('latin1')}`)
  const headers = new Map<string, string[]>()
  for (const line of lines) {
    const [name = '', ...rest] = line.split(':')
    const key = name.toLowerCase()
    headers.set(key, [...(headers.get(key) ?? []), rest.join(':').trim()])
  }
  // What follows a whole reply is about the rest of a request that was not what it said.
  const length = Number(headers.get('content-length')?.[0] ?? Infinity)
  const rest = bytes.subarray(headEnd + 4)
  const isNext = method === 'HEAD' && rest.subarray(0, 9).toString('latin1') === 'HTTP/1.1 '
  const body = isNext ? Buffer.alloc(0) : rest.subarray(0, method === 'HEAD' ? undefined : length)
  // What cannot be read as HTTP has no method.
  if (method === 'HEAD' && body.length > 0 && ![400, 408, 413, 417, 431].includes(status))
    throw new Error('the reply to HEAD has a body')
  const isChunked = headers.get('transfer-encoding')?.[0] === 'chunked'
  return { status, headers, text: (isChunked ? joinChunks(body) : body).toString('utf8') }
}

/** Of a stream that was cut off, what came. */
function joinChunks(body: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let rest = body; ;) {
    const lineEnd = rest.indexOf('\r\n')
    const length = parseInt(rest.subarray(0, Math.max(0, lineEnd)).toString(), 16)
    if (lineEnd === -1 || !(length > 0)) return Buffer.concat(pieces)
    pieces.push(rest.subarray(lineEnd + 2, lineEnd + 2 + length))
    rest = rest.subarray(lineEnd + 2 + length + 2)
  }
}

/** What a person types to send the same request. */
export function curlLine(url: string, { method, path, headers, body, isChunked }: RawRequest): string {
  const flags = headers
    .filter(([name]) => !['host', 'content-length'].includes(name.toLowerCase()))
    .map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`)
  if (isChunked) flags.push("-H 'transfer-encoding: chunked'")
  const sent = `curl -i -X ${quote(method)} --path-as-is ${flags.join(' ')} ${quote(`${url}${path}`)}`
  if (body.length === 0) return sent
  return `printf ${quote([...body].map(escapeByte).join(''))} | ${sent} --data-binary @-`
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

function escapeByte(byte: number): string {
  const isPlain = byte >= 32 && byte < 127 && byte !== 37 && byte !== 92
  return isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`
}
