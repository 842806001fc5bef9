import {
  CHART_BITS,
  CONTROL,
  LABEL_SLOT_BYTES,
  LINE_SLOT_BYTES,
  LINE_TIMES_BYTES,
  LINE_UNIT_MS,
  PAGE_BITS,
  PAGES_A_CELL_BITS,
  REASON,
  RECORD,
  TIME_BITS,
  TRANSACTION_MESSAGE,
  WAITING_AT,
  WAITING_END
} from './kernel-layout.js'
import {
  block,
  go,
  goIf,
  i32,
  i64,
  I32,
  I64,
  Locals,
  loop,
  when,
  type Code,
  type WasmFunction
} from './wasm-assembler.js'
import { CELLS_A_LABEL } from '../counts/scan-result.js'
import type { SampleColumns } from '../csv/header.js'

// The kernel's second pass: reads the columns that matter of every row and counts it. It changes nothing before it is sure of the
// whole row. A row that it does not understand, or has no room for, it leaves to others as a record.

const CR = 13
const QUOTE = 34
const ZERO = 48
const FAILURE = 1
const PAGE_SIZE = 1 << PAGE_BITS

const locals = new Locals()
for (const name of ['limit', 'record', 'recordsEnd']) locals.declare(name, I32)
const VARIABLES = [
  ...['rowStart', 'rowEnd', 'place', 'line', 'lineEnd', 'linesEnd', 'counted', 'reason'],
  ...['fieldStart', 'fieldEnd', 'length', 'outcome', 'elapsed', 'timeHigh', 'timeLow', 'threads', 'before'],
  ...['labelStart', 'labelEnd', 'labelHash', 'labelSlot', 'labelBytes', 'i', 'cell'],
  ...['waiting', 'owner', 'lineSlot', 'lineAt', 'timesAt', 'shift']
]
for (const name of VARIABLES) locals.declare(name, I32)
const WIDE = ['word', 'others', 'hash', 'startMs', 'endMs', 'sinceMs', 'spanStart', 'spanEnd', 'tail']
for (const name of WIDE) locals.declare(name, I64)

const get = (name: string) => locals.get(name)
const set = (name: string, value: Code | number) =>
  locals.set(name, typeof value === 'number' ? i32.of(value) : value)
const plus = (name: string, value: number) => i32.add(get(name), i32.of(value))
const read = (field: keyof typeof CONTROL) => i32.load(i32.of(0), CONTROL[field])
const readWide = (field: keyof typeof CONTROL) => i64.load(i32.of(0), CONTROL[field])
const leaveIf = (condition: Code) => goIf(condition, 'left')
const leaveUnless = (condition: Code) => leaveIf(i32.isZero(condition))
const addOne = (address: Code, offset: number) =>
  i32.store(address, i32.add(i32.load(address, offset), i32.of(1)), offset)

/** `count(limit, record, recordsEnd)` takes the indexed rows that begin before the limit; returns where the records end. */
export function makeCountFunction(at: SampleColumns, columns: number): WasmFunction {
  const body: Code = [
    ...(['rowStart', 'counted', 'linesEnd'] as const).flatMap((name) => set(name, read(name))),
    ...set('waiting', WAITING_AT),
    ...set('place', read('nextPlace')),
    ...set('line', read('nextLine')),
    ...set('spanStart', readWide('spanStart')),
    ...set('spanEnd', readWide('spanEnd')),
    ...block(
      'done',
      loop(
        'row',
        goIf(i32.geU(get('line'), get('linesEnd')), 'done'),
        goIf(i32.geU(get('rowStart'), get('limit')), 'done'),
        goIf(i32.geU(get('record'), get('recordsEnd')), 'done'),
        goIf(i32.geU(get('waiting'), i32.of(WAITING_END)), 'done'),
        set('lineEnd', i32.load(get('line'))),
        set('rowEnd', i32.load(get('lineEnd'))),
        block('taken', block('left', takeRow(at, columns), go('taken')), writeRecord()),
        set('rowStart', plus('rowEnd', 1)),
        set('place', plus('lineEnd', 4)),
        set('line', plus('line', 4)),
        go('row')
      )
    ),
    ...(['rowStart', 'counted'] as const).flatMap((name) => i32.store(i32.of(CONTROL[name]), get(name))),
    ...i32.store(i32.of(CONTROL.nextPlace), get('place')),
    ...i32.store(i32.of(CONTROL.nextLine), get('line')),
    ...i64.store(i32.of(CONTROL.spanStart), get('spanStart')),
    ...i64.store(i32.of(CONTROL.spanEnd), get('spanEnd')),
    ...i32.store(i32.of(CONTROL.waitingEnd), get('waiting')),
    ...get('record')
  ]
  return { name: 'count', parameters: 3, result: I32, locals, body }
}

function takeRow(at: SampleColumns, columns: number): Code {
  const readAt = (column: number, reading: Code): Code =>
    column < 0 ? [] : [...findField(column, columns - 1), ...reading]
  return [
    ...set('reason', REASON.row),
    ...set('labelStart', 0),
    ...leaveIf(i32.ne(i32.sub(get('lineEnd'), get('place')), i32.of((columns - 1) * 4))),
    ...set('outcome', 0),
    ...set('elapsed', 0),
    ...set('threads', -1),
    ...readAt(at.timeStamp, readTime()),
    ...readAt(at.elapsed, readElapsed()),
    ...readAt(at.success, readSuccess()),
    ...readAt(at.allThreads, when(get('length'), readShort('threads'))),
    ...readAt(at.sampleCount, readSampleCount()),
    ...readAt(at.responseMessage, stopAtTransaction()),
    ...set('cell', get('outcome')),
    ...readAt(at.label, [...hashLabel(), ...findLabel()]),
    ...(at.timeStamp < 0 ? [] : findLineSlot()),
    // Nothing can go wrong any more.
    ...set('counted', plus('counted', 1)),
    ...waitForPage(),
    ...(at.timeStamp < 0 ? [] : countInLine(at.elapsed >= 0)),
    ...when(get('outcome'), writeFailure())
  ]
}

function findField(column: number, last: number): Code {
  const isCr = i32.eq(i32.load8(plus('fieldEnd', -1)), i32.of(CR))
  return [
    ...set(
      'fieldStart',
      column === 0 ? get('rowStart') : i32.add(i32.load(get('place'), (column - 1) * 4), i32.of(1))
    ),
    ...set('fieldEnd', column === last ? get('rowEnd') : i32.load(get('place'), column * 4)),
    ...(column === last
      ? when(
          i32.and(i32.gtU(get('fieldEnd'), get('fieldStart')), isCr),
          set('fieldEnd', plus('fieldEnd', -1))
        )
      : []),
    ...set('length', i32.sub(get('fieldEnd'), get('fieldStart')))
  ]
}

/** An empty field counts as too long: zero less one is the largest number there is. */
function isNotUpTo(length: number): Code {
  return i32.geU(plus('length', -1), i32.of(length))
}

/**
 * Reads `length` digits, at most eight, that end `before` bytes short of the field's end, all at once: the bytes are one number,
 * in which neighbours are joined to two, four and eight digits by one multiplication each.
 */
function readDigits(target: string, before: number): Code {
  const eight = (byte: number) => i64.of(BigInt(byte) * 0x0101010101010101n)
  const word = get('word')
  const others = get('others')
  const join = (mask: bigint, factor: bigint, shift: bigint) =>
    set('word', i64.shiftRightU(i64.mul(i64.and(word, i64.of(mask)), i64.of(factor)), i64.of(shift)))
  const isNoDigit = i64.or(
    i64.xor(i64.and(word, eight(0xf0)), eight(0x30)),
    i64.xor(i64.and(i64.add(word, eight(0x06)), eight(0xf0)), eight(0x30))
  )
  return [
    // Bytes in front of the field become zeros.
    ...set(
      'others',
      i64.shiftLeft(i64.of(-1n), i64.fromU(i32.sub(i32.of(64), i32.mul(get('length'), i32.of(8)))))
    ),
    ...set('word', i64.load(plus('fieldEnd', -8 - before))),
    ...set('word', i64.or(i64.and(word, others), i64.and(eight(0x30), i64.xor(others, i64.of(-1n))))),
    ...leaveUnless(i64.isZero(isNoDigit)),
    ...join(0x0f0f0f0f0f0f0f0fn, 2561n, 8n),
    ...join(0x00ff00ff00ff00ffn, 6553601n, 16n),
    ...join(0x0000ffff0000ffffn, 42949672960001n, 32n),
    ...set(target, i32.wrap(word))
  ]
}

function readShort(target: string): Code {
  return [...leaveIf(isNotUpTo(8)), ...readDigits(target, 0)]
}

/** Eight digits and what is in front of them. */
function readTime(): Code {
  const high = i64.mul(i64.fromU(get('timeHigh')), i64.of(100_000_000n))
  return [
    ...leaveIf(isNotUpTo(15)),
    ...set('timeHigh', 0),
    ...set('before', 0),
    ...when(i32.gtU(get('length'), i32.of(8)), [...set('before', plus('length', -8)), ...set('length', 8)]),
    ...readDigits('timeLow', 0),
    ...when(get('before'), [...set('length', get('before')), ...readDigits('timeHigh', 8)]),
    ...set('startMs', i64.add(high, i64.fromU(get('timeLow'))))
  ]
}

function readElapsed(): Code {
  return [...readShort('elapsed'), ...leaveIf(i32.shiftRightU(get('elapsed'), i32.of(TIME_BITS)))]
}

function readSuccess(): Code {
  const word = i32.or(i32.load(get('fieldStart')), i32.of(0x20202020))
  const isTrue = i32.and(i32.eq(get('length'), i32.of(4)), i32.eq(word, i32.of(0x65757274)))
  const lastLetter = i32.or(i32.load8(get('fieldStart'), 4), i32.of(0x20))
  const isFalse = i32.and(
    i32.and(i32.eq(get('length'), i32.of(5)), i32.eq(word, i32.of(0x736c6166))),
    i32.eq(lastLetter, i32.of(101))
  )
  return when(isTrue, [], [...set('outcome', FAILURE), ...leaveUnless(isFalse)])
}

function readSampleCount(): Code {
  return [
    ...leaveIf(i32.ne(get('length'), i32.of(1))),
    ...leaveIf(i32.ne(i32.load8(get('fieldStart')), i32.of(ZERO + 1)))
  ]
}

/** From the first row that may be a transaction's on, rows have to be seen in the order of their threads, which is not for the kernel. */
function stopAtTransaction(): Code {
  const view = new DataView(TRANSACTION_MESSAGE.buffer, TRANSACTION_MESSAGE.byteOffset)
  const size = TRANSACTION_MESSAGE.length
  // Eight bytes at a time, the last eight overlapping those before.
  const offsets = [...Array.from({ length: Math.floor(size / 8) }, (_, i) => i * 8), size - 8]
  const differs = (offset: number) =>
    i64.ne(i64.load(get('fieldStart'), offset), i64.of(view.getBigInt64(offset, true)))
  return block(
    'request',
    goIf(i32.ltU(get('length'), i32.of(size + 1)), 'request'),
    when(i32.eq(i32.load8(get('fieldStart')), i32.of(QUOTE)), set('fieldStart', plus('fieldStart', 1))),
    ...offsets.map((offset) => goIf(differs(offset), 'request')),
    i32.store(i32.of(CONTROL.stopped), i32.of(1)),
    go('done')
  )
}

/** Labels are known by the bytes that stand in the row, quotes and all: what these mean has been found out once by others. */
function hashLabel(): Code {
  const mix = (value: Code): Code => [
    ...set('hash', i64.mul(i64.xor(get('hash'), value), i64.of(0x9e3779b97f4a7c15n))),
    ...set('hash', i64.xor(get('hash'), i64.shiftRightU(get('hash'), i64.of(32n))))
  ]
  return [
    ...set('labelStart', get('fieldStart')),
    ...set('labelEnd', get('fieldEnd')),
    ...set('hash', i64.fromU(get('length'))),
    ...set('i', get('fieldStart')),
    ...loop(
      'words',
      when(i32.gtU(get('fieldEnd'), plus('i', 8)), [
        ...mix(i64.load(get('i'))),
        ...set('i', plus('i', 8)),
        ...go('words')
      ])
    ),
    // One to eight bytes are left, or none of a label that has none; the bytes behind them are cut off.
    ...set('shift', i32.mul(i32.sub(i32.of(8), i32.sub(get('fieldEnd'), get('i'))), i32.of(8))),
    ...set('tail', i64.of(0n)),
    ...when(get('length'), set('tail', i64.shiftLeft(i64.load(get('i')), i64.fromU(get('shift'))))),
    ...mix(get('tail')),
    ...set('labelHash', i32.wrap(get('hash')))
  ]
}

function findLabel(): Code {
  const offset = i32.sub(get('i'), get('labelStart'))
  const differsHere = i64.ne(i64.load(get('i')), i64.load(i32.add(get('labelBytes'), offset)))
  const tailOfKnown = i64.shiftLeft(i64.load(i32.add(get('labelBytes'), offset)), i64.fromU(get('shift')))
  return [
    ...set('reason', REASON.label),
    ...set('owner', get('labelHash')),
    ...loop(
      'slots',
      set(
        'labelSlot',
        i32.add(
          read('labelSlots'),
          i32.mul(i32.and(get('owner'), read('labelMask')), i32.of(LABEL_SLOT_BYTES))
        )
      ),
      leaveIf(i32.isZero(i32.load(get('labelSlot'), 12))),
      block(
        'same',
        block(
          'differs',
          goIf(i32.ne(i32.load(get('labelSlot')), get('labelHash')), 'differs'),
          goIf(i32.ne(i32.load(get('labelSlot'), 4), get('length')), 'differs'),
          set('labelBytes', i32.load(get('labelSlot'), 8)),
          set('i', get('labelStart')),
          loop(
            'words',
            when(i32.gtU(get('labelEnd'), plus('i', 8)), [
              ...goIf(differsHere, 'differs'),
              ...set('i', plus('i', 8)),
              ...go('words')
            ])
          ),
          goIf(i32.isZero(get('length')), 'same'),
          goIf(i32.isZero(i64.ne(get('tail'), tailOfKnown)), 'same')
        ),
        set('owner', plus('owner', 1)),
        go('slots')
      )
    ),
    ...set(
      'cell',
      i32.add(
        get('outcome'),
        i32.mul(i32.add(i32.load(get('labelSlot'), 12), i32.of(-1)), i32.of(CELLS_A_LABEL))
      )
    )
  ]
}

function findLineSlot(): Code {
  const slot = i32.divU(i32.shiftRightU(i32.wrap(get('sinceMs')), read('lineShift')), i32.of(LINE_UNIT_MS))
  return [
    ...set('reason', REASON.line),
    ...set('endMs', i64.add(get('startMs'), i64.fromU(get('elapsed')))),
    ...set('sinceMs', i64.sub(get('endMs'), readWide('lineFrom'))),
    ...leaveIf(i64.geU(get('sinceMs'), readWide('lineMs'))),
    ...set('lineSlot', slot)
  ]
}

/** Where the page is can wait: see the function `tally`. */
function waitForPage(): Code {
  const page = i32.or(
    i32.shiftLeft(get('cell'), i32.of(PAGES_A_CELL_BITS)),
    i32.shiftRightU(get('elapsed'), i32.of(PAGE_BITS))
  )
  return [
    ...i32.store(get('waiting'), i32.add(page, i32.of(1))),
    ...i32.store(get('waiting'), i32.and(get('elapsed'), i32.of(PAGE_SIZE - 1)), 4),
    ...set('waiting', plus('waiting', 8))
  ]
}

function countInLine(hasElapsed: boolean): Code {
  const slot = get('lineAt')
  const bucket = i32.add(
    i32.shiftLeft(get('shift'), i32.of(CHART_BITS - 1)),
    i32.shiftRightU(get('elapsed'), get('shift'))
  )
  const countTime: Code = [
    ...set('shift', 0),
    ...when(
      i32.shiftRightU(get('elapsed'), i32.of(CHART_BITS)),
      set('shift', i32.sub(i32.of(32 - CHART_BITS), i32.leadingZeros(get('elapsed'))))
    ),
    ...set('timesAt', i32.add(read('lineTimes'), i32.mul(get('lineSlot'), i32.of(LINE_TIMES_BYTES)))),
    ...set('timesAt', i32.add(get('timesAt'), i32.mul(bucket, i32.of(4)))),
    ...addOne(get('timesAt'), 0)
  ]
  const threads = plus('threads', 1)
  return [
    ...when(i64.ltS(get('startMs'), get('spanStart')), set('spanStart', get('startMs'))),
    ...when(i64.gtS(get('endMs'), get('spanEnd')), set('spanEnd', get('endMs'))),
    ...set('lineAt', i32.add(read('line'), i32.mul(get('lineSlot'), i32.of(LINE_SLOT_BYTES)))),
    ...addOne(slot, 0),
    ...i32.store(slot, i32.add(i32.load(slot, 4), get('outcome')), 4),
    ...when(i32.gtU(threads, i32.load(slot, 8)), i32.store(slot, threads, 8)),
    ...(hasElapsed ? countTime : [])
  ]
}

const put = (field: keyof typeof RECORD, value: Code) => i32.store(get('record'), value, RECORD[field] * 4)
const nextRecord = () => set('record', plus('record', RECORD.size * 4))

function writeRecord(): Code {
  return [
    ...put('start', get('rowStart')),
    ...put('end', get('rowEnd')),
    ...(['reason', 'counted', 'labelStart', 'labelEnd', 'labelHash'] as const).flatMap((name) =>
      put(name, get(name))
    ),
    ...nextRecord()
  ]
}

/** A failed row is counted here, and its error elsewhere. */
function writeFailure(): Code {
  return [
    ...put('start', get('rowStart')),
    ...put('end', get('rowEnd')),
    ...put('reason', i32.of(REASON.failed)),
    ...(['counted', 'place', 'cell'] as const).flatMap((name) => put(name, get(name))),
    ...nextRecord()
  ]
}
