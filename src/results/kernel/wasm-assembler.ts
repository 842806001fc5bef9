/**
 * Instructions in the order of the stack machine. Lists within lists are put in one row at the end; branches become numbers when it
 * is known how many scopes are around them.
 */
export type Code = (number | Scope | Branch | Code)[]

/** A place that can be left (block) or begun anew (loop) by a branch that names it. */
interface Scope {
  readonly open: readonly number[]
  readonly name: string
  readonly body: Code
  readonly otherwise?: Code
}

interface Branch {
  readonly branch: number
  readonly to: string
}

export const I32 = 0x7f
export const I64 = 0x7e
export const V128 = 0x7b
const VOID = 0x40
const END = 0x0b
const ELSE = 0x05

const op1 =
  (opcode: number) =>
  (a: Code): Code => [a, opcode]
const op2 =
  (opcode: number) =>
  (a: Code, b: Code): Code => [a, b, opcode]
const vector = (opcode: number, ...operands: Code[]): Code => [...operands, 0xfd, ...unsigned(opcode)]
const load =
  (opcode: number) =>
  (address: Code, offset = 0): Code => [address, opcode, 0, ...unsigned(offset)]
const store =
  (opcode: number) =>
  (address: Code, value: Code, offset = 0): Code => [address, value, opcode, 0, ...unsigned(offset)]

export const i32 = {
  of: (value: number): Code => [0x41, ...signed(BigInt(value | 0))],
  load: load(0x28),
  load8: load(0x2d),
  store: store(0x36),
  isZero: op1(0x45),
  eq: op2(0x46),
  ne: op2(0x47),
  ltU: op2(0x49),
  gtU: op2(0x4b),
  geU: op2(0x4f),
  leadingZeros: op1(0x67),
  add: op2(0x6a),
  sub: op2(0x6b),
  mul: op2(0x6c),
  divU: op2(0x6e),
  and: op2(0x71),
  or: op2(0x72),
  shiftLeft: op2(0x74),
  shiftRightU: op2(0x76),
  wrap: op1(0xa7)
}

export const i64 = {
  of: (value: bigint): Code => [0x42, ...signed(BigInt.asIntN(64, value))],
  load: load(0x29),
  store: store(0x37),
  isZero: op1(0x50),
  ne: op2(0x52),
  ltS: op2(0x53),
  gtS: op2(0x55),
  geU: op2(0x5a),
  add: op2(0x7c),
  sub: op2(0x7d),
  mul: op2(0x7e),
  and: op2(0x83),
  or: op2(0x84),
  xor: op2(0x85),
  shiftLeft: op2(0x86),
  shiftRightS: op2(0x87),
  shiftRightU: op2(0x88),
  trailingZeros: op1(0x7a),
  countOnes: op1(0x7b),
  fromU: op1(0xad)
}

export const i8x16 = {
  load: (address: Code, offset: number): Code => vector(0x00, address).concat(0, unsigned(offset)),
  splat: (value: number): Code => vector(0x0f, i32.of(value)),
  eq: (a: Code, b: Code): Code => vector(0x23, a, b),
  minU: (a: Code, b: Code): Code => vector(0x77, a, b),
  bitmask: (a: Code): Code => vector(0x64, a),
  areAllSet: (a: Code): Code => vector(0x63, a)
}

export const block = (name: string, ...body: Code[]): Code => [{ open: [0x02, VOID], name, body }]
export const loop = (name: string, ...body: Code[]): Code => [{ open: [0x03, VOID], name, body }]
export const when = (condition: Code, then: Code, otherwise?: Code): Code => [
  condition,
  { open: [0x04, VOID], name: '', body: then, ...(otherwise === undefined ? {} : { otherwise }) }
]
export const go = (to: string): Code => [{ branch: 0x0c, to }]
export const goIf = (condition: Code, to: string): Code => [condition, { branch: 0x0d, to }]

/** A function's parameters and variables, by name. */
export class Locals {
  readonly #index = new Map<string, number>()
  readonly #types: number[] = []

  declare(name: string, type: number): void {
    this.#index.set(name, this.#types.length)
    this.#types.push(type)
  }

  get(name: string): Code {
    return [0x20, ...unsigned(this.#at(name))]
  }

  set(name: string, value: Code): Code {
    return [value, 0x21, ...unsigned(this.#at(name))]
  }

  /** Sets, and leaves the value to be used. */
  tee(name: string, value: Code): Code {
    return [value, 0x22, ...unsigned(this.#at(name))]
  }

  /** The types of all from the given one on, as a function's body states them. */
  encode(from: number): number[] {
    const types = this.#types.slice(from)
    return [...unsigned(types.length), ...types.flatMap((type) => [1, type])]
  }

  #at(name: string): number {
    const index = this.#index.get(name)
    if (index === undefined) throw new Error(`No variable is called ${name}`)
    return index
  }
}

/** A function; all its parameters are i32. */
export interface WasmFunction {
  readonly name: string
  readonly parameters: number
  readonly result: number
  readonly locals: Locals
  readonly body: Code
}

/** A module that exports its functions, and a memory as `memory`. */
export function assemble(functions: readonly WasmFunction[], pages: number): Uint8Array {
  const types = functions.map(({ parameters, result }) => [
    ...[0x60, ...unsigned(parameters), ...Array<number>(parameters).fill(I32)],
    ...[1, result]
  ])
  const exports = functions.map(({ name }, place) => [...text(name), 0, ...unsigned(place)])
  const codes = functions.map(({ locals, parameters, body }) => {
    const code = [...locals.encode(parameters), ...flatten(body, []), END]
    return [...unsigned(code.length), ...code]
  })
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, ...types),
    ...section(3, ...functions.map((_, place) => unsigned(place))),
    ...section(5, [0, ...unsigned(pages)]),
    ...section(7, ...exports, [...text('memory'), 2, 0]),
    ...section(10, ...codes)
  ])
}

function section(id: number, ...entries: number[][]): number[] {
  const content = [...unsigned(entries.length), ...entries.flat()]
  return [id, ...unsigned(content.length), ...content]
}

/** Turns names of scopes into how many scopes out they lie. */
function flatten(code: Code, scopes: readonly string[]): number[] {
  return code.flatMap((part) => {
    if (typeof part === 'number') return part
    if (Array.isArray(part)) return flatten(part, scopes)
    if ('branch' in part) {
      const depth = scopes.indexOf(part.to)
      if (depth < 0) throw new Error(`No scope around the branch is called ${part.to}`)
      return [part.branch, ...unsigned(depth)]
    }
    const inner = [part.name, ...scopes]
    const otherwise = part.otherwise === undefined ? [] : [ELSE, ...flatten(part.otherwise, inner)]
    return [...part.open, ...flatten(part.body, inner), ...otherwise, END]
  })
}

function text(name: string): number[] {
  return [name.length, ...new TextEncoder().encode(name)]
}

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

function signed(value: bigint): number[] {
  const low = Number(value & 0x7fn)
  const rest = value >> 7n
  const isEnough = (rest === 0n && (low & 0x40) === 0) || (rest === -1n && (low & 0x40) !== 0)
  return isEnough ? [low] : [low | 0x80, ...signed(rest)]
}
