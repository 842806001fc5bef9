import { CONTROL, PAGE_BYTES, PAGE_HASH, PAGE_SLOT_BYTES, WAITING_AT } from './kernel-layout.js'
import {
  block,
  go,
  goIf,
  i32,
  I32,
  Locals,
  loop,
  when,
  type Code,
  type WasmFunction
} from './wasm-assembler.js'

// The kernel's third pass: finds the page of each row that waits, and counts the row there. With many labels the pages are spread over
// more memory than the caches hold. In a loop as short as this one the processor waits for several of them at once.

const locals = new Locals()
const VARIABLES = [
  'waiting',
  'waitingEnd',
  'key',
  'slots',
  'shift',
  'last',
  'i',
  'slot',
  'owner',
  'free',
  'count'
]
for (const name of VARIABLES) locals.declare(name, I32)

const get = (name: string) => locals.get(name)
const set = (name: string, value: Code) => locals.set(name, value)
const plus = (name: string, value: number) => i32.add(get(name), i32.of(value))
const read = (field: keyof typeof CONTROL) => i32.load(i32.of(0), CONTROL[field])

/** `tally()` counts all rows that wait; there must be a free page for each of them. Returns nothing of interest. */
export function makeTallyFunction(): WasmFunction {
  const hash = i32.shiftRightU(i32.mul(get('key'), i32.of(PAGE_HASH)), get('shift'))
  const place = i32.mul(i32.load(get('waiting'), 4), i32.of(4))
  const body: Code = [
    ...set('waiting', i32.of(WAITING_AT)),
    ...set('waitingEnd', read('waitingEnd')),
    ...set('slots', read('pageSlots')),
    ...set('shift', read('pageShift')),
    ...set('last', i32.shiftRightU(i32.of(-1), get('shift'))),
    ...set('free', read('freePage')),
    ...block(
      'done',
      loop(
        'row',
        goIf(i32.geU(get('waiting'), get('waitingEnd')), 'done'),
        set('key', i32.load(get('waiting'))),
        set('i', hash),
        findSlot(),
        set('count', i32.add(i32.load(get('slot'), 4), place)),
        i32.store(get('count'), i32.add(i32.load(get('count')), i32.of(1))),
        set('waiting', plus('waiting', 8)),
        go('row')
      )
    ),
    ...i32.store(i32.of(CONTROL.freePage), get('free')),
    ...i32.of(0)
  ]
  return { name: 'tally', parameters: 0, result: I32, locals, body }
}

/** The slot of the key, which gets a page if it has none. */
function findSlot(): Code {
  return block(
    'found',
    loop(
      'slots',
      set('slot', i32.add(get('slots'), i32.mul(get('i'), i32.of(PAGE_SLOT_BYTES)))),
      set('owner', i32.load(get('slot'))),
      goIf(i32.eq(get('owner'), get('key')), 'found'),
      when(get('owner'), [...set('i', i32.and(plus('i', 1), get('last'))), ...go('slots')])
    ),
    i32.store(get('slot'), get('key')),
    i32.store(get('slot'), get('free'), 4),
    set('free', plus('free', PAGE_BYTES))
  )
}
