import { constants, type Stats } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { createGunzip, type Gunzip } from 'node:zlib'
import {
  BEGINNING_BYTES,
  recognise,
  type Format,
  type Recognised
} from '../../analysis/results/formats/recognise.js'
import type { TranslationFacts } from '../../analysis/results/formats/translation.js'
import { count, messageOf } from '../../contract/text.js'

/** What a result file of any tool has become. */
export interface TranslatedFile {
  /** Undefined if that is not known. */
  readonly format: Format | undefined
  /** A CSV that figures can be made from; undefined if there is none. */
  readonly path: string | undefined
  /** The size of the given file. */
  readonly bytes: number
  /** Why the file has no samples, after its name: "is empty". */
  readonly refusal: string | undefined
  readonly facts: TranslationFacts
  /** Its last row has no line break: it may have been cut within that row. */
  readonly isUnended: boolean
  /** How it was when it was opened, to see later whether it has changed. */
  readonly seen: Seen
}

type Seen = Pick<Stats, 'size' | 'mtimeMs' | 'ino'>

interface Options {
  /** Where to write the CSV. */
  readonly target: string
  /** Also writes a CSV that could be read where it is. */
  readonly isCopied: boolean
  readonly signal: AbortSignal
  /** What a gzip may unpack to. */
  readonly mostUnpackedBytes?: number
}

const CHUNK_BYTES = 1024 * 1024
const GZIP = [0x1f, 0x8b]
const LINE_FEED = 10
/** More than any load test writes; a small file may unpack to a thousand times its size. */
const MOST_UNPACKED_BYTES = 64 * 1024 ** 3
const NO_FACTS: TranslationFacts = { problems: [], losses: [], notes: [] }

/** Reads a file once, however large, and writes its samples as a CSV in the columns of JMeter. */
export async function translateFile(path: string, options: Options): Promise<TranslatedFile> {
  // A pipe would block until something is written to it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const seen = await file.stat()
    const result = { ...NOTHING, bytes: seen.size, seen }
    if (!seen.isFile()) return { ...result, refusal: 'is not a regular file' }
    const { signal, mostUnpackedBytes = MOST_UNPACKED_BYTES } = options
    const source = new Source(file, { path, fileBytes: seen.size, signal, mostUnpackedBytes })
    try {
      const isZipped = await source.open()
      const format = recognise(source.beginning, source.isAll)
      if (format.kind === 'refused') return { ...result, refusal: describeRefusal(format.reason, source) }
      const isInPlace = format.kind === 'as it is' && !isZipped && !options.isCopied
      const written = isInPlace
        ? { path, facts: NO_FACTS }
        : await write(source, format, { ...options, path, writtenMs: seen.mtimeMs })
      const lastByte = isInPlace ? await readLastByte(file, seen.size) : source.lastByte
      const isUnended = format.form !== 'XML' && lastByte !== LINE_FEED
      return { ...result, ...written, format, isUnended, refusal: undefined }
    } finally {
      source.close()
    }
  } finally {
    await file.close()
  }
}

const NOTHING = { format: undefined, path: undefined, facts: NO_FACTS, isUnended: false }

async function readLastByte(file: FileHandle, size: number): Promise<number | undefined> {
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1))
  return buffer[0]
}

function describeRefusal(reason: string, { problem }: Source): string {
  return problem === undefined ? reason : `cannot be unpacked: ${problem}`
}

/** Whether something was written to the file since it was opened, or another one has its place. */
export async function hasChanged(path: string, { size, mtimeMs, ino }: Seen): Promise<boolean> {
  const now = await stat(path).catch(() => undefined)
  return now?.size !== size || now.mtimeMs !== mtimeMs || now.ino !== ino
}

async function write(
  source: Source,
  format: Exclude<Recognised, { kind: 'refused' }>,
  { path, target, writtenMs }: Options & { readonly path: string; readonly writtenMs: number }
) {
  const out = await open(target, 'w')
  let written = Promise.resolve()
  /** Returns while the bytes are being written. */
  const put = async (bytes: string | Uint8Array): Promise<void> => {
    if (bytes.length === 0) return
    await written
    written = out.appendFile(bytes)
    // Its failure is thrown to the code that waits for it.
    written.catch(() => undefined)
  }
  try {
    const translation = format.kind === 'as it is' ? undefined : format.open(writtenMs)
    if (translation !== undefined) await put(translation.header)
    for await (const chunk of source.chunks()) {
      await put(translation?.push(chunk) ?? chunk)
      if (translation === undefined) await written
    }
    if (translation !== undefined) await put(translation.end())
    await written
    const facts = withProblem(translation?.facts ?? NO_FACTS, source)
    return { path: target, facts }
  } catch (thrown) {
    await written.catch(() => undefined)
    // Reporting the failure needs space too.
    await out.truncate(0).catch(() => undefined)
    throw isOfSpace(thrown)
      ? new Error(
          `There is not enough space to write the samples of ${path} to ${target}: ${messageOf(thrown)}. Free some, and judge the file again.`,
          { cause: thrown }
        )
      : thrown
  } finally {
    await written.catch(() => undefined)
    await out.close()
  }
}

/** A full disk, a quota, or a limit on the size of files. */
function isOfSpace(thrown: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((thrown as NodeJS.ErrnoException).code ?? '')
}

function withProblem(facts: TranslationFacts, { problem }: Source): TranslationFacts {
  return problem === undefined
    ? facts
    : { ...facts, problems: [`it cannot be unpacked to its end: ${problem}`, ...facts.problems] }
}

/** Reads the next bytes while the last ones are worked on. */
async function* readAhead(file: FileHandle): AsyncGenerator<Buffer> {
  let [buffer, other] = [Buffer.alloc(CHUNK_BYTES), Buffer.alloc(CHUNK_BYTES)]
  let position = 0
  let reading = file.read(buffer, 0, CHUNK_BYTES, position)
  for (;;) {
    const { bytesRead } = await reading
    if (bytesRead === 0) return
    position += bytesRead
    reading = file.read(other, 0, CHUNK_BYTES, position)
    // Asking for more is an error.
    reading.catch(() => undefined)
    yield buffer.subarray(0, bytesRead)
    ;[buffer, other] = [other, buffer]
  }
}

interface SourceOptions extends Required<Pick<Options, 'signal' | 'mostUnpackedBytes'>> {
  readonly path: string
  readonly fileBytes: number
}

/** The bytes of a file, unpacked if it is a gzip, from the beginning, which shows its format. */
class Source {
  beginning = Buffer.alloc(0)
  /** Nothing follows the beginning. */
  isAll = false
  /** Why there may be more than could be unpacked. */
  problem: string | undefined
  /** The last of those that were read so far. */
  lastByte: number | undefined
  readonly #file: FileHandle
  readonly #options: SourceOptions
  #streams: Readable[] = []
  #unzip: Gunzip | undefined
  #unpackedBytes = 0
  #bytes: AsyncIterator<Buffer> | undefined

  constructor(file: FileHandle, options: SourceOptions) {
    this.#file = file
    this.#options = options
  }

  /** Returns whether it is a gzip. */
  async open(): Promise<boolean> {
    const { buffer } = await this.#file.read(Buffer.alloc(GZIP.length), 0, GZIP.length, 0)
    const isZipped = GZIP.every((byte, i) => buffer[i] === byte)
    this.#bytes = isZipped ? this.#unpack() : readAhead(this.#file)
    while (this.beginning.length < BEGINNING_BYTES && !this.isAll) {
      const chunk = await this.#next()
      if (chunk === undefined) this.isAll = true
      else this.beginning = Buffer.concat([this.beginning, chunk])
    }
    return isZipped
  }

  #unpack(): AsyncIterator<Buffer> {
    const raw = this.#file.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES })
    const unzip = createGunzip({ chunkSize: CHUNK_BYTES })
    raw.on('error', (error) => unzip.destroy(error))
    this.#unzip = raw.pipe(unzip)
    this.#streams = [raw, unzip]
    return unzip[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  }

  /** Each is good until the next one is asked for. */
  async *chunks(): AsyncGenerator<Buffer> {
    yield this.beginning
    if (this.isAll) return
    for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next()) yield chunk
  }

  close(): void {
    for (const stream of this.#streams) stream.destroy()
  }

  /** A broken gzip ends it and is reported; any other failure is thrown. */
  async #next(): Promise<Buffer | undefined> {
    this.#options.signal.throwIfAborted()
    try {
      const next = await this.#bytes?.next()
      if (next?.done === false) return this.#count(next.value)
    } catch (thrown) {
      const { code = '' } = thrown as NodeJS.ErrnoException
      if (!/^(?:Z_|ERR_)/.test(code)) throw thrown
      this.problem = messageOf(thrown)
      return undefined
    }
    // Zeros are taken for padding, and whatever is behind them with them.
    const rest = this.#unzip === undefined ? 0 : this.#options.fileBytes - this.#unzip.bytesWritten
    if (rest > 0) this.problem = `${count(rest, 'byte')} that are not gzip follow`
    return undefined
  }

  #count(chunk: Buffer): Buffer {
    const { path, mostUnpackedBytes } = this.#options
    this.lastByte = chunk.at(-1) ?? this.lastByte
    this.#unpackedBytes += chunk.length
    if (this.#unzip !== undefined && this.#unpackedBytes > mostUnpackedBytes)
      throw new Error(
        `${path} unpacks to more than ${Math.round(mostUnpackedBytes / 1024 ** 3)} GiB, which is the most that is read. Check what wrote it, or split it.`
      )
    return chunk
  }
}
