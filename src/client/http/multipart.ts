import { randomBytes } from 'node:crypto'
import { open as openFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { UploadError } from '../errors.js'
import type { Upload } from './failures.js'

export interface Field {
  readonly name: string
  readonly value: string
}

interface FileField {
  readonly name: string
  readonly path: string
}

const CRLF = '\r\n'

/** A multipart body that streams its files from disk, with a known length; memory use does not grow with the files. */
export async function multipartOf(
  operation: string,
  fields: readonly Field[],
  files: readonly FileField[]
): Promise<Upload> {
  const boundary = `loadgate-${randomBytes(18).toString('hex')}`
  const sized = await Promise.all(
    files.map(async (file) => {
      const { size } = await stat(file.path).catch(unreadable(operation, file))
      return { ...file, bytes: size, header: Buffer.from(fileHeader(boundary, file)) }
    })
  )
  const opening = Buffer.from(fields.map((field) => fieldPart(boundary, field)).join(''))
  const closing = Buffer.from(`--${boundary}--${CRLF}`)
  const bytesOf = ({ header, bytes }: (typeof sized)[number]): number => header.length + bytes + CRLF.length
  const length = opening.length + closing.length + sized.reduce((sum, file) => sum + bytesOf(file), 0)

  async function* open(): AsyncGenerator<Uint8Array> {
    yield opening
    for (const file of sized) {
      yield file.header
      yield* readExactly(operation, file)
      yield Buffer.from(CRLF)
    }
    yield closing
  }
  return { contentType: `multipart/form-data; boundary=${boundary}`, length, open }
}

function fieldPart(boundary: string, { name, value }: Field): string {
  return `--${boundary}${CRLF}Content-Disposition: form-data; name="${escapeName(name)}"${CRLF}${CRLF}${value}${CRLF}`
}

function fileHeader(boundary: string, { name, path }: FileField): string {
  const disposition = `form-data; name="${escapeName(name)}"; filename="${escapeName(basename(path))}"`
  return `--${boundary}${CRLF}Content-Disposition: ${disposition}${CRLF}Content-Type: application/octet-stream${CRLF}${CRLF}`
}

/** As browsers do it: a name cannot end its quotes or its line. */
function escapeName(name: string): string {
  return name.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22')
}

/** The length is already announced, so a file that has changed meanwhile is an error, not a shorter body. */
async function* readExactly(
  operation: string,
  file: FileField & { bytes: number }
): AsyncGenerator<Uint8Array> {
  let left = file.bytes
  const handle = await openFile(file.path).catch(unreadable(operation, file))
  for await (const chunk of handle.createReadStream({ highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    left -= chunk.length
    if (left < 0) break
    yield chunk
  }
  if (left !== 0)
    throw new UploadError(operation, `${basename(file.path)} changed size while it was being uploaded`)
}

function unreadable(operation: string, { path }: FileField): (cause: unknown) => never {
  return (cause) => {
    throw new UploadError(operation, `${basename(path)} could not be read`, { cause })
  }
}
