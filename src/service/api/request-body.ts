import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Multipart, MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { RequestError } from '../errors.js'
import type { FileRecord } from '../../contract/records.js'
import { createId } from '../store/data-folder.js'
import { messageOf } from '../../contract/text.js'
import { nestParams, paramsFromJson, type Params } from './nested-params.js'

/** A form's fields in order, as the content type parser leaves them in the request. */
export class FormFields {
  constructor(readonly fields: readonly (readonly [string, string])[]) {}
}

interface Files {
  readonly fileField: string
  readonly uploadDir: string
  readonly maxBytes: number
  /** Throws if the caller may not upload these bytes. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

/** What a request may have besides files, in whatever form; what a run needs is far below it. */
export const MAX_FIELDS_BYTES = 1024 ** 2

/** Reads the parameters of a request: JSON, a form, or a multipart form, whose files are streamed to the folder if there is one. */
export async function readBody(request: FastifyRequest, wanted?: Files) {
  if (!request.isMultipart()) return { params: paramsOf(request.body), files: [] }
  if (wanted && Number(request.headers['content-length'] ?? 0) > wanted.maxBytes)
    throw tooLarge(wanted.maxBytes)
  const fields: (readonly [string, string])[] = []
  const files: FileRecord[] = []
  let roomBytes = wanted?.maxBytes ?? 0
  let fieldBytes = 0
  for await (const part of readParts(request)) {
    if (part.type === 'field') {
      const [name, value] = readField(part)
      fieldBytes += Buffer.byteLength(name) + Buffer.byteLength(value)
      if (fieldBytes > MAX_FIELDS_BYTES)
        throw new RequestError(413, `the fields of the form have more than ${MAX_FIELDS_BYTES} bytes in all`)
      fields.push([name, value])
    } else if (!wanted || !isWanted(part, wanted.fileField)) part.file.resume()
    else {
      const name = checkName(part.filename, files)
      roomBytes -= await save(part, { ...wanted, name, roomBytes })
      files.push({ uuid: createId(), name })
    }
  }
  request.checkAgain()
  return { params: nestParams(fields), files }
}

function paramsOf(body: unknown): Params {
  if (body instanceof FormFields) return nestParams(body.fields)
  return paramsFromJson(body ?? {})
}

function readField(part: Exclude<Multipart, MultipartFile>): readonly [string, string] {
  // The parser's types promise a name; a client may omit it.
  if (typeof (part.fieldname as unknown) !== 'string')
    throw new RequestError(400, 'a part of the multipart form has no name')
  if (part.valueTruncated || part.fieldnameTruncated) {
    throw new RequestError(413, `the field ${part.fieldname.slice(0, 100)} is too long`)
  }
  // The parser has already parsed a field with a JSON content type.
  return [part.fieldname, typeof part.value === 'string' ? part.value : JSON.stringify(part.value)]
}

/** Rack ignores a part with an empty file name: a form sends one if no file was chosen. */
function isWanted(part: MultipartFile, fileField: string): boolean {
  return (part.fieldname === fileField || part.fieldname === `${fileField}[]`) && part.filename !== ''
}

/** Only the base name, and only if it is valid: the name becomes a path. */
function checkName(sent: string, files: readonly FileRecord[]): string {
  const name = sent.split(/[/\\]/).at(-1) ?? ''
  const isUsable = !['', '.', '..'].includes(name) && !/\p{Cc}/u.test(name) && Buffer.byteLength(name) <= 200
  if (!isUsable)
    throw new RequestError(422, `${JSON.stringify(name.slice(0, 100))} is not a usable file name`)
  if (files.some((file) => file.name === name))
    throw new RequestError(422, `there are two files named ${name}`)
  return name
}

async function save(
  part: MultipartFile,
  { uploadDir, name, roomBytes, maxBytes, onBytes }: Files & { name: string; roomBytes: number }
): Promise<number> {
  let bytes = 0
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      try {
        if (bytes > roomBytes) throw tooLarge(maxBytes)
        onBytes?.(chunk.length)
        done(null, chunk)
      } catch (thrown) {
        done(thrown as Error)
      }
    }
  })
  const file = createWriteStream(join(uploadDir, name), { flags: 'wx', mode: 0o600 })
  await pipeline(part.file, count, file).catch((thrown: unknown) => {
    // A disk failure is not the client's mistake.
    const isOurs = thrown instanceof RequestError || (thrown as NodeJS.ErrnoException).syscall !== undefined
    throw isOurs ? thrown : refuseForm(thrown)
  })
  return bytes
}

function tooLarge(maxBytes: number): RequestError {
  return new RequestError(413, `the upload is larger than the limit of ${maxBytes} bytes`)
}

const LOOK_EVERY_MS = 100

/** The parser waits forever at a part whose header has no end: stuck if bytes are left, or the body has ended, and nothing happens. */
async function* readParts(request: FastifyRequest): AsyncGenerator<Multipart> {
  const { raw } = request
  const parts = request.parts()
  let seen = ''
  for (;;) {
    let timer: NodeJS.Timeout | undefined
    const stuck = new Promise<never>((_resolve, reject) => {
      timer = setInterval(() => {
        const now = `${raw.socket.bytesRead} ${raw.readableLength} ${raw.readableEnded}`
        if (now === seen && (raw.readableEnded || raw.readableLength > 0))
          reject(new Error('the header of a part is malformed'))
        seen = now
      }, LOOK_EVERY_MS)
    })
    try {
      const next = await Promise.race([parts.next(), stuck])
      if (next.done === true) return
      clearInterval(timer)
      yield next.value
    } catch (thrown) {
      throw refuseForm(thrown)
    } finally {
      clearInterval(timer)
      seen = ''
    }
  }
}

function refuseForm(thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown
  const { statusCode } = thrown as { statusCode?: number }
  const words = messageOf(thrown)
  return statusCode === 413
    ? new RequestError(413, words)
    : new RequestError(400, `the body is not a valid multipart form: ${words}`)
}
