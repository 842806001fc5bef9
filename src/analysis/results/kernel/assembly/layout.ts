// The interface between the kernel and the TypeScript around it. Both compilers read this file, so it only has plain numbers.

/**
 * A row that the kernel leaves to the caller, and why; or one that it counted, and that failed: then `PLACE` is where the places of
 * its columns begin. Ints; addresses count from the start of the memory.
 */
export const RECORD_START = 0
export const RECORD_END = 1
export const RECORD_REASON = 2
export const RECORD_TAKEN = 3
export const RECORD_LABEL_START = 4
export const RECORD_LABEL_END = 5
export const RECORD_LABEL_HASH = 6
export const RECORD_PLACE = 4
export const RECORD_CELL = 5
/** Where the notes of the rows before it end. */
export const RECORD_NOTES = 7
export const RECORD_INTS = 8

/** The kernel does not understand the row. */
export const REASON_ROW = 0
/** The label is new. */
export const REASON_LABEL = 1
/** The time is outside the window of the time line. */
export const REASON_LINE = 2
/** The row was counted, and had failed. */
export const REASON_FAILED = 3
/** The thread is new, and has to be known from the first transaction on. */
export const REASON_THREAD = 4
/** The response code is new; where it is takes the place of the label. */
export const REASON_CODE = 5

export const RECORDS_AT = 0x100
/** Few, so that what the caller learns from them is known for the next ones. */
export const RECORDS_END = RECORDS_AT + 64 * RECORD_INTS * 4

/** Rows still to be counted: two ints each, the cell and the time. */
export const WAITING_AT = 0x4000
export const WAITING_ROWS = 1024
export const WAITING_END = WAITING_AT + WAITING_ROWS * 8

/** Addresses of all unquoted delimiters and line breaks; and where the line breaks are among them. */
export const PLACES_AT = 0x10000
export const PLACES_END = PLACES_AT + 0x20000
export const LINES_AT = PLACES_END + 0x1000
export const LINES_END = LINES_AT + 0x10000
/** From here on memory is allocated as needed. */
export const HEAP_AT = LINES_END + 0x1000

/** Why the search for places stopped: it saw all bytes, has no more space, or found something that the kernel does not handle. */
export const INDEXED_ALL = 0
export const INDEXED_FULL = 1
export const INDEXED_FAULT = 2

/** Lists of times have so many bytes, of which the first are not times; a cell with more than that many lists is counted in pages. */
export const LIST_BYTES = 64
export const LIST_HEAD_BYTES = 6
export const MOST_LISTS = 32
/** In place of the address of its next time. */
export const IN_PAGES = 2
export const MOST_LISTED = (MOST_LISTS * (LIST_BYTES - LIST_HEAD_BYTES)) / 2

/** Counts of times, sixteen neighbours per page. */
export const PAGE_BITS = 4
/** Times from here on are left to the caller. Below it the counts of the report's figures are exact. */
export const TIME_BITS = 16

/** The time line's buckets, four ints each: samples, failures, maximum threads + 1, unused. */
export const LINE_SLOTS = 640
export const LINE_SLOT_BYTES = 16
export const LINE_UNIT_MS = 1000
/** A chart needs no more than half a percent. */
export const CHART_BITS = 9
/** In separate memory that is mostly never touched: counts of the times in each of the slots. */
export const LINE_TIMES_BYTES = 4 * ((TIME_BITS - CHART_BITS + 2) << (CHART_BITS - 1))

/**
 * What is noted of a row for those that sort transactions: its start as a float of 64 bits, and then ints. The samples of a request are
 * 0, and it has none of what follows them. Neither idle time nor latency (-1) may be known, nor the number of threads.
 */
export const NOTE_THREAD = 2
export const NOTE_ELAPSED = 3
export const NOTE_FAILURES = 4
export const NOTE_SAMPLES = 5
export const NOTE_FAILING = 6
export const NOTE_LABEL = 7
export const NOTE_IDLE = 8
export const NOTE_LATENCY = 9
export const NOTE_THREADS = 10
export const NOTE_INTS = 12
export const NOTE_BYTES = NOTE_INTS * 4

/** Space for the text that identifies a transaction's row. */
export const MESSAGE_BYTES = 64

/** The milliseconds in which samples ended, one bit each, in pages: of two to this power bits, that many 32-bit words. */
export const END_PAGE_BITS = 15
export const END_PAGE_WORDS = 1024
/** Stretches of so many milliseconds that begin at a multiple of it are looked at as a whole. */
export const QUIET_MS = 64
/** Twice that: a stretch without an end that is as long as this has one of those in it. */
export const LEAST_STALL_MS = 128
/**
 * What there are pages of: all rows, and the rows of labels that are followed. Current page and its address, the times of rows, and the
 * first and the last of consecutive stretches that are known not to be quiet.
 */
export const END_SCOPES = 128
export const END_SCOPE_BYTES = 48
export const END_SCOPE_FIRST_START = 8
export const END_SCOPE_LAST_START = 16
export const END_SCOPE_LAST_END = 24
export const END_SCOPE_BUSY_FROM = 32
export const END_SCOPE_BUSY_TO = 40
/** In the table of pages: the page's number, its scope, its address or 0, unused. */
export const END_PAGE_SLOT_BYTES = 16
/** Rows that may have waited in a stall: start (64 bits), elapsed, label, thread, scope. */
export const LONG_BYTES = 24
/** At most so many of each kind are kept. With more, only longer stalls are looked for: what is found is a lower bound anyway. */
export const MOST_LONG = 0x100000
/** Threads are told apart by a hash of their names: FNV-1a. */
export const HASH_START = 0x811c9dc5
export const HASH_FACTOR = 0x01000193

/** In a cell's number: it is of rows that are part of another one. There are fewer labels than that. */
export const PARTS_BIT = 18
export const CELLS = 2 << PARTS_BIT

/** What the kernel knows a label by: its number + 1, and from this bit on the scope of its ends, or 0. */
export const LABEL_SCOPE_BIT = 20

/** The name of rows that are left out: so many bytes, as many of a mask, and the address of another such name. */
export const SKIPPED_BYTES = 32
export const SKIPPED_NEXT = 2 * SKIPPED_BYTES
/** The byte that tells most names apart. */
export const SKIPPED_LETTER = 9

/** What a second reading counts in one bucket: sums, 64-bit floats, and how often there was each code, ints. */
export const DETAIL_SUMS = 8
export const DETAIL_CODES = 16
export const DETAIL_CODES_AT = DETAIL_SUMS * 8
export const DETAIL_SLOT_BYTES = DETAIL_CODES_AT + DETAIL_CODES * 4
/** In this order: all rows, those that failed, those with the parts of their time; and what these add up to, in ms or in bytes. */
export const SUM_SAMPLES = 0
export const SUM_FAILURES = 1
export const SUM_TIMED = 2
export const SUM_CONNECT = 3
export const SUM_TTFB = 4
export const SUM_DOWNLOAD = 5
export const SUM_RECEIVED = 6
export const SUM_SENT = 7
