import {
  assemble,
  block,
  call,
  go,
  goIf,
  i32,
  i64,
  i8x16,
  I32,
  I64,
  V128,
  Locals,
  loop,
  when,
  type Code,
  type WasmFunction
} from './wasm-assembler.js'
import { FLAG, RECORD, TRANSACTION_MESSAGE } from './row-record.js'
import type { SampleColumns } from './header.js'

// Ordinary rows are decoded by a function in WebAssembly that is made for the header at hand: it looks at 64 bytes at once, which
// JavaScript cannot. It knows no problems: a row that it does not understand is marked odd and read again by the
// RowSplitter and the SampleReader, which alone decide what a row means.

declare const WebAssembly: {
  validate(bytes: Uint8Array): boolean
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: object }
}

interface Exports {
  readonly decode: (from: number, to: number, limit: number, out: number, outEnd: number) => number
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number }
}

const PAGE = 64 * 1024
/** Page 0: where the kernel says at which address it stopped, the columns' roles, the records. The bytes follow. */
const ROLES_AT = 16
const MAX_COLUMNS = 128
const RECORDS_AT = 4096
const RECORDS_END = RECORDS_AT + Math.floor((PAGE - RECORDS_AT) / (RECORD.size * 4)) * RECORD.size * 4
/** Line breaks behind the bytes, so that no search runs away. */
const SLACK = 192

const LF = 10
const CR = 13
const QUOTE = 34
const ROLE = {
  none: 0,
  timeStamp: 1,
  elapsed: 2,
  label: 3,
  message: 4,
  success: 5,
  threads: 6,
  sampleCount: 7
}

/** Modules by delimiter and roles: the CSVs of a run have one header between them. */
const modules = new Map<string, object | undefined>()

/** Decodes rows of a sample CSV that lie in its own memory. */
export class RowKernel {
  readonly #exports: Exports
  readonly #roles: Uint8Array
  #capacity = 0
  #memory = new Uint8Array(0)
  #ints = new Int32Array(0)

  private constructor(exports: Exports, roles: Uint8Array) {
    this.#exports = exports
    this.#roles = roles
  }

  /** Undefined where WebAssembly with vectors is not to be had, or for a header beyond all measure. */
  static make(layout: { delimiter: number; columns: number; at: SampleColumns }): RowKernel | undefined {
    if (layout.columns > MAX_COLUMNS) return undefined
    const roles = rolesOf(layout.at, layout.columns)
    const key = [layout.delimiter, ...roles].join()
    if (!modules.has(key)) {
      const bytes = makeModule(layout.delimiter, roles)
      modules.set(key, WebAssembly.validate(bytes) ? new WebAssembly.Module(bytes) : undefined)
    }
    const module = modules.get(key)
    if (module === undefined) return undefined
    const { exports } = new WebAssembly.Instance(module)
    return new RowKernel(exports as Exports, roles)
  }

  /** All of the memory, as records address it. */
  get memory(): Uint8Array {
    return this.#memory
  }

  /** Room for so many bytes, with the bytes it held before; what was handed out earlier is void. */
  resize(capacity: number): Uint8Array {
    const { memory } = this.#exports
    const missing = PAGE + capacity + SLACK - memory.buffer.byteLength
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE))
    this.#capacity = capacity
    // Views are made here and kept: a few for every block would be most of the garbage of a scan.
    this.#memory = new Uint8Array(memory.buffer)
    this.#ints = new Int32Array(memory.buffer, 0, RECORDS_END / 4)
    this.#memory.set(this.#roles, ROLES_AT)
    return new Uint8Array(memory.buffer, PAGE, capacity)
  }

  /** Decodes whole rows that begin in `from` to `limit`, at most as many as there is room for, and says where it stopped. */
  decode(from: number, length: number, limit: number): { records: Int32Array; stop: number } {
    this.#memory.fill(LF, PAGE + length, PAGE + length + SLACK)
    const last = PAGE + Math.min(limit, this.#capacity)
    const end = this.#exports.decode(PAGE + from, PAGE + length, last, RECORDS_AT, RECORDS_END)
    return { records: this.#ints.subarray(RECORDS_AT / 4, end / 4), stop: (this.#ints[0] ?? 0) - PAGE }
  }
}

function rolesOf(at: SampleColumns, columns: number): Uint8Array {
  const roles = new Uint8Array(columns)
  const put = (column: number, role: number) => {
    if (column >= 0) roles[column] = role
  }
  put(at.timeStamp, ROLE.timeStamp)
  put(at.elapsed, ROLE.elapsed)
  put(at.label, ROLE.label)
  put(at.responseMessage, ROLE.message)
  put(at.success, ROLE.success)
  put(at.allThreads, ROLE.threads)
  put(at.sampleCount, ROLE.sampleCount)
  return roles
}

const locals = new Locals()
for (const name of ['from', 'to', 'limit', 'out', 'outEnd']) locals.declare(name, I32)
const VARIABLES = [
  ...['base', 'place', 'byte', 'rowStart', 'start', 'column', 'columnRole', 'isOdd', 'isEscaped'],
  ...['fieldStart', 'fieldEnd', 'length', 'flags', 'elapsed', 'timeHigh', 'timeLow', 'threads'],
  ...['labelStart', 'labelEnd', 'labelHash', 'i', 'before']
]
for (const name of VARIABLES) locals.declare(name, I32)
for (const name of ['mask', 'word', 'others']) locals.declare(name, I64)

const get = (name: string) => locals.get(name)
const set = (name: string, value: Code | number) =>
  locals.set(name, typeof value === 'number' ? i32.of(value) : value)
const isByte = (value: number) => i32.eq(get('byte'), i32.of(value))
const markOddIf = (condition: Code) => set('isOdd', i32.or(get('isOdd'), condition))
const plus = (name: string, value: number) => i32.add(get(name), i32.of(value))

function makeModule(delimiter: number, roles: Uint8Array): Uint8Array {
  const columns = roles.length
  const body: Code = [
    ...set('start', get('from')),
    ...lookFrom('from'),
    ...block(
      'done',
      loop(
        'row',
        beginRow(),
        block('general', readPlainRow(delimiter, roles), endRow(columns), go('row')),
        clearRow(),
        lookFrom('rowStart'),
        set('start', get('rowStart')),
        loop(
          'field',
          block('closed', findFieldEnd(delimiter)),
          readField(),
          goIf(isByte(delimiter), 'field')
        ),
        endRow(columns),
        go('row')
      )
    ),
    ...i32.store(i32.of(0), get('rowStart')),
    ...get('out')
  ]
  const decode = { name: 'decode', parameters: 5, result: I32, locals, body }
  return assemble([makeLocate(delimiter), decode], 2)
}

function lookFrom(address: string): Code {
  return [...set('base', get(address)), ...locals.set('mask', locate())]
}

/** Most rows have no quotes: for them the columns follow one another without a question. Any other row is read again in general. */
function readPlainRow(delimiter: number, roles: Uint8Array): Code {
  const last = roles.length - 1
  const readColumn = (role: number, column: number): Code => [
    ...(role === ROLE.none ? [] : set('fieldStart', column === 0 ? get('rowStart') : plus('place', 1))),
    ...advance(),
    ...set('byte', i32.load8(get('place'))),
    ...goIf(i32.ne(get('byte'), i32.of(column === last ? LF : delimiter)), 'general'),
    ...(column === last ? goIf(i32.geU(get('place'), get('to')), 'done') : []),
    ...(role === ROLE.none
      ? []
      : [...set('fieldEnd', get('place')), ...(column === last ? cutCr() : []), ...readRole(role)])
  ]
  return [
    ...set('isEscaped', 0),
    ...Array.from(roles).flatMap(readColumn),
    ...set('start', plus('place', 1)),
    ...set('column', roles.length)
  ]
}

function cutCr(): Code {
  const isCr = i32.eq(i32.load8(plus('place', -1)), i32.of(CR))
  return when(i32.and(i32.gtU(get('place'), get('fieldStart')), isCr), set('fieldEnd', plus('place', -1)))
}

/** One bit for each of the 64 bytes from `base` that is a delimiter, a quote, a line break or another character below it. */
function makeLocate(delimiter: number): WasmFunction {
  const own = new Locals()
  own.declare('base', I32)
  own.declare('bytes', V128)
  const quarter = (offset: number): Code => {
    const bytes = own.tee('bytes', i8x16.load(own.get('base'), offset))
    const isDelimiter = i8x16.eq(bytes, i8x16.splat(delimiter))
    const isQuote = i8x16.eq(own.get('bytes'), i8x16.splat(QUOTE))
    const isLow = i8x16.ltU(own.get('bytes'), i8x16.splat(LF + 1))
    const bits = i8x16.bitmask(i8x16.or(i8x16.or(isDelimiter, isQuote), isLow))
    return i64.shiftLeft(i64.fromU(bits), i64.of(BigInt(offset)))
  }
  const body = [0, 16, 32, 48].map(quarter).reduce((all, next) => i64.or(all, next))
  return { name: 'locate', parameters: 1, result: I64, locals: own, body }
}

/** A call: the search is too long to be repeated at every place that needs it. */
const locate = () => call(0, get('base'))

/** Goes to the next byte that means something. */
function advance(): Code {
  return [
    ...loop(
      'seek',
      when(i64.isZero(get('mask')), [
        ...set('base', plus('base', 64)),
        ...locals.set('mask', locate()),
        ...go('seek')
      ])
    ),
    ...set('place', i32.add(get('base'), i32.wrap(i64.trailingZeros(get('mask'))))),
    ...locals.set('mask', i64.and(get('mask'), i64.sub(get('mask'), i64.of(1n))))
  ]
}

/** The same, but leaves everything when it lies behind the end. */
function nextPlace(): Code {
  return [
    ...advance(),
    ...goIf(i32.geU(get('place'), get('to')), 'done'),
    ...set('byte', i32.load8(get('place')))
  ]
}

function beginRow(): Code {
  return [
    ...set('rowStart', get('start')),
    ...goIf(i32.geU(get('rowStart'), get('limit')), 'done'),
    ...goIf(i32.geU(get('out'), get('outEnd')), 'done'),
    ...clearRow()
  ]
}

function clearRow(): Code {
  const names = [
    'column',
    'isOdd',
    'flags',
    'elapsed',
    'timeHigh',
    'timeLow',
    'labelStart',
    'labelEnd',
    'labelHash'
  ]
  return [...names.flatMap((name) => set(name, 0)), ...set('threads', -1)]
}

/** Finds out where the field at `start` begins and ends, and stands on the delimiter or line break behind it. */
function findFieldEnd(delimiter: number): Code {
  const closeAtLineBreak: Code = [...cutCr(), ...go('closed')]
  return [
    ...set('fieldStart', get('start')),
    ...set('isEscaped', 0),
    ...loop(
      'unquoted',
      nextPlace(),
      set('fieldEnd', get('place')),
      goIf(isByte(delimiter), 'closed'),
      when(isByte(LF), closeAtLineBreak),
      when(isByte(QUOTE), [
        // A quote within a field that did not begin with one is a character like others.
        ...goIf(i32.ne(get('place'), get('start')), 'unquoted'),
        ...findQuotedEnd(delimiter)
      ]),
      set('isOdd', 1),
      go('unquoted')
    )
  ]
}

function findQuotedEnd(delimiter: number): Code {
  const isAfterCr = i32.and(
    i32.eq(get('place'), plus('fieldEnd', 2)),
    i32.and(isByte(LF), i32.eq(i32.load8(plus('fieldEnd', 1)), i32.of(CR)))
  )
  return [
    ...set('fieldStart', plus('place', 1)),
    ...loop(
      'quoted',
      nextPlace(),
      when(i32.ne(get('byte'), i32.of(QUOTE)), [
        ...markOddIf(i32.and(i32.ne(get('byte'), i32.of(LF)), i32.ne(get('byte'), i32.of(delimiter)))),
        ...go('quoted')
      ]),
      when(i32.eq(i32.load8(plus('place', 1)), i32.of(QUOTE)), [
        ...set('isEscaped', FLAG.labelEscaped),
        ...nextPlace(),
        ...go('quoted')
      ])
    ),
    ...set('fieldEnd', get('place')),
    ...loop(
      'behind',
      nextPlace(),
      markOddIf(i32.and(i32.ne(get('place'), plus('fieldEnd', 1)), i32.isZero(isAfterCr))),
      goIf(isByte(delimiter), 'closed'),
      goIf(isByte(LF), 'closed'),
      go('behind')
    )
  ]
}

function readField(): Code {
  const readIf = (role: number) => when(i32.eq(get('columnRole'), i32.of(role)), readRole(role))
  return [
    ...set('start', plus('place', 1)),
    // Beyond the table there is something else to be read, but then the row has too many columns and is odd in any case.
    ...set('columnRole', i32.load8(get('column'), ROLES_AT)),
    ...set('column', plus('column', 1)),
    ...when(get('columnRole'), Object.values(ROLE).flatMap(readIf))
  ]
}

function readRole(role: number): Code {
  return [...set('length', i32.sub(get('fieldEnd'), get('fieldStart'))), ...readFieldAs(role)]
}

function readFieldAs(role: number): Code {
  switch (role) {
    case ROLE.timeStamp:
      return readTime()
    case ROLE.elapsed:
      return [...markOddIf(hasNotUpTo(8)), ...readDigits('elapsed', 0)]
    case ROLE.label:
      return readLabel()
    case ROLE.message:
      return readMessage()
    case ROLE.success:
      return readSuccess()
    case ROLE.threads:
      return when(get('length'), [...markOddIf(hasNotUpTo(8)), ...readDigits('threads', 0)])
    case ROLE.sampleCount:
      return markOddIf(
        i32.or(i32.ne(get('length'), i32.of(1)), i32.ne(i32.load8(get('fieldStart')), i32.of(49)))
      )
    default:
      return []
  }
}

/** An empty field counts as too long: zero less one is the largest number there is. */
function hasNotUpTo(length: number): Code {
  return i32.geU(plus('length', -1), i32.of(length))
}

/**
 * Reads up to `length` digits, at most eight, that end `before` bytes short of the field's end, all at once: the bytes are one number,
 * in which neighbours are joined to two, four and eight digits by one multiplication each.
 */
function readDigits(target: string, before: number): Code {
  const eight = (byte: number) => i64.of(BigInt(byte) * 0x0101010101010101n)
  const word = get('word')
  const others = get('others')
  const join = (mask: bigint, factor: bigint, shift: bigint) =>
    locals.set('word', i64.shiftRightU(i64.mul(i64.and(word, i64.of(mask)), i64.of(factor)), i64.of(shift)))
  const isNoDigit = i64.or(
    i64.xor(i64.and(word, eight(0xf0)), eight(0x30)),
    i64.xor(i64.and(i64.add(word, eight(0x06)), eight(0xf0)), eight(0x30))
  )
  return [
    // Bytes in front of the field become zeros.
    ...locals.set(
      'others',
      i64.shiftLeft(i64.of(-1n), i64.fromU(i32.sub(i32.of(64), i32.mul(get('length'), i32.of(8)))))
    ),
    ...locals.set('word', i64.load(plus('fieldEnd', -8 - before))),
    ...locals.set('word', i64.or(i64.and(word, others), i64.and(eight(0x30), i64.xor(others, i64.of(-1n))))),
    ...markOddIf(i32.isZero(i64.isZero(isNoDigit))),
    ...join(0x0f0f0f0f0f0f0f0fn, 2561n, 8n),
    ...join(0x00ff00ff00ff00ffn, 6553601n, 16n),
    ...join(0x0000ffff0000ffffn, 42949672960001n, 32n),
    ...set(target, i32.wrap(word))
  ]
}

/** Eight digits and what is in front of them. */
function readTime(): Code {
  return [
    ...markOddIf(hasNotUpTo(15)),
    ...set('before', 0),
    ...when(i32.gtU(get('length'), i32.of(8)), [...set('before', plus('length', -8)), ...set('length', 8)]),
    ...readDigits('timeLow', 0),
    ...when(get('before'), [...set('length', get('before')), ...readDigits('timeHigh', 8)])
  ]
}

/** Must be the very hash of LabelTable. */
function readLabel(): Code {
  const mix = (value: Code, factor: number) =>
    set('labelHash', i32.mul(i32.xor(get('labelHash'), value), i32.of(factor)))
  const fold = (bits: number) =>
    set('labelHash', i32.xor(get('labelHash'), i32.shiftRightU(get('labelHash'), i32.of(bits))))
  return [
    ...set('labelStart', get('fieldStart')),
    ...set('labelEnd', get('fieldEnd')),
    ...set('flags', i32.or(get('flags'), get('isEscaped'))),
    ...set('labelHash', get('length')),
    ...set('i', get('fieldStart')),
    ...loop(
      'words',
      when(i32.geU(get('fieldEnd'), plus('i', 4)), [
        ...mix(i32.load(get('i')), 0x9e3779b1),
        ...fold(15),
        ...set('i', plus('i', 4)),
        ...go('words')
      ])
    ),
    ...loop(
      'bytes',
      when(i32.ltU(get('i'), get('fieldEnd')), [
        ...mix(i32.load8(get('i')), 0x85ebca6b),
        ...set('i', plus('i', 1)),
        ...go('bytes')
      ])
    ),
    ...fold(13)
  ]
}

function readMessage(): Code {
  const view = new DataView(TRANSACTION_MESSAGE.buffer, TRANSACTION_MESSAGE.byteOffset)
  const size = TRANSACTION_MESSAGE.length
  // Eight bytes at a time, the last eight overlapping those before.
  const offsets = [...Array.from({ length: Math.floor(size / 8) }, (_, i) => i * 8), size - 8]
  const differs = (offset: number) =>
    i64.ne(i64.load(get('fieldStart'), offset), i64.of(view.getBigInt64(offset, true)))
  const hasNoSamples = i32.eq(i32.load8(get('fieldStart'), size), i32.of(48))
  return block(
    'request',
    goIf(i32.ltU(get('length'), i32.of(size + 1)), 'request'),
    ...offsets.map((offset) => goIf(differs(offset), 'request')),
    set('flags', i32.or(get('flags'), i32.of(FLAG.transaction))),
    when(hasNoSamples, set('flags', i32.or(get('flags'), i32.of(FLAG.empty))))
  )
}

function readSuccess(): Code {
  const word = i32.or(i32.load(get('fieldStart')), i32.of(0x20202020))
  const isTrue = i32.and(i32.eq(get('length'), i32.of(4)), i32.eq(word, i32.of(0x65757274)))
  const lastLetter = i32.or(i32.load8(get('fieldStart'), 4), i32.of(0x20))
  const isFalse = i32.and(
    i32.and(i32.eq(get('length'), i32.of(5)), i32.eq(word, i32.of(0x736c6166))),
    i32.eq(lastLetter, i32.of(101))
  )
  return when(
    isTrue,
    [],
    [...set('flags', i32.or(get('flags'), i32.of(FLAG.failure))), ...markOddIf(i32.isZero(isFalse))]
  )
}

function endRow(columns: number): Code {
  const isBlank = i32.or(
    i32.eq(get('place'), get('rowStart')),
    i32.and(i32.eq(get('place'), plus('rowStart', 1)), i32.eq(i32.load8(get('rowStart')), i32.of(CR)))
  )
  const put = (field: keyof typeof RECORD, value: Code) => i32.store(get('out'), value, RECORD[field] * 4)
  return [
    ...goIf(isBlank, 'row'),
    ...markOddIf(i32.ne(get('column'), i32.of(columns))),
    ...when(get('isOdd'), set('flags', i32.or(get('flags'), i32.of(FLAG.odd)))),
    ...put('start', get('rowStart')),
    ...put('end', get('place')),
    ...(
      ['flags', 'elapsed', 'timeHigh', 'timeLow', 'threads', 'labelStart', 'labelEnd', 'labelHash'] as const
    ).flatMap((name) => put(name, get(name))),
    ...set('out', plus('out', RECORD.size * 4))
  ]
}
