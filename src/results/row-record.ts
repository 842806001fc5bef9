// What the kernel that decodes rows and the reader that counts them agree on.

/** Ints of a record, one record a row. Addresses count from the start of the memory. */
export const RECORD = {
  ...{ start: 0, end: 1, flags: 2, elapsed: 3, timeHigh: 4, timeLow: 5 },
  ...{ threads: 6, labelStart: 7, labelEnd: 8, labelHash: 9, size: 10 }
} as const
/** `timeStamp` is `timeHigh * TIME_UNIT + timeLow`. */
export const TIME_UNIT = 1e8
export const FLAG = { failure: 1, transaction: 2, empty: 4, odd: 8, labelEscaped: 16 } as const

/** What JMeter writes as the response message of a transaction controller's own row; the number of its samples follows. */
export const TRANSACTION_MESSAGE = new TextEncoder().encode('Number of samples in transaction : ')
