// What the kernel's WebAssembly and the JavaScript around it agree on: where things lie in the kernel's memory.

/** Values that both sides read and write, by address. Those at multiples of eight from `lineFrom` on have 64 bits. */
export const CONTROL = {
  ...{ rowStart: 0, nextPlace: 4, nextLine: 8, linesEnd: 12, counted: 16 },
  ...{ labelSlots: 20, labelMask: 24, pageSlots: 28, pageShift: 32, freePage: 36, waitingEnd: 40 },
  ...{ line: 44, lineTimes: 48, lineShift: 52 },
  ...{ lineFrom: 56, lineMs: 64, spanStart: 72, spanEnd: 80, stopped: 88 }
} as const

/**
 * A row that the kernel leaves to others, and why; or one that it counted, and that failed: of such a row `place` is where the places of its
 * columns begin. Ints; addresses count from the start of the memory.
 */
export const RECORD = {
  ...{ start: 0, end: 1, reason: 2, counted: 3, labelStart: 4, labelEnd: 5, labelHash: 6, place: 4, cell: 5 },
  ...{ size: 8 }
} as const
export const REASON = { row: 0, label: 1, line: 2, failed: 3 } as const
export const RECORDS_AT = 256
/** Few, so that what was learnt from them is known for the next ones. */
export const RECORDS_END = RECORDS_AT + 64 * RECORD.size * 4

/** Rows that are still to be counted in pages: two ints each, the page's key and the place within the page. */
export const WAITING_AT = 0x4000
export const WAITING_ROWS = 1024
export const WAITING_END = WAITING_AT + WAITING_ROWS * 8

/** Addresses of all delimiters and line breaks that are not in quotes; and where among them the line breaks are. */
export const PLACES_AT = 0x10000
export const PLACES_END = PLACES_AT + 0x20000
export const LINES_AT = PLACES_END + 0x1000
export const LINES_END = LINES_AT + 0x10000
/** From here on memory is shared out as it is needed. */
export const HEAP_AT = LINES_END + 0x1000

export const INDEXED = { all: 0, full: 1, fault: 2 } as const

/** Open addressing by hash: hash, length, address of the bytes, label number + 1. Bytes are followed by zeros up to eight. */
export const LABEL_SLOT_BYTES = 16

/** Counts of times, sixteen neighbours a page; slots of two ints say where: cell and page in one number, + 1, and the page's address. */
export const PAGE_BITS = 4
export const PAGE_BYTES = 4 << PAGE_BITS
export const PAGE_SLOT_BYTES = 8
/** Times from here on are for others. Below it the counts of the report's figures are exact. */
export const TIME_BITS = 16
export const PAGES_A_CELL_BITS = TIME_BITS - PAGE_BITS
export const PAGE_HASH = 0x9e3779b1

/** The time line's buckets: samples, failures, most threads + 1, nothing. */
export const LINE_SLOTS = 640
export const LINE_SLOT_BYTES = 16
export const LINE_UNIT_MS = 1000
/** A chart needs no more than half a percent. */
export const CHART_BITS = 9
/** And in a place of their own, which is mostly never touched, counts of the times in each of the slots. */
export const LINE_TIMES_BYTES = 4 * ((TIME_BITS - CHART_BITS + 2) << (CHART_BITS - 1))

/** What JMeter writes as the response message of a transaction controller's own row; the number of its samples follows. */
export const TRANSACTION_MESSAGE = new TextEncoder().encode('Number of samples in transaction : ')
