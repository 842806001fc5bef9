import { INDEXED, LINES_AT, LINES_END, PLACES_AT, PLACES_END, CONTROL } from './kernel-layout.js'
import {
  block,
  go,
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

// The kernel's first pass: 64 bytes at a time it finds the delimiters and line breaks that are not in quotes, and writes down where they
// are. So the second pass knows of every column of a row where it is, without having looked at the columns before it.

const LF = 10
const QUOTE = 34
/** Of 64 bytes of a usual CSV about nine are delimiters: so many are written without asking whether there are as many. */
const WRITTEN_BLINDLY = 12

const locals = new Locals()
for (const name of ['from', 'to', 'base', 'place', 'next', 'line', 'state']) locals.declare(name, I32)
for (const name of ['breaks', 'ends', 'quotes', 'inner', 'around', 'closing']) locals.declare(name, I64)
for (const name of ['wasInside', 'wasEnd', 'wasClosed', 'valid', 'faults', 'rest']) locals.declare(name, I64)
for (const offset of [0, 16, 32, 48]) locals.declare(`bytes${offset}`, V128)

const get = (name: string) => locals.get(name)
const set = (name: string, value: Code) => locals.set(name, value)
const ONE = i64.of(1n)
const not = (value: Code) => i64.xor(value, i64.of(-1n))
const without = (name: string, bits: Code) => set(name, i64.and(get(name), not(bits)))

/** `index(from, to)` reads on from the start of a row; returns why it stopped, one of INDEXED. */
export function makeIndexFunction(delimiter: number): WasmFunction {
  const stopIf = (condition: Code, state: number) =>
    when(condition, [...set('state', i32.of(state)), ...go('stopped')])
  const body: Code = [
    ...set('base', get('from')),
    ...set('place', i32.of(PLACES_AT)),
    ...set('line', i32.of(LINES_AT)),
    ...set('wasEnd', ONE),
    ...block(
      'stopped',
      loop(
        'block',
        stopIf(i32.geU(get('base'), get('to')), INDEXED.all),
        stopIf(i32.geU(get('place'), i32.of(PLACES_END)), INDEXED.full),
        stopIf(i32.geU(get('line'), i32.of(LINES_END)), INDEXED.full),
        lookAtBytes(delimiter),
        when(
          i64.isZero(i64.or(i64.or(get('quotes'), get('wasInside')), get('wasClosed'))),
          [],
          leaveOutQuoted()
        ),
        set('wasEnd', i64.shiftRightU(get('around'), i64.of(63n))),
        findNul(),
        // What comes after a fault is not to be relied on.
        when(i32.isZero(i64.isZero(get('faults'))), dropFrom('faults')),
        writeLines(),
        writePlaces(),
        stopIf(i32.isZero(i64.isZero(get('faults'))), INDEXED.fault),
        set('base', i32.add(get('base'), i32.of(64))),
        go('block')
      )
    ),
    ...i32.store(i32.of(CONTROL.rowStart), get('from')),
    ...i32.store(i32.of(CONTROL.nextPlace), i32.of(PLACES_AT)),
    ...i32.store(i32.of(CONTROL.nextLine), i32.of(LINES_AT)),
    ...i32.store(i32.of(CONTROL.linesEnd), get('line')),
    ...get('state')
  ]
  return { name: 'index', parameters: 2, result: I32, locals, body }
}

/** One bit a byte: `breaks` for line breaks, `ends` for these and delimiters, `quotes`. */
function lookAtBytes(delimiter: number): Code {
  const offsets = [0, 16, 32, 48]
  const bitsOf = (byte: number) =>
    offsets
      .map((offset) => {
        const bits = i8x16.bitmask(i8x16.eq(get(`bytes${offset}`), i8x16.splat(byte)))
        return i64.shiftLeft(i64.fromU(bits), i64.of(BigInt(offset)))
      })
      .reduce((all, next) => i64.or(all, next))
  const left = i32.sub(get('to'), get('base'))
  const valid = (value: Code) => i64.and(value, get('valid'))
  return [
    ...offsets.flatMap((offset) => set(`bytes${offset}`, i8x16.load(get('base'), offset))),
    ...set('valid', i64.of(-1n)),
    ...when(i32.ltU(left, i32.of(64)), set('valid', i64.sub(i64.shiftLeft(ONE, i64.fromU(left)), ONE))),
    ...set('breaks', valid(bitsOf(LF))),
    ...set('ends', i64.or(get('breaks'), valid(bitsOf(delimiter)))),
    ...set('quotes', valid(bitsOf(QUOTE))),
    ...set('around', i64.or(get('ends'), get('quotes'))),
    ...set('faults', i64.of(0n))
  ]
}

/**
 * Every quote turns inside and outside over; the doubled quote within a field does so twice. That is right as long as a
 * field is opened only at its start and closed only at its end: any other quote is a fault.
 */
function leaveOutQuoted(): Code {
  const spread = [1n, 2n, 4n, 8n, 16n, 32n].flatMap((bits) =>
    set('inner', i64.xor(get('inner'), i64.shiftLeft(get('inner'), i64.of(bits))))
  )
  const opening = i64.and(get('quotes'), get('inner'))
  const afterEnd = i64.or(i64.shiftLeft(get('around'), ONE), get('wasEnd'))
  const afterClosing = i64.or(i64.shiftLeft(get('closing'), ONE), get('wasClosed'))
  const opensWithin = i64.and(opening, not(afterEnd))
  const goesOn = i64.and(i64.and(afterClosing, not(get('around'))), get('valid'))
  return [
    ...set('inner', get('quotes')),
    ...spread,
    ...set('inner', i64.xor(get('inner'), get('wasInside'))),
    ...set('closing', i64.and(get('quotes'), not(get('inner')))),
    ...set('faults', i64.or(opensWithin, goesOn)),
    ...set('wasInside', i64.shiftRightS(get('inner'), i64.of(63n))),
    ...set('wasClosed', i64.shiftRightU(get('closing'), i64.of(63n))),
    ...without('ends', get('inner')),
    ...without('breaks', get('inner'))
  ]
}

function findNul(): Code {
  const bytes = [0, 16, 32, 48].map((offset) => get(`bytes${offset}`))
  const least = bytes.reduce((all, next) => i8x16.minU(all, next))
  const nuls = [0, 16, 32, 48]
    .map((offset) => {
      const bits = i8x16.bitmask(i8x16.eq(get(`bytes${offset}`), i8x16.splat(0)))
      return i64.shiftLeft(i64.fromU(bits), i64.of(BigInt(offset)))
    })
    .reduce((all, next) => i64.or(all, next))
  return when(
    i32.isZero(i8x16.areAllSet(least)),
    set('faults', i64.or(get('faults'), i64.and(nuls, get('valid'))))
  )
}

function dropFrom(bits: string): Code {
  const below = i64.sub(i64.and(get(bits), i64.sub(i64.of(0n), get(bits))), ONE)
  return [
    ...set('rest', below),
    ...set('ends', i64.and(get('ends'), get('rest'))),
    ...set('breaks', i64.and(get('breaks'), get('rest')))
  ]
}

const dropLowest = (name: string) => set(name, i64.and(get(name), i64.sub(get(name), ONE)))

/** For each line break, the address at which its place is going to be written. */
function writeLines(): Code {
  const below = i64.sub(i64.and(get('breaks'), i64.sub(i64.of(0n), get('breaks'))), ONE)
  const before = i32.wrap(i64.countOnes(i64.and(get('ends'), below)))
  return loop(
    'lines',
    when(i32.isZero(i64.isZero(get('breaks'))), [
      ...i32.store(get('line'), i32.add(get('place'), i32.mul(before, i32.of(4)))),
      ...set('line', i32.add(get('line'), i32.of(4))),
      ...dropLowest('breaks'),
      ...go('lines')
    ])
  )
}

function writePlaces(): Code {
  const first = (offset: number): Code => [
    ...i32.store(get('place'), i32.add(get('base'), i32.wrap(i64.trailingZeros(get('ends')))), offset),
    ...dropLowest('ends')
  ]
  const after = i32.add(get('place'), i32.mul(i32.wrap(i64.countOnes(get('ends'))), i32.of(4)))
  return [
    ...set('next', after),
    ...Array.from({ length: WRITTEN_BLINDLY }, (_, i) => first(i * 4)).flat(),
    ...set('place', i32.add(get('place'), i32.of(WRITTEN_BLINDLY * 4))),
    ...loop(
      'places',
      when(i32.isZero(i64.isZero(get('ends'))), [
        ...first(0),
        ...set('place', i32.add(get('place'), i32.of(4))),
        ...go('places')
      ])
    ),
    ...set('place', get('next'))
  ]
}
